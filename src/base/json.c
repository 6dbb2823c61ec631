/* A small JSON writer: objects and arrays nest as the calls do; strings are escaped (RFC 8259). */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static void append(struct json *json, const char *text, size_t length)
{
    if (json->length + length + 1 > json->capacity) {
        json->capacity = 2 * (json->length + length + 1);
        json->text = reallocate(json->text, json->capacity);
    }
    memcpy(json->text + json->length, text, length);
    json->length += length;
    json->text[json->length] = '\0';
}

static void append_text(struct json *json, const char *text)
{
    append(json, text, strlen(text));
}

/* Length of the valid UTF-8 sequence at `s` (RFC 3629), or 0. */
static size_t utf8_length(const unsigned char *s)
{
    size_t length = 0;
    if (s[0] < 0x80) {
        return 1;
    }
    if (s[0] >= 0xC2 && s[0] <= 0xDF) {
        length = 2;
    } else if (s[0] >= 0xE0 && s[0] <= 0xEF) {
        length = 3;
    } else if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        length = 4;
    } else {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    const int overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    const int surrogate = s[0] == 0xED && s[1] > 0x9F;
    const int beyond = s[0] == 0xF4 && s[1] > 0x8F;
    return overlong || surrogate || beyond ? 0 : length;
}

static void append_quoted(struct json *json, const char *text)
{
    append_text(json, "\"");
    const unsigned char *s = (const unsigned char *)text;
    while (*s != '\0') {
        const size_t length = utf8_length(s);
        char escape[8];
        if (length == 0) {
            append_text(json, "\\ufffd");
        } else if (*s == '"' || *s == '\\') {
            snprintf(escape, sizeof escape, "\\%c", *s);
            append_text(json, escape);
        } else if (*s < ' ' || *s == 0x7f) {
            snprintf(escape, sizeof escape, "\\u%04x", *s);
            append_text(json, escape);
        } else {
            append(json, (const char *)s, length);
        }
        s += length > 0 ? length : 1;
    }
    append_text(json, "\"");
}

/* Writes the comma, where one is needed, and the key. */
static void begin_value(struct json *json, const char *key)
{
    if (json->length > 0) {
        const char last = json->text[json->length - 1];
        if (last != '{' && last != '[') {
            append_text(json, ",");
        }
    }
    if (key != NULL) {
        append_quoted(json, key);
        append_text(json, ":");
    }
}

void json_open(struct json *json, const char *key, char bracket)
{
    begin_value(json, key);
    append(json, &bracket, 1);
}

void json_close(struct json *json, char bracket)
{
    append(json, &bracket, 1);
}

void json_string(struct json *json, const char *key, const char *value)
{
    begin_value(json, key);
    if (value == NULL) {
        append_text(json, "null");
    } else {
        append_quoted(json, value);
    }
}

void json_integer(struct json *json, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    json_raw(json, key, text);
}

void json_number(struct json *json, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.12g", value);
    json_raw(json, key, isfinite(value) ? text : "null");
}

void json_raw(struct json *json, const char *key, const char *value)
{
    begin_value(json, key);
    append_text(json, value);
}

void json_free(struct json *json)
{
    free(json->text);
    *json = (struct json){NULL, 0, 0};
}
