/* Ascending order and the median. */
#include "order.h"

#include <stdlib.h>

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static int compare_ints(const void *left, const void *right)
{
    const int a = *(const int *)left;
    const int b = *(const int *)right;
    return (a > b) - (a < b);
}

void sort_doubles(double *values, size_t count)
{
    if (count > 0) { /* qsort must not get NULL */
        qsort(values, count, sizeof *values, compare_doubles);
    }
}

void sort_ints(int *values, size_t count)
{
    if (count > 0) {
        qsort(values, count, sizeof *values, compare_ints);
    }
}

double median_of(double *values, size_t count)
{
    sort_doubles(values, count);
    return values[count / 2];
}
