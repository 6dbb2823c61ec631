/* Vectors of numbers, one on each rank, that are reduced element by element. The kernel checks the
 * result with an own computation: each rank knows the input of all. */
#ifndef SWITCHPOINT_REDUCTION_H
#define SWITCHPOINT_REDUCTION_H

#include "kernel.h"

/* What the options choose; a kernel's `settings` begin with it. */
struct reduction {
    int type;
    int operation;
};

/* Entries for a kernel's `options`. */
#define REDUCTION_OPTIONS                                                                          \
    {.name = "--type",                                                                             \
     .value_name = "TYPE",                                                                         \
     .help = "of the elements: double, float or int (double);\nsizes of A:B/n are rounded to "     \
             "whole elements",                                                                     \
     .accept = reduction_accept_type},                                                             \
    {                                                                                              \
        .name = "--op", .value_name = "OP", .help = "sum or max (sum)",                            \
        .accept = reduction_accept_operation                                                       \
    }

bool reduction_accept_type(void *settings, const char *value, struct refusal *refusal);
bool reduction_accept_operation(void *settings, const char *value, struct refusal *refusal);

MPI_Datatype reduction_type(const struct task *task);
MPI_Op reduction_operation(const struct task *task);
/* Elements in one size. */
int reduction_count(const struct task *task);

/* `size_unit`: the bytes of an element. */
int64_t reduction_size_unit(const void *settings);

/* `suits`: a size is a whole number of elements. */
bool reduction_suits(const struct task *task, struct refusal *refusal);

/* Fills the whole send buffer, `count` elements. Sums are exact in every type and order. */
void reduction_fill(const struct task *task, uint64_t key, size_t count);

/* `fill` of a result, where each rank's input is one vector of the size. */
void reduction_fill_vector(const struct task *task, uint64_t key);

/* Compares the receive buffer's `count` elements with what those of all ranks, from the element
 * `first` on, must give. */
struct verdict reduction_check(const struct task *task, uint64_t key, size_t first, size_t count);

/* Every rank has the whole reduction of all ranks' vectors. */
extern const struct result REDUCED_EVERYWHERE;

#endif
