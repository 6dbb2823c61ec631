/* Replaces calls of the C library: the raw clock of each rank runs fast by DRIFT_PPM millionths
 * times the rank (slow if negative) and is as many hours ahead, and each rank reads the boot ID of
 * a machine of its own, so that ranks compare their clocks by messages. Linked into a test, or
 * preloaded. */
#include "drifting_clock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const double HOUR_US = 3600e6;

static double first_us; /* when the clock was read first; it drifts from then on */

/* Launchers tell it before MPI_Init does. */
static int rank(void)
{
    static const char *const VARIABLES[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
        const char *value = getenv(VARIABLES[i]);
        if (value != NULL) {
            return (int)strtol(value, NULL, 10);
        }
    }
    return 0;
}

static double drift(void)
{
    const char *ppm = getenv("DRIFT_PPM");
    return ppm != NULL ? strtod(ppm, NULL) / 1e6 * rank() : 0;
}

double true_us(double shown_us)
{
    return first_us + (shown_us - rank() * HOUR_US - first_us) / (1 + drift());
}

int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
    static double ahead;
    static int hours;
    const int code = (int)syscall(SYS_clock_gettime, clock_id, tp);
    if (clock_id != CLOCK_MONOTONIC_RAW) {
        return code;
    }
    const double now_us = (double)tp->tv_sec * 1e6 + (double)tp->tv_nsec / 1e3;
    if (first_us == 0) {
        first_us = now_us;
        ahead = drift();
        hours = rank();
    }
    const long ns = 1000000000 + tp->tv_nsec + (long)(ahead * (now_us - first_us) * 1e3);
    tp->tv_sec += 3600L * hours + ns / 1000000000 - 1;
    tp->tv_nsec = ns % 1000000000;
    return code;
}

// libc names the parameters with underscores.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
FILE *fopen(const char *restrict path, const char *restrict mode)
{
    static FILE *(*system_fopen)(const char *, const char *);
    if (strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) {
        char own[32];
        const int length = snprintf(own, sizeof own, "of rank %d\n", rank());
        FILE *file = fmemopen(NULL, (size_t)length + 1, "w+");
        if (file != NULL) {
            fputs(own, file);
            rewind(file);
        }
        return file;
    }
    if (system_fopen == NULL) {
        *(void **)&system_fopen = dlsym(RTLD_NEXT, "fopen");
    }
    return system_fopen(path, mode);
}
