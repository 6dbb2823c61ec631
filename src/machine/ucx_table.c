/* The tables in which UCX prints its choice of protocols. */
#include "ucx_table.h"

#include <stdlib.h>
#include <string.h>

char *ucx_table_cell(char **row)
{
    char *cell = *row;
    char *end = strchr(cell, '|');
    if (end == NULL) {
        return NULL;
    }
    *row = end + 1;
    while (end > cell && end[-1] == ' ') {
        end--;
    }
    *end = '\0';
    return cell + strspn(cell, " ");
}

/* "256K" in bytes; null for "inf". */
static void write_size(struct json *json, const char *key, const char *text)
{
    static const char SCALES[] = "KMGT";
    char *end = NULL;
    const long long number = strtoll(text, &end, 10);
    if (end == text) {
        json_string(json, key, NULL);
        return;
    }
    const char *scale = *end != '\0' ? strchr(SCALES, *end) : NULL;
    const int shift = scale != NULL ? 10 * (int)(scale - SCALES + 1) : 0;
    json_integer(json, key, number << shift);
}

bool ucx_table_is_range(const char *cell)
{
    return cell[0] >= '0' && cell[0] <= '9';
}

void ucx_table_range_write(struct json *json, const char *sizes, const char *protocol,
                           const char *path)
{
    const char *dots = strstr(sizes, "..");
    json_open(json, NULL, '{');
    write_size(json, "first_bytes", sizes);
    write_size(json, "last_bytes", dots != NULL ? dots + 2 : sizes);
    json_string(json, "protocol", protocol);
    json_string(json, "path", path);
    json_close(json, '}');
}
