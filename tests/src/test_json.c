/* The JSON writer: nesting, escapes, and values without a JSON form. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "json.h"

static bool is(struct json *json, const char *expected)
{
    const bool same = strcmp(json->text, expected) == 0;
    if (!same) {
        fprintf(stderr, "wrote %s\n", json->text);
    }
    json_free(json);
    return same;
}

static bool string_becomes(const char *value, const char *expected)
{
    struct json json = {0};
    json_string(&json, NULL, value);
    return is(&json, expected);
}

static bool number_becomes(double value, const char *expected)
{
    struct json json = {0};
    json_number(&json, NULL, value);
    return is(&json, expected);
}

static void values_nest_with_commas_between(void)
{
    struct json json = {0};
    json_open(&json, NULL, '{');
    json_integer(&json, "a", -1);
    json_open(&json, "b", '[');
    json_string(&json, NULL, "x");
    json_raw(&json, NULL, "{\"y\":2}");
    json_open(&json, NULL, '[');
    json_close(&json, ']');
    json_integer(&json, NULL, INT64_MAX);
    json_close(&json, ']');
    json_open(&json, "c", '{');
    json_close(&json, '}');
    json_string(&json, "d", NULL);
    json_close(&json, '}');
    CHECK(is(&json, "{\"a\":-1,\"b\":[\"x\",{\"y\":2},[],9223372036854775807],\"c\":{},"
                    "\"d\":null}"));
}

static void strings_are_escaped(void)
{
    CHECK(string_becomes("", "\"\""));
    CHECK(string_becomes("a \"b\" \\c", "\"a \\\"b\\\" \\\\c\""));
    CHECK(string_becomes("tab\tline\nbell\a\x7f", "\"tab\\u0009line\\u000abell\\u0007\\u007f\""));
    CHECK(string_becomes("µs, 節点, 🖧", "\"µs, 節点, 🖧\""));
    CHECK(string_becomes("[", "\"[\""));
}

static void bytes_that_are_not_utf8_become_replacement_characters(void)
{
    CHECK(string_becomes("\xff", "\"\\ufffd\""));
    CHECK(string_becomes("a\xc3", "\"a\\ufffd\""));                                  /* cut short */
    CHECK(string_becomes("\xc0\xaf", "\"\\ufffd\\ufffd\""));                         /* overlong */
    CHECK(string_becomes("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""));              /* surrogate */
    CHECK(string_becomes("\xf4\x90\x80\x80z", "\"\\ufffd\\ufffd\\ufffd\\ufffdz\"")); /* beyond */
}

static void commas_are_not_fooled_by_brackets_in_strings(void)
{
    struct json json = {0};
    json_open(&json, NULL, '[');
    json_string(&json, NULL, "{");
    json_string(&json, NULL, "[");
    json_integer(&json, NULL, 1);
    json_close(&json, ']');
    CHECK(is(&json, "[\"{\",\"[\",1]"));
}

static void numbers_that_json_lacks_become_null(void)
{
    CHECK(number_becomes(0.5, "0.5"));
    CHECK(number_becomes(-1e-9, "-1e-09"));
    CHECK(number_becomes(NAN, "null"));
    CHECK(number_becomes(INFINITY, "null"));
}

int main(void)
{
    values_nest_with_commas_between();
    strings_are_escaped();
    bytes_that_are_not_utf8_become_replacement_characters();
    commas_are_not_fooled_by_brackets_in_strings();
    numbers_that_json_lacks_become_null();
    return check_result();
}
