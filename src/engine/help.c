/* The text of --help. */
#include "help.h"

#include <string.h>

#include "options.h"

/* Columns of an option: its name, its value, and from TEXT_COLUMN on what it does. */
enum { NAME_WIDTH = 15, VALUE_WIDTH = 9, TEXT_COLUMN = 2 + NAME_WIDTH + 1 + VALUE_WIDTH + 1 };

static void print_usage(FILE *out, const struct kernel *kernel);
static void print_modes(FILE *out, const struct kernel *kernel);
static void print_measuring(FILE *out, const struct kernel *kernel);
static const char *modes_default(const struct kernel *kernel);
static void print_sizes(FILE *out, const struct kernel *kernel);
static void print_output(FILE *out);
static void help_line(FILE *out, const char *name, const char *value_name, const char *help);

void help_print(FILE *out, const struct kernel *kernel)
{
    fprintf(out, "%s: %s\n\n", kernel->name, kernel->summary);
    print_usage(out, kernel);
    print_modes(out, kernel);
    print_measuring(out, kernel);
    print_output(out);
    fprintf(out,
            "\nTimes are in us, bandwidths in MB/s (10^6 bytes/s). Exit code: 0 measured and "
            "verified,\n1 payload errors, 2 bad usage or an unwritable record, 3 an MPI error.\n");
}

static void print_usage(FILE *out, const struct kernel *kernel)
{
    if (kernel->ranks_max == kernel->ranks_min) {
        fprintf(out, "usage: mpirun -n %d %s [options]\n\n", kernel->ranks_min, kernel->name);
        return;
    }
    fprintf(out, "usage: mpirun -n RANKS %s [options]\n\nRANKS: %d or more", kernel->name,
            kernel->ranks_min);
    if (kernel->ranks_even) {
        fprintf(out, ", even");
    }
    if (kernel->ranks_max > 0) {
        fprintf(out, ", at most %d", kernel->ranks_max);
    }
    fprintf(out, "\n\n");
}

static void print_modes(FILE *out, const struct kernel *kernel)
{
    fprintf(out, "modes (the table and the record show time_us):\n");
    for (const struct mode *mode = kernel->modes; mode->name != NULL; mode++) {
        fprintf(out, "  %-17s %s\n  %-17s source: %s\n", mode->name, mode->summary, "",
                mode->source);
    }
}

static void print_measuring(FILE *out, const struct kernel *kernel)
{
    struct options defaults;
    options_defaults(kernel, &defaults);
    fprintf(out, "\nwhat to measure:\n");
    help_line(out, "--mode", "M[,M..]", "modes");
    fprintf(out, " (%s)\n", modes_default(kernel));
    print_sizes(out, kernel);
    for (const struct kernel_option *o = NUMBER_OPTIONS; o->name != NULL; o++) {
        help_line(out, o->name, o->value_name, o->help);
        fprintf(out, " (%ld)\n", *number_field(&defaults, o));
    }
    help_line(out, "--brackets", "B[,B..]",
              "[MODE:]LAST-FIRST, in bytes: search for switches between these sizes, which lie\n"
              "within --sizes, in place of a sweep (none)\n");
    help_line(out, "--seed", "N", "seed of the sweep's random order (random, recorded)\n");
    if (kernel->timing != TIME_AT_ROOT) {
        help_line(out, "--start", "HOW",
                  "how the ranks start together: agreed (at an agreed time; calls that a rank\n"
                  "starts late are repeated) or barrier (agreed if each rank has a core)\n");
        help_line(out, "--time-of", "RANK",
                  "whose time counts: slowest, mean (of all ranks, as OSU does) or root (slowest;\n"
                  "root in modes that end there)\n");
    }
    for (const struct kernel_option *o = kernel->options; o != NULL && o->name != NULL; o++) {
        help_line(out, o->name, o->value_name, o->help);
        fprintf(out, "\n");
    }
    options_free(&defaults);
}

static const char *modes_default(const struct kernel *kernel)
{
    static const char PREFIX[] = "--mode=";
    for (const char *const *word = kernel->defaults; word != NULL && *word != NULL; word++) {
        if (strncmp(*word, PREFIX, strlen(PREFIX)) == 0) {
            return *word + strlen(PREFIX);
        }
    }
    for (const struct mode *mode = kernel->modes; mode->name != NULL; mode++) {
        if (mode->replacement) {
            return "all but replacements";
        }
    }
    return "all";
}

static void print_sizes(FILE *out, const struct kernel *kernel)
{
    help_line(out, "--sizes", "SPEC",
              "message sizes in bytes: a list of\n"
              "  N       one size\n"
              "  A:B     A, 2A, 4A, ... up to B\n"
              "  A:B/n   n sizes per octave\n"
              "  A:B:+S  A, A+S, A+2S, ... up to B\n"
              "with K, M, G for 1024, 1024^2, 1024^3");
    fprintf(out, " (%s)\n", sizes_default(kernel));
}

static void print_output(FILE *out)
{
    fprintf(out, "\nwhat to write:\n");
    help_line(out, "--record", "PATH", "write the run record to this file (none)\n");
    help_line(out, "--algorithms", "NAMES",
              "of the library's collective, as modes such as library:ring: all, default, or names\n"
              "of its MPI_T control variable, separated by commas (default)\n");
    help_line(out, "--mpi-counters", "NAMES",
              "counters of the MPI library (MPI_T performance variables) to write for each rank,\n"
              "by name, separated by commas (none)\n");
    help_line(out, "--ucx-protocols", "",
              "write which protocol UCX chose for which sizes, if the MPI library uses UCX\n");
    help_line(out, "--label", "KEY=VALUE", "add a label to the record; repeatable\n");
    help_line(out, "--quiet", "", "print the last line only\n");
    help_line(out, "--help", "", "print this text\n");
    help_line(out, "--version", "", "print version, commit, compiler and MPI\n");
}

static void help_line(FILE *out, const char *name, const char *value_name, const char *help)
{
    fprintf(out, "  %-*s %-*s ", NAME_WIDTH, name, VALUE_WIDTH, value_name);
    for (const char *c = help; *c != '\0'; c++) {
        fputc(*c, out);
        if (*c == '\n' && c[1] != '\0') {
            fprintf(out, "%*s", TEXT_COLUMN, "");
        }
    }
}
