/* What a zoom has found: one search after another. */
#include "findings.h"

#include <math.h>

#include "memory.h"

struct search *findings_add(struct findings *findings, const struct mode *mode, int low_bytes,
                            int high_bytes)
{
    findings->searches =
        reallocate(findings->searches, (findings->count + 1) * sizeof *findings->searches);
    struct search *search = &findings->searches[findings->count++];
    *search = (struct search){.mode = mode, .low_bytes = low_bytes, .high_bytes = high_bytes};
    return search;
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

/* Why the probe found no switch. */
static const char *eager_word(const struct search *search, bool probe)
{
    if (!probe || search->outcome != NONE) {
        return "null";
    }
    return search->stayed_eager ? "true" : "false";
}

void findings_write(struct json *json, const struct findings *findings)
{
    json_open(json, "switches", '[');
    for (size_t i = 0; i < findings->count; i++) {
        const struct search *search = &findings->searches[i];
        const bool probe = search->mode == findings->probe;
        json_open(json, NULL, '{');
        json_string(json, "method", probe ? "late_receiver" : "bisection");
        json_string(json, "mode", probe ? "send" : search->mode->name);
        json_integer(json, "low_bytes", search->low_bytes);
        json_integer(json, "high_bytes", search->high_bytes);
        json_string(json, "verdict", outcome_word(search->outcome));
        write_size(json, "last_size_bytes", search, search->last_bytes);
        write_size(json, "first_size_bytes", search, search->first_bytes);
        json_raw(json, "stayed_eager", eager_word(search, probe));
        json_number(json, "jump", search->jump);
        json_integer(json, "visits", search->visits);
        json_integer(json, "compared_turns", search->compared_turns);
        json_integer(json, "pause_us", search->pause_us);
        json_number(json, "time_us", search->time_us);
        json_integer(json, "involuntary_switches", search->preemptions);
        json_string(json, "reason", search->reason);
        json_close(json, '}');
    }
    json_close(json, ']');
}

void findings_print(FILE *out, const struct findings *findings)
{
    fprintf(out, "%-10s %10s %10s %-8s %10s %10s %7s %7s %8s  %s\n", "mode", "from", "to",
            "verdict", "last", "first", "time", "visits", "ms", "reason");
    for (size_t i = 0; i < findings->count; i++) {
        const struct search *search = &findings->searches[i];
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
