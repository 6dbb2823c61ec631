/* The points of a run: every mode at every size, in a new seeded random order on each pass. */
#ifndef SWITCHPOINT_PLAN_H
#define SWITCHPOINT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "columns.h"
#include "kernel.h"
#include "options.h"
#include "samples.h"
#include "switches.h"
#include "timeline.h"

/* What a rank counts at one point; whole numbers of 64 bits and nothing else, so that MPI can add
 * them up. */
struct counts {
    int64_t payloads;                  /* payloads, or parts of a result, compared */
    int64_t payload_errors;            /* those that were wrong */
    int64_t arrived;                   /* payloads in all repetitions, if the mode has no result */
    struct traffic sent;               /* in all repetitions, if the mode has a result */
    struct traffic sent_between_nodes; /* the part of it that left the node */
};

/* Of more visits the record does not have the context switches. */
enum { VISITS_KEPT_MAX = 1000 };

/* One mode at one size, and what is known about it. */
struct point {
    const struct mode *mode;
    int64_t size_bytes;
    long iterations; /* repetitions that fill a block; same on all ranks; 1 until calibrated */
    long blocks;     /* timed blocks that fit a pass; same on all ranks; 0 until calibrated */
    struct samples samples;                  /* rank 0 only */
    struct samples ranks[RANK_COLUMN_COUNT]; /* the columns RANK_COLUMNS; rank 0 only */
    struct samples passes;                   /* the median of each pass so far; rank 0 only */
    struct counts counts;      /* this rank's; after the sweep, on rank 0, those of all ranks */
    double visit_us;           /* the last visit with all that is untimed, by this rank's clock */
    double block_us;           /* each block of the last trial or visit, by this rank's clock */
    double blocks_us;          /* all timed blocks so far, by this rank's clock */
    int64_t calls;             /* that were started in timed blocks and their trials */
    int64_t late_calls;        /* repeated, since a rank started late; same on all ranks */
    struct switches *switches; /* in the timed blocks of each visit, over all ranks; rank 0 only */
    long switches_count;       /* visits of which they are kept, at most VISITS_KEPT_MAX */
    int64_t repetitions;       /* all of them, untimed ones too; same on all ranks */
    struct activity activity;  /* of the first pass; rank 0 of kernels with a timeline */
    int visits;                /* of an exploration */
    bool settled;              /* needs no further calibrating */
    bool slow;                 /* a repetition takes longer than memory takes to fill any cache */
};

struct plan {
    struct point *points; /* by mode, then by size */
    size_t count;
    size_t *order; /* indices into `points` in the order of the current pass */
};

void plan_start(struct plan *plan, const struct options *options);

/* The point of a mode and a size; added to the plan if it is not there. Valid until the next one is
 * added. */
struct point *plan_point(struct plan *plan, const struct mode *mode, int64_t size_bytes,
                         const struct options *options);

/* Sets `order` for a pass. It depends only on the seed, the pass and the number of points. */
void plan_shuffle(struct plan *plan, uint64_t seed, int pass);

/* Whether the point's blocks have taken the time that the options allow for all passes together. */
bool point_is_spent(const struct point *point, const struct options *options);

/* Whether the 95 % confidence interval of the point's median lies within +-`percent` % of it. */
bool point_known_within(const struct point *point, long percent);

/* On rank 0: adds the context switches of a visit. */
void point_add_switches(struct point *point, struct switches switches);

void plan_free(struct plan *plan);

#endif
