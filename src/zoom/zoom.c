/* Zoom: finds switches to the byte. The late-receiver probe finds the end of the eager protocol by
 * itself; timing bisection finds a switch within each bracket that it is given. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bisection.h"
#include "brackets.h"
#include "clock.h"
#include "cores.h"
#include "findings.h"
#include "jump.h"
#include "late_receiver.h"
#include "memory.h"
#include "pair_modes.h"

/* Bytes on either side of the probe's switch between which its step in time is searched for. */
enum { BESIDE_BYTES = 8 };

/* A bisection is not believed when more than one visit in this many was interrupted. */
enum { VISITS_PER_PREEMPTION = 10 };

/* What the options set. */
struct settings {
    struct brackets brackets;
    long search_time_ms;
};

struct state {
    struct findings findings; /* first, so that findings.h can write and print the state */
    struct late_receiver late;
};

static bool is_probe(const struct explorer *explorer, const struct mode *mode)
{
    const struct state *state = explorer->task->state;
    return mode == state->findings.probe;
}

/* Collective. Involuntary context switches of all ranks so far. */
static long preemptions(MPI_Comm comm)
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    long all = 0;
    MPI_CHECK(MPI_Allreduce(&usage.ru_nivcsw, &all, 1, MPI_LONG, MPI_SUM, comm));
    return all;
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

/* Timings of ranks that wait for a core say nothing about the library. */
static void doubt(struct search *search, bool enough_cores)
{
    if (!enough_cores) {
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

static struct search conduct(struct explorer *explorer, const struct mode *mode, int low_bytes,
                             int high_bytes)
{
    struct state *state = explorer->task->state;
    struct search *search = findings_add(&state->findings, mode, low_bytes, high_bytes);
    MPI_Comm comm = explorer->task->comm;
    if (explorer_is_out_of_time(explorer)) {
        say_out_of_time(search, explorer);
        return *search;
    }
    const bool probing = is_probe(explorer, mode);
    const long before = preemptions(comm);
    const double start = clock_us();
    if (probing) {
        late_receiver_search(explorer, &state->late, search);
    } else {
        const struct settings *settings = explorer->task->settings;
        bisect(explorer, search, settings->search_time_ms);
    }
    search->time_us = clock_us() - start;
    search->preemptions = preemptions(comm) - before;
    if (search->outcome == OPEN) {
        say_out_of_time(search, explorer);
    }
    if (!probing) {
        doubt(search, cores_suffice(comm));
    }
    return *search;
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

static bool suits(const struct explorer *explorer, const struct bracket *bracket,
                  struct refusal *refusal)
{
    const long last = bracket->last_bytes;
    const long first = bracket->first_bytes;
    const long least = explorer->smallest_bytes;
    const long most = explorer->largest_bytes;
    if (!is_timed(explorer, bracket)) {
        const char *mode = bracket->mode != NULL ? bracket->mode->name : "send";
        return refuse(refusal, "--brackets: nothing searches %ld-%ld; add mode %s to --mode", last,
                      first, mode);
    }
    if (last < least || first > most) {
        return refuse(refusal,
                      "--brackets: %ld-%ld is not between the smallest and the largest of --sizes,"
                      " %ld and %ld; use --sizes %ld,%ld",
                      last, first, least, most, last < least ? last : least,
                      first > most ? first : most);
    }
    return true;
}

/* A bracket that no search would follow as it was given is a mistake. */
static bool brackets_suit(const struct explorer *explorer, struct refusal *refusal)
{
    const struct settings *settings = explorer->task->settings;
    const struct brackets *brackets = &settings->brackets;
    for (size_t i = 0; i < brackets->count; i++) {
        if (!suits(explorer, &brackets->items[i], refusal)) {
            return false;
        }
    }
    return true;
}

static int within(long bytes, const struct explorer *explorer)
{
    const long least = explorer->smallest_bytes;
    const long most = explorer->largest_bytes;
    return (int)(bytes < least ? least : bytes > most ? most : bytes);
}

static void conduct_brackets(struct explorer *explorer, const struct mode *mode)
{
    const struct settings *settings = explorer->task->settings;
    const struct brackets *brackets = &settings->brackets;
    for (size_t i = 0; i < brackets->count; i++) {
        const struct bracket *bracket = &brackets->items[i];
        if (bracket->mode == NULL || bracket->mode == mode) {
            conduct(explorer, mode, (int)bracket->last_bytes, (int)bracket->first_bytes);
        }
    }
}

/* The probe comes first, so that every mode can be timed at the switch that it found. */
static void zoom(struct explorer *explorer)
{
    struct search probed = {.outcome = NONE};
    for (size_t m = 0; m < explorer->mode_count; m++) {
        if (is_probe(explorer, explorer->modes[m])) {
            probed = conduct(explorer, explorer->modes[m], (int)explorer->smallest_bytes,
                             (int)explorer->largest_bytes);
        }
    }
    for (size_t m = 0; m < explorer->mode_count; m++) {
        const struct mode *mode = explorer->modes[m];
        if (is_probe(explorer, mode)) {
            continue;
        }
        conduct_brackets(explorer, mode);
        if (probed.outcome == EXACT) {
            conduct(explorer, mode, within(probed.last_bytes - BESIDE_BYTES, explorer),
                    within(probed.first_bytes + BESIDE_BYTES, explorer));
        }
    }
}

static bool accept_brackets(void *settings, const char *value, struct refusal *refusal)
{
    struct settings *mine = settings;
    return brackets_parse(&mine->brackets, value, refusal);
}

static const struct kernel_option OPTIONS[] = {
    {.name = "--brackets",
     .value_name = "B[,B..]",
     .help = "[MODE:]LAST-FIRST, in bytes: bisect between these sizes, which lie within --sizes\n"
             "(none)",
     .accept = accept_brackets},
    {.name = "--search-time",
     .value_name = "MS",
     .help = "longest time of one bisection in ms (800)",
     .field = offsetof(struct settings, search_time_ms),
     .least = 1,
     .most = 3600000},
    {0},
};

static const char *const DEFAULTS[] = {"--mode=late,send", "--samples=1", "--block-time=100",
                                       "--pass-time=1", NULL};

/* The probe, then the modes of a pair; ends with an entry without a name. Free with free(). */
static struct mode *all_modes(const struct late_receiver *late)
{
    size_t count = 0;
    while (PAIR_MODES[count].name != NULL) {
        count++;
    }
    struct mode *modes = allocate(1 + count + 1, sizeof *modes);
    modes[0] = late_receiver_mode(late);
    memcpy(modes + 1, PAIR_MODES, (count + 1) * sizeof *modes);
    for (size_t i = 1; i <= count; i++) {
        modes[i].large = false; /* a search counts in ints */
    }
    return modes;
}

int main(int argc, char **argv)
{
    struct state state = {0};
    struct mode *modes = all_modes(&state.late);
    struct settings settings = {.brackets.modes = modes + 1, .search_time_ms = 800};
    state.findings.probe = modes;
    const struct kernel kernel = {
        .name = "zoom",
        .summary = "finds switches to the byte, between the smallest and the largest of --sizes",
        .ranks_min = 2,
        .ranks_max = 2,
        .timing = TIME_AT_ROOT,
        .modes = modes,
        .phases = LATE_RECEIVER_PHASES,
        .options = OPTIONS,
        .settings = &settings,
        .state = &state,
        .sizes = "1,1M",
        .defaults = DEFAULTS,
        .may_explore = brackets_suit,
        .explore = zoom,
        .write_findings = findings_write,
        .print_findings = findings_print,
    };
    const int exit_code = engine_main(argc, argv, &kernel);
    free(state.findings.searches);
    free(settings.brackets.items);
    free(modes);
    return exit_code;
}
