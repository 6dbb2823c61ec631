/* What a run record says, as docs/reference/run-record.md has it: header, rows, footer. */
#ifndef SWITCHPOINT_CONTENTS_H
#define SWITCHPOINT_CONTENTS_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#include "engine.h"
#include "json.h"
#include "measure.h"
#include "options.h"
#include "plan.h"

/* Collective. Writes the header on rank 0. */
void header_write(struct json *json, MPI_Comm comm, int argc, char **argv,
                  const struct kernel *kernel, const struct options *options);

/* The samples' header row. */
void column_names_write(FILE *out, const struct kernel *kernel);

/* Adds a visit's samples to its point; writes a row for each of them that is kept, unless `out` is
 * NULL: the time, then the kernel's phases, in us per message. */
void visit_write(FILE *out, struct point *point, int pass, const struct visit *visit);

/* What the whole job did, summed over ranks; valid on rank 0. */
struct totals {
    int64_t samples_kept;
    int64_t payloads;
    int64_t payload_errors;
    int64_t bytes_moved;
    bool shortened;        /* the time budget ended the sweep */
    double clock_error_us; /* of blocks that started at an agreed time */
};

/* Collective. Writes the footer on rank 0. */
void footer_write(struct json *json, MPI_Comm comm, const struct kernel *kernel,
                  const struct options *options, const struct plan *plan,
                  const struct totals *totals);

#endif
