/* Which protocol UCX has chosen for which sizes, where the MPI library uses it. */
#include "ucx_protocols.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucx_table.h"

static const char PROTO_INFO[] = "UCX_PROTO_INFO";

/* What this process prints is one thing for all that it does. */
static FILE *kept;
static int standard_output;

void ucx_protocols_ask(void)
{
    setenv(PROTO_INFO, "y", 1);
    fflush(stdout);
    kept = tmpfile();
    standard_output = dup(STDOUT_FILENO);
    if (kept != NULL) {
        dup2(fileno(kept), STDOUT_FILENO);
    }
}

void ucx_protocols_asked(void)
{
    unsetenv(PROTO_INFO);
}

enum { LINE_LENGTH = 1024 };

/* The text after "[time] [host:process:thread] "; NULL where a line has no such beginning. */
static char *message_of(char *line)
{
    char *end = line[0] == '[' ? strstr(line, "] [") : NULL;
    end = end != NULL ? strstr(end + 3, "] ") : NULL;
    if (end == NULL) {
        return NULL;
    }
    end += 2;
    return end + strspn(end, " ");
}

static bool is_send(const char *operation)
{
    return strncmp(operation, "tagged message", strlen("tagged message")) == 0 ||
           strncmp(operation, "active message", strlen("active message")) == 0;
}

/* A table begins with a row of two cells, the endpoint and the operation. Rows of three follow. */
static void write_row(struct json *json, char *row, bool *in_table)
{
    char *first = ucx_table_cell(&row);
    char *second = first != NULL ? ucx_table_cell(&row) : NULL;
    char *third = second != NULL ? ucx_table_cell(&row) : NULL;
    if (second == NULL) {
        return;
    }
    if (third != NULL) {
        if (*in_table && ucx_table_is_range(first)) {
            ucx_table_range_write(json, first, second, third);
        }
        return;
    }
    if (*in_table) {
        json_close(json, ']');
        json_close(json, '}');
    }
    *in_table = is_send(second);
    if (*in_table) {
        json_open(json, NULL, '{');
        json_string(json, "endpoint", first);
        json_string(json, "operation", second);
        json_open(json, "ranges", '[');
    }
}

static bool is_of_table(const char *message)
{
    return message != NULL && (message[0] == '|' || message[0] == '+');
}

void ucx_protocols_write(struct json *json, const char *key)
{
    char line[LINE_LENGTH];
    bool in_table = false;
    json_open(json, key, '[');
    fflush(stdout);
    if (kept != NULL) {
        rewind(kept);
    }
    while (kept != NULL && fgets(line, sizeof line, kept) != NULL) {
        char *message = message_of(line);
        if (is_of_table(message)) {
            write_row(json, message + 1, &in_table);
        }
    }
    if (in_table) {
        json_close(json, ']');
        json_close(json, '}');
    }
    json_close(json, ']');
}

void ucx_protocols_end(void)
{
    char line[LINE_LENGTH];
    if (kept == NULL) {
        return;
    }
    fflush(stdout);
    dup2(standard_output, STDOUT_FILENO);
    close(standard_output);
    rewind(kept);
    while (fgets(line, sizeof line, kept) != NULL) {
        if (!is_of_table(message_of(line))) {
            fputs(line, stdout);
        }
    }
    fclose(kept);
    kept = NULL;
    fflush(stdout); /* MPI_Finalize may hang */
}
