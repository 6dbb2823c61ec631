/* What UCX prints about an endpoint: through which lanes it leads, and which protocols it uses. */
#include "ucx_endpoint_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ucx_table.h"

/* Cuts "sysv/memory" out of "lane[0]:  3:sysv/memory.0 md[2] ...", without the index of its path;
 * NULL where a line says something else. */
static char *lane_of(char *line)
{
    char *lane = strncmp(line, "lane[", strlen("lane[")) == 0 ? strstr(line, "]:") : NULL;
    if (lane == NULL) {
        return NULL;
    }
    lane += 2;
    lane += strspn(lane, " ");
    const size_t index = strspn(lane, "0123456789");
    if (index == 0 || lane[index] != ':') {
        return NULL;
    }
    lane += index + 1;
    lane[strcspn(lane, " ")] = '\0';
    char *point = strrchr(lane, '.');
    if (point != NULL && point[1] != '\0' && point[1 + strspn(point + 1, "0123456789")] == '\0') {
        *point = '\0';
    }
    return lane;
}

/* "0..<egr/short>..93..<rndv>..(inf)": each protocol stands between its first size and that of the
 * next. */
static void write_line_of_protocols(struct json *json, char *line)
{
    char *rest = line;
    long long first = strtoll(line, &rest, 10);
    for (char *name = strstr(rest, "..<"); name != NULL; name = strstr(rest, "..<")) {
        name += strlen("..<");
        char *end = strstr(name, ">..");
        if (end == NULL) {
            return;
        }
        *end = '\0';
        rest = end + strlen(">..");
        const char *digits = rest;
        const long long next = strtoll(digits, &rest, 10);
        const bool is_last = rest == digits;
        if (is_last || next > first) {
            char sizes[64];
            if (is_last) {
                snprintf(sizes, sizeof sizes, "%lld..inf", first);
            } else {
                snprintf(sizes, sizeof sizes, "%lld..%lld", first, next - 1);
            }
            ucx_table_range_write(json, sizes, name, NULL);
        }
        first = is_last ? first : next;
    }
}

static bool is_send_table(const char *operation)
{
    return strcmp(operation, "tagged message by ucp_tag_send* from host memory") == 0 ||
           strcmp(operation, "tagged message by ucp_tag_send*() from host memory") == 0; /* 1.13 */
}

/* A table for each kind of operation that this endpoint has done. */
static void write_row(struct json *json, char *row, bool *in_table)
{
    char *first = ucx_table_cell(&row);
    char *second = first != NULL ? ucx_table_cell(&row) : NULL;
    char *third = second != NULL ? ucx_table_cell(&row) : NULL;
    if (second != NULL && third == NULL) {
        *in_table = is_send_table(second);
    } else if (third != NULL && *in_table && ucx_table_is_range(first)) {
        ucx_table_range_write(json, first, second, third);
    }
}

/* With the variable UCX chooses protocols by newer code. Before 1.16 it prints those of the older
 * code as well, which it does not use then. */
static bool older_code_chooses(void)
{
    const char *newer = getenv("UCX_PROTO_ENABLE");
    return newer == NULL || strchr("nN0", newer[0]) != NULL || strncasecmp(newer, "off", 3) == 0;
}

bool ucx_endpoint_describe(struct json *object, char *printed)
{
    static const char SENDS[] = "tag_send: ";
    struct json line_of_sends = {0};
    struct json table_of_sends = {0};
    bool to_itself = false;
    bool in_table = false;
    bool has_table = !older_code_chooses();
    json_open(object, NULL, '{');
    json_open(object, "lanes", '[');
    json_open(&line_of_sends, NULL, '[');
    json_open(&table_of_sends, NULL, '[');
    char *rest = printed;
    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        line += strspn(line, "# ");
        const char *lane = lane_of(line);
        if (lane != NULL) {
            json_string(object, NULL, lane);
            to_itself = to_itself || strncmp(lane, "self/", strlen("self/")) == 0;
        } else if (strncmp(line, SENDS, strlen(SENDS)) == 0) {
            write_line_of_protocols(&line_of_sends, line + strlen(SENDS));
        } else if (line[0] == '|') {
            has_table = true;
            write_row(&table_of_sends, line + 1, &in_table);
        }
    }
    json_close(&line_of_sends, ']');
    json_close(&table_of_sends, ']');
    json_close(object, ']');
    json_raw(object, "tag_send", has_table ? table_of_sends.text : line_of_sends.text);
    json_free(&line_of_sends);
    json_free(&table_of_sends);
    return !to_itself;
}
