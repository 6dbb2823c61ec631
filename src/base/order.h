/* Ascending order and the median. */
#ifndef SWITCHPOINT_ORDER_H
#define SWITCHPOINT_ORDER_H

#include <stddef.h>

void sort_doubles(double *values, size_t count);
void sort_ints(int *values, size_t count);

/* Sorts the values and returns the middle one; of an even number, the upper of the two. */
double median_of(double *values, size_t count);

#endif
