/* The smallest unit test: CHECK reports what does not hold, check_result ends the program. */
#ifndef SWITCHPOINT_TESTS_CHECK_H
#define SWITCHPOINT_TESTS_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#define CHECK(claim) check((claim), #claim, __FILE__, __LINE__)

static int check_failures;

static inline void check(bool holds, const char *claim, const char *file, int line)
{
    if (!holds) {
        check_failures++;
        fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, claim);
    }
}

/* The exit code of main. */
static inline int check_result(void)
{
    return check_failures > 0;
}

#endif
