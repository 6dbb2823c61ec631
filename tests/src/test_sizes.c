/* The grammar of --sizes. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sizes.h"

/* True when the specification means exactly these sizes, written as "1 2 4 ". */
static bool means_in_units(int64_t unit, const char *specification, const char *expected)
{
    struct sizes sizes;
    struct refusal refusal = {""};
    char text[512] = "";
    size_t length = 0;
    if (!sizes_parse(specification, unit, &sizes, &refusal)) {
        fprintf(stderr, "%s: refused: %s\n", specification, refusal.text);
        return false;
    }
    for (size_t i = 0; i < sizes.count && length < sizeof text; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length, "%lld ",
                                   (long long)sizes.bytes[i]);
    }
    free(sizes.bytes);
    if (strcmp(text, expected) != 0) {
        fprintf(stderr, "%s: means %s\n", specification, text);
        return false;
    }
    return true;
}

static bool means(const char *specification, const char *expected)
{
    return means_in_units(1, specification, expected);
}

/* True when the specification is refused on one line that names the option and has these words. */
static bool refused_with(const char *specification, const char *words)
{
    struct sizes sizes;
    struct refusal refusal = {""};
    if (sizes_parse(specification, 1, &sizes, &refusal)) {
        free(sizes.bytes);
        return false;
    }
    return strncmp(refusal.text, "--sizes: ", strlen("--sizes: ")) == 0 &&
           strstr(refusal.text, words) != NULL && strchr(refusal.text, '\n') == NULL &&
           sizes.bytes == NULL;
}

static void sizes_are_lists_and_ranges(void)
{
    CHECK(means("8", "8 "));
    CHECK(means("0", "0 "));
    CHECK(means("1,2,3", "1 2 3 "));
    CHECK(means("1:16", "1 2 4 8 16 "));
    CHECK(means("1:20", "1 2 4 8 16 "));
    CHECK(means("3:50", "3 6 12 24 48 "));
    CHECK(means("16:32/3", "16 20 25 32 "));
    CHECK(means("100:400/2", "100 141 200 283 400 "));
    CHECK(means("0:24:+8", "0 8 16 24 "));
    CHECK(means("10:35:+10", "10 20 30 "));
    CHECK(means("7:7", "7 "));
}

static void suffixes_are_powers_of_1024(void)
{
    CHECK(means("1K", "1024 "));
    CHECK(means("1M:4M", "1048576 2097152 4194304 "));
    CHECK(means("1G", "1073741824 "));
    CHECK(means("64K:65K:+1K", "65536 66560 "));
}

static void sizes_come_sorted_and_once(void)
{
    CHECK(means("8,1:16,3", "1 2 3 4 8 16 "));
    /* Close to 1 byte the rounded points coincide. */
    CHECK(means("1:4/3", "1 2 3 4 "));
    CHECK(means("5,5,5", "5 "));
}

static void sizes_between_the_ends_are_multiples_of_the_unit(void)
{
    CHECK(means_in_units(8, "8:64/3", "8 16 24 32 40 48 64 "));
    CHECK(means_in_units(4, "8:64/3", "8 12 16 20 24 32 40 52 64 "));
    CHECK(means_in_units(8, "1K:8K", "1024 2048 4096 8192 "));
    /* What is asked for by name is not replaced by another size. */
    CHECK(means_in_units(8, "12,8:24:+6", "8 12 14 20 "));
}

static void sizes_may_be_larger_than_any_memory(void)
{
    CHECK(means("1G:4G", "1073741824 2147483648 4294967296 "));
    CHECK(means("2147483647:2147483649:+1", "2147483647 2147483648 2147483649 "));
    CHECK(means("1024G", "1099511627776 "));
    CHECK(refused_with("1025G", "from 0 to 1099511627776"));
    CHECK(refused_with("1:1025G", "1099511627776"));
    CHECK(refused_with("99999999999999999999999", "1099511627776"));
}

static void nonsense_is_refused_with_the_way_out(void)
{
    CHECK(refused_with("", "is not a size"));
    CHECK(refused_with("8,", "is not a size"));
    CHECK(refused_with("-8", "is not a size"));
    CHECK(refused_with(" 8", "is not a size"));
    CHECK(refused_with("big", "A:B/n"));
    CHECK(refused_with("1.5K", "'.5K' is not recognised"));
    CHECK(refused_with("8k", "'k' is not recognised"));
    CHECK(refused_with("1:", "does not end at a size"));
    CHECK(refused_with("16:8", "smaller size first"));
    CHECK(refused_with("0:8", "start at 1"));
    CHECK(refused_with("1:8/0", "sizes per octave"));
    CHECK(refused_with("1:8/x", "sizes per octave"));
    CHECK(refused_with("1:8/-3", "sizes per octave"));
    CHECK(refused_with("1:8:+0", "step"));
    CHECK(refused_with("1:8:2", "':2' is not recognised"));
    CHECK(refused_with("8/3", "'/3' is not recognised"));
    CHECK(refused_with("0:1G:+1", "larger steps"));
}

int main(void)
{
    sizes_are_lists_and_ranges();
    suffixes_are_powers_of_1024();
    sizes_come_sorted_and_once();
    sizes_between_the_ends_are_multiples_of_the_unit();
    sizes_may_be_larger_than_any_memory();
    nonsense_is_refused_with_the_way_out();
    return check_result();
}
