/* Input and expected results of reductions. */
#include "reduction.h"

#include <string.h>

enum { SUM, MAX };

static const struct {
    const char *name;
    size_t bytes;
} TYPES[] = {{"double", sizeof(double)}, {"float", sizeof(float)}, {"int", sizeof(int)}};
enum { DOUBLE, FLOAT, INT, TYPE_COUNT };

static const char *const OPERATIONS[] = {[SUM] = "sum", [MAX] = "max"};
enum { OPERATION_COUNT = sizeof OPERATIONS / sizeof *OPERATIONS };

bool reduction_accept_type(void *settings, const char *value, struct refusal *refusal)
{
    struct reduction *reduction = settings;
    for (int type = 0; type < TYPE_COUNT; type++) {
        if (strcmp(value, TYPES[type].name) == 0) {
            reduction->type = type;
            return true;
        }
    }
    return refuse(refusal, "--type: '%s' is not a type; choose from double, float, int", value);
}

bool reduction_accept_operation(void *settings, const char *value, struct refusal *refusal)
{
    struct reduction *reduction = settings;
    for (int operation = 0; operation < OPERATION_COUNT; operation++) {
        if (strcmp(value, OPERATIONS[operation]) == 0) {
            reduction->operation = operation;
            return true;
        }
    }
    return refuse(refusal, "--op: '%s' is not an operation; choose from sum, max", value);
}

static const struct reduction *chosen(const struct task *t)
{
    return t->settings;
}

MPI_Datatype reduction_type(const struct task *t)
{
    const MPI_Datatype types[] = {[DOUBLE] = MPI_DOUBLE, [FLOAT] = MPI_FLOAT, [INT] = MPI_INT};
    return types[chosen(t)->type];
}

MPI_Op reduction_operation(const struct task *t)
{
    return chosen(t)->operation == SUM ? MPI_SUM : MPI_MAX;
}

static size_t element_bytes(const struct task *t)
{
    return TYPES[chosen(t)->type].bytes;
}

int64_t reduction_size_unit(const void *settings)
{
    const struct reduction *reduction = settings;
    return (int64_t)TYPES[reduction->type].bytes;
}

int reduction_count(const struct task *t)
{
    return count_of(t) / (int)element_bytes(t);
}

bool reduction_suits(const struct task *t, struct refusal *refusal)
{
    return t->size_bytes % (int64_t)element_bytes(t) == 0 ||
           refuse(refusal,
                  "--sizes: %lld B are not a whole number of elements of %zu B; use multiples of "
                  "%zu, or another --type",
                  (long long)t->size_bytes, element_bytes(t), element_bytes(t));
}

/* Small enough for exact sums of floats over 16,384 ranks; half of them negative. */
static int element(uint64_t key, int rank, size_t index)
{
    uint64_t mixed = key + (uint64_t)index * UINT64_C(0x9E3779B97F4A7C15) +
                     (uint64_t)rank * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 29)) * UINT64_C(0x94D049BB133111EB);
    return (int)(mixed >> 53) - 1024;
}

static void put(const struct task *t, size_t index, int value)
{
    const double as_double = value;
    const float as_float = (float)value;
    const void *const forms[] = {[DOUBLE] = &as_double, [FLOAT] = &as_float, [INT] = &value};
    const size_t bytes = element_bytes(t);
    memcpy(t->send + index * bytes, forms[chosen(t)->type], bytes);
}

static double result_at(const struct task *t, size_t index)
{
    const unsigned char *at = t->receive + index * element_bytes(t);
    double as_double = 0;
    float as_float = 0;
    int as_int = 0;
    if (chosen(t)->type == DOUBLE) {
        memcpy(&as_double, at, sizeof as_double);
        return as_double;
    }
    if (chosen(t)->type == FLOAT) {
        memcpy(&as_float, at, sizeof as_float);
        return (double)as_float;
    }
    memcpy(&as_int, at, sizeof as_int);
    return as_int;
}

void reduction_fill(const struct task *t, uint64_t key, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        put(t, i, element(key, t->rank, i));
    }
}

void reduction_fill_vector(const struct task *t, uint64_t key)
{
    reduction_fill(t, key, (size_t)reduction_count(t));
}

static int expected(const struct task *t, uint64_t key, size_t index)
{
    int reduced = element(key, 0, index);
    for (int rank = 1; rank < t->ranks; rank++) {
        const int next = element(key, rank, index);
        if (chosen(t)->operation == SUM) {
            reduced += next;
        } else if (next > reduced) {
            reduced = next;
        }
    }
    return reduced;
}

struct verdict reduction_check(const struct task *t, uint64_t key, size_t first, size_t count)
{
    struct verdict verdict = {.compared = (int64_t)count};
    for (size_t i = 0; i < count; i++) {
        verdict.wrong += !(result_at(t, i) == expected(t, key, first + i));
    }
    return verdict;
}

static size_t vector_bytes(const struct task *t)
{
    return (size_t)t->size_bytes;
}

static struct verdict check_vector(const struct task *t, uint64_t key)
{
    return reduction_check(t, key, 0, (size_t)reduction_count(t));
}

const struct result REDUCED_EVERYWHERE = {
    .bytes = vector_bytes, .fill = reduction_fill_vector, .check = check_vector};
