/* Replaces the system's raw clock: time passes only when somebody reads it, one microsecond for
 * each reading. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
    static long readings;
    if (clock_id != CLOCK_MONOTONIC_RAW) {
        return (int)syscall(SYS_clock_gettime, clock_id, tp);
    }
    readings++;
    tp->tv_sec = readings / 1000000;
    tp->tv_nsec = readings % 1000000 * 1000;
    return 0;
}
