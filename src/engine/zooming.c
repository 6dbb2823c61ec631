/* Conducts searches: their time, what disturbed them, and the algorithms on both sides of a switch.
 */
#include "zooming.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bisection.h"
#include "clock.h"
#include "cores.h"
#include "jump.h"
#include "memory.h"

/* A bisection is not believed when more than one visit in this many was interrupted. */
enum { VISITS_PER_PREEMPTION = 10 };

/* Turns in which the algorithms are timed. */
enum { COMPARED_TURNS = 25 };

/* Modes take sizes at multiples of this many bytes, or of fewer. */
enum { UNIT_MOST = 64 };

static bool is_probe(const struct explorer *explorer, const struct mode *mode)
{
    return mode == explorer->findings->probe;
}

/* Whether the user asked for a mode in which the bracket is searched. */
static bool is_timed(const struct explorer *explorer, const struct bracket *bracket)
{
    for (size_t m = 0; m < explorer->mode_count; m++) {
        const struct mode *mode = explorer->modes[m];
        if (bracket->mode != NULL ? mode == bracket->mode : !is_probe(explorer, mode)) {
            return true;
        }
    }
    return false;
}

static bool takes(const struct explorer *explorer, const struct mode *mode, long size_bytes,
                  struct refusal *refusal)
{
    struct task task = *explorer->task;
    task.variant = mode->variant;
    task.size_bytes = size_bytes;
    return mode->suits == NULL || mode->suits(&task, refusal);
}

static bool sizes_suit(const struct explorer *explorer, const struct bracket *bracket,
                       struct refusal *refusal)
{
    for (size_t m = 0; m < explorer->mode_count; m++) {
        const struct mode *mode = explorer->modes[m];
        if ((bracket->mode == NULL || bracket->mode == mode) &&
            !(takes(explorer, mode, bracket->last_bytes, refusal) &&
              takes(explorer, mode, bracket->first_bytes, refusal))) {
            return false;
        }
    }
    return true;
}

static bool suits(const struct explorer *explorer, const struct bracket *bracket,
                  struct refusal *refusal)
{
    const long last = bracket->last_bytes;
    const long first = bracket->first_bytes;
    const long least = explorer->smallest_bytes;
    const long most = explorer->largest_bytes;
    if (!is_timed(explorer, bracket)) {
        const char *name = bracket->name != NULL ? bracket->name : "send";
        const size_t length = bracket->name != NULL ? bracket->name_length : strlen(name);
        return refuse(refusal, "--brackets: nothing searches %ld-%ld; add mode %.*s to --mode",
                      last, first, (int)length, name);
    }
    if (last < least || first > most) {
        return refuse(refusal,
                      "--brackets: %ld-%ld is not between the smallest and the largest of --sizes,"
                      " %ld and %ld; use --sizes %ld,%ld",
                      last, first, least, most, last < least ? last : least,
                      first > most ? first : most);
    }
    return sizes_suit(explorer, bracket, refusal);
}

bool zoom_suits(const struct explorer *explorer, struct refusal *refusal)
{
    for (size_t i = 0; i < explorer->brackets->count; i++) {
        if (!suits(explorer, &explorer->brackets->items[i], refusal)) {
            return false;
        }
    }
    return true;
}

/* How far neighbouring sizes of a mode are apart, in bytes. */
static int unit_of(const struct explorer *explorer, const struct mode *mode, int low_bytes)
{
    struct refusal ignored;
    int unit = 1;
    while (unit < UNIT_MOST && !takes(explorer, mode, low_bytes + unit, &ignored)) {
        unit++;
    }
    return unit;
}

/* Collective. Involuntary context switches of all ranks so far; simulated ranks have none. */
static long preemptions(MPI_Comm comm)
{
#ifdef SWITCHPOINT_SIMULATED
    (void)comm;
    return 0;
#else
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    long all = 0;
    MPI_CHECK(MPI_Allreduce(&usage.ru_nivcsw, &all, 1, MPI_LONG, MPI_SUM, comm));
    return all;
#endif
}

/* Turns that agree are right on a busy machine too. Turns that were disturbed may have missed what
 * a search did not find. */
static bool is_firm(const struct search *search)
{
    return search->outcome == EXACT ||
           (search->outcome == NONE && search->high_bytes - search->low_bytes <= NARROW_BYTES);
}

static void say_out_of_time(struct search *search, const struct explorer *explorer)
{
    char when[64] = "before this search";
    if (search->visits > 0) {
        snprintf(when, sizeof when, "after %ld visits", search->visits);
    }
    search->outcome = UNSURE;
    search->out_of_time = true;
    search->jump = NAN;
    snprintf(search->reason, sizeof search->reason,
             "ran out of time: --time-budget %ld s was over %s", explorer_budget_s(explorer), when);
}

/* Timings of ranks that wait for a core say nothing about the library; but where a collective
 * switches, its algorithms are compared, which wait as much. */
static bool needs_cores(const struct search *search)
{
    return search->mode->operation == NULL || search->outcome != EXACT;
}

static void doubt(struct search *search, bool enough_cores)
{
    if (!enough_cores && needs_cores(search)) {
        search->outcome = UNSURE;
        snprintf(search->reason, sizeof search->reason,
                 "the ranks of one machine have fewer cores than ranks; give each rank its own");
    } else if (!is_firm(search) && search->preemptions * VISITS_PER_PREEMPTION > search->visits) {
        const size_t kept = search->out_of_time ? strlen(search->reason) : 0;
        search->outcome = UNSURE;
        snprintf(search->reason + kept, sizeof search->reason - kept,
                 "%sranks were switched off their cores %ld times in %ld visits; measure again on"
                 " quieter cores",
                 kept > 0 ? ", or: " : "", search->preemptions, search->visits);
    }
}

struct search *zoom_conduct(struct explorer *explorer, const struct mode *mode, int low_bytes,
                            int high_bytes,
                            void (*how)(struct explorer *explorer, struct search *search))
{
    struct search *search = findings_add(explorer->findings, mode, low_bytes, high_bytes);
    MPI_Comm comm = explorer->task->comm;
    search->unit_bytes = unit_of(explorer, mode, low_bytes);
    if (explorer_is_out_of_time(explorer)) {
        say_out_of_time(search, explorer);
        return search;
    }
    const long before = preemptions(comm);
    const double start = clock_us();
    how(explorer, search);
    search->time_us = clock_us() - start;
    search->preemptions = preemptions(comm) - before;
    if (search->outcome == OPEN) {
        say_out_of_time(search, explorer);
    }
    if (!is_probe(explorer, mode)) {
        doubt(search, cores_suffice(comm));
    }
    return search;
}

static void bisect_in_time(struct explorer *explorer, struct search *search)
{
    bisect(explorer, search, explorer->search_time_ms);
}

static bool is_algorithm_of(const struct mode *candidate, const struct mode *mode)
{
    return candidate->algorithm != NULL && candidate->run == mode->run;
}

/* Collective. Times the mode and its algorithms on both sides of the switch. The turns go through
 * them forwards and backwards, and begin with another one each time, so that drift and neighbours
 * affect all the same. */
static void compare_algorithms(struct explorer *explorer, struct search *search)
{
    const struct mode **modes = allocate(explorer->mode_count + 1, sizeof(const struct mode *));
    long count = 0;
    modes[count++] = search->mode;
    for (size_t m = 0; m < explorer->mode_count; m++) {
        if (is_algorithm_of(explorer->modes[m], search->mode)) {
            modes[count++] = explorer->modes[m];
        }
    }
    const long points = 2 * count;
    for (long turn = 0; count > 1 && turn < COMPARED_TURNS; turn++) {
        if (explorer_is_out_of_time(explorer)) {
            break;
        }
        for (long i = 0; i < points; i++) {
            const long next = ((turn % 2 == 0 ? i : points - 1 - i) + turn / 2) % points;
            struct search visit = *search;
            visit.mode = modes[next / 2];
            search_time_us(explorer, &visit,
                           next % 2 == 0 ? search->last_bytes : search->first_bytes);
        }
        search->compared_turns++;
    }
    free(modes);
}

struct search *zoom_between(struct explorer *explorer, const struct mode *mode, int low_bytes,
                            int high_bytes)
{
    struct search *search = zoom_conduct(explorer, mode, low_bytes, high_bytes, bisect_in_time);
    if (search->outcome == EXACT && mode->algorithm == NULL) {
        compare_algorithms(explorer, search);
    }
    return search;
}

void zoom_brackets(struct explorer *explorer, const struct mode *mode)
{
    for (size_t i = 0; i < explorer->brackets->count; i++) {
        const struct bracket *bracket = &explorer->brackets->items[i];
        if (bracket->mode == NULL || bracket->mode == mode) {
            zoom_between(explorer, mode, (int)bracket->last_bytes, (int)bracket->first_bytes);
        }
    }
}

void zoom_all(struct explorer *explorer)
{
    for (size_t m = 0; m < explorer->mode_count; m++) {
        zoom_brackets(explorer, explorer->modes[m]);
    }
}
