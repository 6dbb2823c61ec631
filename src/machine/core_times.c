/* How long this process ran, and how long the cores that it may use worked for anyone. */
#include "core_times.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CPUS_MAX = 8192 };

static bool ticks_of_cores(long long *busy, long long *softirq);

void core_times_write(struct json *json)
{
    enum { MICROSECONDS = 1000000 };
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    const long long seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec;
    json_integer(json, "cpu_time_us",
                 seconds * MICROSECONDS + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    long long busy = 0;
    long long softirq = 0;
    if (ticks_of_cores(&busy, &softirq)) {
        const long long tick_us = MICROSECONDS / sysconf(_SC_CLK_TCK);
        json_integer(json, "cores_busy_us", busy * tick_us);
        json_integer(json, "cores_softirq_us", softirq * tick_us);
    }
}

/* Sums over the CPUs that this process may use. proc(5): cpuN user nice system idle iowait irq
 * softirq steal, in clock ticks; guest times are part of user. */
static bool ticks_of_cores(long long *busy, long long *softirq)
{
    enum { IDLE = 3, IOWAIT = 4, SOFTIRQ = 6, FIELDS = 8, DECIMAL = 10 };
    cpu_set_t *allowed = CPU_ALLOC(CPUS_MAX);
    FILE *stat = fopen("/proc/stat", "re");
    bool found = false;
    if (allowed != NULL && stat != NULL &&
        sched_getaffinity(0, CPU_ALLOC_SIZE(CPUS_MAX), allowed) == 0) {
        char line[512];
        while (fgets(line, sizeof line, stat) != NULL && strncmp(line, "cpu", 3) == 0) {
            char *field = line + 3;
            if (*field == ' ') {
                continue; /* the line of all cores */
            }
            const unsigned long cpu = strtoul(field, &field, DECIMAL);
            if (cpu >= CPUS_MAX || !CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(CPUS_MAX), allowed)) {
                continue;
            }
            found = true;
            for (int i = 0; i < FIELDS; i++) {
                const long long ticks = strtoll(field, &field, DECIMAL);
                *busy += i == IDLE || i == IOWAIT ? 0 : ticks;
                *softirq += i == SOFTIRQ ? ticks : 0;
            }
        }
    }
    if (stat != NULL) {
        fclose(stat);
    }
    CPU_FREE(allowed);
    return found;
}
