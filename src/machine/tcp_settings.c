/* The settings of the kernel's TCP, which are read and never changed. */
#include "tcp_settings.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system_files.h"

/* Kernel documentation, networking/ip-sysctl.rst and admin-guide/sysctl/net.rst: buffers, what is
 * held back or split, how fast a connection starts, what is acknowledged and sent again. */
static const struct {
    const char *folder;
    const char *name;
} SETTINGS[] = {
    {"ipv4", "tcp_rmem"},
    {"ipv4", "tcp_wmem"},
    {"core", "rmem_max"},
    {"core", "wmem_max"},
    {"ipv4", "tcp_congestion_control"},
    {"ipv4", "tcp_slow_start_after_idle"},
    {"ipv4", "tcp_no_metrics_save"},
    {"ipv4", "tcp_pacing_ss_ratio"},
    {"ipv4", "tcp_pacing_ca_ratio"},
    {"ipv4", "tcp_autocorking"},
    {"ipv4", "tcp_limit_output_bytes"},
    {"ipv4", "tcp_notsent_lowat"},
    {"ipv4", "tcp_min_tso_segs"},
    {"ipv4", "tcp_tso_win_divisor"},
    {"ipv4", "tcp_window_scaling"},
    {"ipv4", "tcp_adv_win_scale"},
    {"ipv4", "tcp_moderate_rcvbuf"},
    {"ipv4", "tcp_mtu_probing"},
    {"ipv4", "tcp_base_mss"},
    {"ipv4", "tcp_timestamps"},
    {"ipv4", "tcp_sack"},
    {"ipv4", "tcp_dsack"},
    {"ipv4", "tcp_ecn"},
    {"ipv4", "tcp_early_retrans"},
    {"ipv4", "tcp_recovery"},
    {"ipv4", "tcp_reordering"},
    {"ipv4", "tcp_pingpong_thresh"},
    {"ipv4", "tcp_comp_sack_delay_ns"},
    {"ipv4", "tcp_rto_min_us"},
    {"core", "busy_poll"},
    {"core", "busy_read"},
};

static const char BLANKS[] = " \t";

/* Whether a text contains only whole numbers, and how many. */
static bool are_numbers(const char *text, int *count)
{
    *count = 0;
    for (const char *next = text; *next != '\0'; ++*count) {
        char *end = NULL;
        strtoll(next, &end, 10);
        if (end == next || (*end != '\0' && strchr(BLANKS, *end) == NULL)) {
            return false;
        }
        next = end + strspn(end, BLANKS);
    }
    return *count > 0;
}

static void write_value(struct json *json, const char *name, char *value)
{
    int count = 0;
    if (!are_numbers(value, &count)) {
        json_string(json, name, value);
        return;
    }
    if (count == 1) {
        json_integer(json, name, strtoll(value, NULL, 10));
        return;
    }
    json_open(json, name, '[');
    for (char *next = value; count > 0; count--) {
        json_integer(json, NULL, strtoll(next, &next, 10));
    }
    json_close(json, ']');
}

void tcp_settings_write(struct json *json, const char *key)
{
    json_open(json, key, '{');
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++) {
        char path[128];
        char value[256];
        snprintf(path, sizeof path, "/proc/sys/net/%s/%s", SETTINGS[i].folder, SETTINGS[i].name);
        if (system_line(path, "", value, sizeof value)) {
            write_value(json, SETTINGS[i].name, value);
        }
    }
    json_close(json, '}');
}
