/* Context switches of this process. */
#ifndef SWITCHPOINT_SWITCHES_H
#define SWITCHPOINT_SWITCHES_H

#include <stdint.h>

/* Whole numbers of 64 bits and nothing else, so that MPI can add them up. */
struct switches {
    int64_t voluntary;   /* it waited for something */
    int64_t involuntary; /* others wanted its core */
};

/* Since the process began. */
struct switches switches_now(void);

#endif
