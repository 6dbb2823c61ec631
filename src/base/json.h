/* A small JSON writer: objects and arrays nest as the calls do; strings are escaped (RFC 8259). */
#ifndef SWITCHPOINT_JSON_H
#define SWITCHPOINT_JSON_H

#include <stddef.h>
#include <stdint.h>

struct json {
    char *text; /* NUL-terminated; free with json_free */
    size_t length;
    size_t capacity;
};

/* `key` is NULL inside an array and for the outermost value. */

void json_open(struct json *json, const char *key, char bracket);        /* '{' or '[' */
void json_close(struct json *json, char bracket);                        /* '}' or ']' */
void json_string(struct json *json, const char *key, const char *value); /* NULL writes null */
void json_integer(struct json *json, const char *key, int64_t value);
void json_number(struct json *json, const char *key, double value);   /* not finite: writes null */
void json_raw(struct json *json, const char *key, const char *value); /* already JSON */
void json_free(struct json *json);

#endif
