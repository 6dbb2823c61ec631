/* Replaces the system's raw clock: time passes only when somebody reads it, one microsecond for
 * each reading. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static long readings;
    if (clock != CLOCK_MONOTONIC_RAW) {
        return (int)syscall(SYS_clock_gettime, clock, now);
    }
    readings++;
    now->tv_sec = readings / 1000000;
    now->tv_nsec = readings % 1000000 * 1000;
    return 0;
}
