/* Zoom: finds switches to the byte. The late-receiver probe finds the end of the eager protocol by
 * itself; timing bisection pins each bracket that it is given. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bisection.h"
#include "clock.h"
#include "late_receiver.h"
#include "memory.h"
#include "pair_modes.h"

/* Bytes on either side of the probe's switch in which its step in time is sought. */
enum { BESIDE_BYTES = 8 };

/* A bisection is not believed when more than one visit of so many was interrupted. */
enum { VISITS_PER_PREEMPTION = 10 };

/* Where a switch is suspected. */
struct bracket {
    const struct mode *mode; /* NULL: every mode asked for */
    long last_bytes;
    long first_bytes;
};

struct settings {
    struct late_receiver late; /* first, as the probe's mode asks */
    struct bracket *brackets;
    size_t bracket_count;
    struct search *searches;
    size_t search_count;
};

/* The probe, then the ping-pong's; ends with an entry without a name. */
static struct mode *modes;

static struct search *start_search(struct settings *settings, const struct mode *mode,
                                   int low_bytes, int high_bytes)
{
    settings->searches =
        reallocate(settings->searches, (settings->search_count + 1) * sizeof *settings->searches);
    struct search *search = &settings->searches[settings->search_count++];
    *search = (struct search){.mode = mode, .low_bytes = low_bytes, .high_bytes = high_bytes};
    return search;
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

static bool is_probe(const struct mode *mode)
{
    return mode->run == LATE_RECEIVER.run;
}

/* Turns that agree are right on a busy machine too; what a search did not find, turns that were
 * disturbed may have missed. */
static bool is_firm(const struct search *search)
{
    return search->outcome == EXACT ||
           (search->outcome == NONE && search->high_bytes - search->low_bytes <= NARROW_BYTES);
}

/* Timings of ranks that wait for a core say nothing about the library. */
static void doubt(struct search *search, bool enough_cores)
{
    if (!enough_cores) {
        search->outcome = UNSURE;
        snprintf(search->reason, sizeof search->reason,
                 "the ranks of one machine have fewer cores than they are; give each its own");
    } else if (!is_firm(search) && search->preemptions * VISITS_PER_PREEMPTION > search->visits) {
        search->outcome = UNSURE;
        snprintf(search->reason, sizeof search->reason,
                 "ranks were switched off their cores %ld times in %ld visits; measure again on"
                 " quieter cores",
                 search->preemptions, search->visits);
    }
}

static struct search conduct(struct explorer *explorer, struct settings *settings,
                             const struct mode *mode, int low_bytes, int high_bytes)
{
    struct search *search = start_search(settings, mode, low_bytes, high_bytes);
    MPI_Comm comm = explorer->task->comm;
    const long before = preemptions(comm);
    const double start = clock_us();
    if (is_probe(mode)) {
        late_receiver_search(explorer, &settings->late, search);
    } else {
        bisect(explorer, search);
    }
    search->time_us = clock_us() - start;
    search->preemptions = preemptions(comm) - before;
    if (!is_probe(mode)) {
        doubt(search, cores_suffice(comm));
    }
    return *search;
}

static int within(long bytes, const struct explorer *explorer)
{
    const long least = explorer->smallest_bytes;
    const long most = explorer->largest_bytes;
    return (int)(bytes < least ? least : bytes > most ? most : bytes);
}

static void conduct_brackets(struct explorer *explorer, struct settings *settings,
                             const struct mode *mode)
{
    for (size_t i = 0; i < settings->bracket_count; i++) {
        const struct bracket *bracket = &settings->brackets[i];
        const int low = within(bracket->last_bytes, explorer);
        const int high = within(bracket->first_bytes, explorer);
        if (low < high && (bracket->mode == NULL || bracket->mode == mode)) {
            conduct(explorer, settings, mode, low, high);
        }
    }
}

/* The probe first: then every mode is timed at the switch that it found. */
static void zoom(struct explorer *explorer, void *state)
{
    struct settings *settings = state;
    struct search probed = {.outcome = NONE};
    for (size_t m = 0; m < explorer->mode_count; m++) {
        if (is_probe(explorer->modes[m])) {
            probed = conduct(explorer, settings, explorer->modes[m], explorer->smallest_bytes,
                             explorer->largest_bytes);
        }
    }
    for (size_t m = 0; m < explorer->mode_count; m++) {
        const struct mode *mode = explorer->modes[m];
        if (is_probe(mode)) {
            continue;
        }
        conduct_brackets(explorer, settings, mode);
        if (probed.outcome == EXACT) {
            conduct(explorer, settings, mode, within(probed.last_bytes - BESIDE_BYTES, explorer),
                    within(probed.first_bytes + BESIDE_BYTES, explorer));
        }
    }
}

static const char *outcome_word(enum outcome outcome)
{
    static const char *const WORDS[] = {
        [EXACT] = "exact", [INTERVAL] = "interval", [NONE] = "none", [UNSURE] = "unsure"};
    return WORDS[outcome];
}

static void write_size(struct json *json, const char *key, const struct search *search, int bytes)
{
    if (is_found(search)) {
        json_integer(json, key, bytes);
    } else {
        json_string(json, key, NULL);
    }
}

static void write_searches(struct json *json, const void *state)
{
    const struct settings *settings = state;
    json_open(json, "switches", '[');
    for (size_t i = 0; i < settings->search_count; i++) {
        const struct search *search = &settings->searches[i];
        const bool probe = is_probe(search->mode);
        json_open(json, NULL, '{');
        json_string(json, "method", probe ? "late_receiver" : "bisection");
        json_string(json, "mode", probe ? "send" : search->mode->name);
        json_integer(json, "low_bytes", search->low_bytes);
        json_integer(json, "high_bytes", search->high_bytes);
        json_string(json, "verdict", outcome_word(search->outcome));
        write_size(json, "last_size_bytes", search, search->last_bytes);
        write_size(json, "first_size_bytes", search, search->first_bytes);
        json_number(json, "jump", search->jump);
        json_integer(json, "visits", search->visits);
        json_integer(json, "pause_us", search->pause_us);
        json_number(json, "time_us", search->time_us);
        json_integer(json, "involuntary_switches", search->preemptions);
        json_string(json, "reason", search->reason);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void print_searches(FILE *out, const void *state)
{
    const struct settings *settings = state;
    fprintf(out, "%-10s %10s %10s %-8s %10s %10s %7s %7s %8s  %s\n", "mode", "from", "to",
            "verdict", "last", "first", "time", "visits", "ms", "reason");
    for (size_t i = 0; i < settings->search_count; i++) {
        const struct search *search = &settings->searches[i];
        char sides[2][16] = {"-", "-"};
        char jump[16] = "-";
        if (is_found(search)) {
            snprintf(sides[0], sizeof sides[0], "%d", search->last_bytes);
            snprintf(sides[1], sizeof sides[1], "%d", search->first_bytes);
        }
        if (!isnan(search->jump)) {
            snprintf(jump, sizeof jump, "%+.0f %%", 100 * search->jump);
        }
        fprintf(out, "%-10s %10d %10d %-8s %10s %10s %7s %7ld %8.1f  %s\n", search->mode->name,
                search->low_bytes, search->high_bytes, outcome_word(search->outcome), sides[0],
                sides[1], jump, search->visits, search->time_us / 1e3, search->reason);
    }
}

/* [MODE:]LAST-FIRST */
static bool parse_bracket(const char *text, size_t length, struct bracket *bracket)
{
    const char *colon = memchr(text, ':', length);
    *bracket = (struct bracket){NULL};
    if (colon != NULL) {
        const size_t name_length = (size_t)(colon - text);
        for (const struct mode *mode = modes + 1; mode->name != NULL; mode++) {
            if (strlen(mode->name) == name_length && strncmp(mode->name, text, name_length) == 0) {
                bracket->mode = mode;
            }
        }
        if (bracket->mode == NULL) {
            return false;
        }
    }
    const char *digits = colon != NULL ? colon + 1 : text;
    char *end = NULL;
    bracket->last_bytes = strtol(digits, &end, 10);
    if (end == digits || *end != '-') {
        return false;
    }
    digits = end + 1;
    bracket->first_bytes = strtol(digits, &end, 10);
    return end != digits && end == text + length && bracket->last_bytes >= 0 &&
           bracket->last_bytes < bracket->first_bytes && bracket->first_bytes <= INT_MAX;
}

static bool accept_brackets(void *state, const char *value, struct refusal *refusal)
{
    struct settings *settings = state;
    for (const char *text = value;; text++) {
        const size_t length = strcspn(text, ",");
        struct bracket bracket;
        if (!parse_bracket(text, length, &bracket)) {
            return refuse(refusal,
                          "--brackets: '%.*s' is not [MODE:]LAST-FIRST, two sizes in bytes, the"
                          " smaller first, such as send:52016-65536",
                          (int)length, text);
        }
        settings->brackets = reallocate(settings->brackets,
                                        (settings->bracket_count + 1) * sizeof *settings->brackets);
        settings->brackets[settings->bracket_count++] = bracket;
        text += length;
        if (*text == '\0') {
            return true;
        }
    }
}

static const struct kernel_option OPTIONS[] = {
    {.name = "--brackets",
     .value_name = "B[,B..]",
     .help = "[MODE:]LAST-FIRST, in bytes: bisect between these sizes (none)",
     .accept = accept_brackets},
    {0},
};

static const char *const DEFAULTS[] = {"--mode=late,send", "--samples=1", "--block-time=100",
                                       "--pass-time=1", NULL};

static struct mode *all_modes(void)
{
    size_t count = 0;
    while (PAIR_MODES[count].name != NULL) {
        count++;
    }
    struct mode *all = allocate(1 + count + 1, sizeof *all);
    all[0] = LATE_RECEIVER;
    memcpy(all + 1, PAIR_MODES, (count + 1) * sizeof *all);
    return all;
}

int main(int argc, char **argv)
{
    static struct settings settings;
    modes = all_modes();
    const struct kernel kernel = {
        .name = "zoom",
        .summary = "switches to the byte, between the smallest and the largest of --sizes",
        .ranks_min = 2,
        .ranks_max = 2,
        .timing = TIME_AT_ROOT,
        .modes = modes,
        .phases = LATE_RECEIVER_PHASES,
        .options = OPTIONS,
        .settings = &settings,
        .sizes = "1,1M",
        .defaults = DEFAULTS,
        .explore = zoom,
        .write_findings = write_searches,
        .print_findings = print_searches,
    };
    const int exit_code = engine_main(argc, argv, &kernel);
    free(settings.searches);
    free(settings.brackets);
    free(modes);
    return exit_code;
}
