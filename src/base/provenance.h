/* What this binary was built from, and how; the build system supplies the values. */
#ifndef SWITCHPOINT_PROVENANCE_H
#define SWITCHPOINT_PROVENANCE_H

struct provenance {
    const char *version;
    const char *git_commit; /* ends in '+' when the sources have changed since; NULL outside git */
    const char *builder;    /* "cmake" or "spack" */
    const char *spec_hash;  /* Spack's; NULL otherwise */
    const char *compiler;
    const char *flags;
};

extern const struct provenance PROVENANCE;

#endif
