/* Replaces the system's raw clock by one that goes back a second at every thousandth reading. */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
    static long readings;
    const int code = (int)syscall(SYS_clock_gettime, clock_id, tp);
    if (clock_id == CLOCK_MONOTONIC_RAW && ++readings % 1000 == 0) {
        tp->tv_sec -= 1;
    }
    return code;
}
