/* Training of a neural network with one hidden layer by back-propagation (Rumelhart, Hinton and
 * Williams 1986): the patterns are divided over the ranks, every rank has all weights. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "collectives.h"
#include "input.h"
#include "memory.h"
#include "space.h"

enum { INPUTS = 24, OUTPUTS = 8, PATTERN = INPUTS + OUTPUTS };
static const double LEARNING_RATE = 0.5;

struct settings {
    long hidden; /* units in the hidden layer */
    long epochs;
};

static long hidden_units(const struct task *t)
{
    return ((const struct settings *)t->settings)->hidden;
}

/* Each hidden unit has a weight for every input, each output one for every hidden unit, and each of
 * them has a bias. */
static long weight_count(const struct task *t)
{
    return hidden_units(t) * (INPUTS + 1) + OUTPUTS * (hidden_units(t) + 1);
}

static size_t weight_bytes(const struct task *t)
{
    return (size_t)weight_count(t) * sizeof(double);
}

static long pattern_count(const struct task *t)
{
    return count_of(t) / (long)(PATTERN * sizeof(double));
}

/* The pieces of the receive buffer. */
struct work {
    double *weights;     /* on rank 0, when all epochs are over: the result */
    double *gradient;    /* of this rank's patterns; in the end, on rank 0, of all patterns */
    double *another;     /* on rank 0: another rank's gradient */
    double *patterns;    /* this rank's share */
    double *activations; /* of the hidden units, for one pattern */
    struct part *shares; /* of the patterns */
    size_t bytes;        /* of all pieces */
};

static struct work work_of(const struct task *t)
{
    struct space space = {.block = t->receive};
    const long patterns = share_count(pattern_count(t), t->ranks, t->rank);
    struct work work = {
        .weights = cut(&space, weight_bytes(t)),
        .gradient = cut(&space, weight_bytes(t)),
        .another = cut(&space, weight_bytes(t)),
        .patterns = cut(&space, (size_t)patterns * PATTERN * sizeof(double)),
        .activations = cut(&space, (size_t)hidden_units(t) * sizeof(double)),
        .shares = cut(&space, (size_t)t->ranks * sizeof(struct part)),
    };
    work.bytes = space.used;
    return work;
}

static size_t work_bytes(const struct task *t)
{
    return work_of(t).bytes;
}

static double unit(const double *weights, const double *inputs, long count)
{
    double sum = weights[count]; /* the bias */
    for (long i = 0; i < count; i++) {
        sum += weights[i] * inputs[i];
    }
    return 1 / (1 + exp(-sum));
}

static void add_scaled(double *sum, double factor, const double *terms, long count)
{
    for (long i = 0; i < count; i++) {
        sum[i] += factor * terms[i];
    }
}

/* Goes forward through both layers, then back with the error: adds a pattern's share to the
 * gradient.
 */
static void learn(long hidden, const double *weights, const double *pattern, double *activations,
                  double *gradient)
{
    const double *upper = weights + hidden * (INPUTS + 1);
    double *upper_gradient = gradient + hidden * (INPUTS + 1);
    double errors[OUTPUTS]; /* times the slope of the unit */
    for (long h = 0; h < hidden; h++) {
        activations[h] = unit(weights + h * (INPUTS + 1), pattern, INPUTS);
    }
    for (long o = 0; o < OUTPUTS; o++) {
        const double output = unit(upper + o * (hidden + 1), activations, hidden);
        errors[o] = (output - pattern[INPUTS + o]) * output * (1 - output);
        add_scaled(upper_gradient + o * (hidden + 1), errors[o], activations, hidden);
        upper_gradient[o * (hidden + 1) + hidden] += errors[o];
    }
    for (long h = 0; h < hidden; h++) {
        double error = 0;
        for (long o = 0; o < OUTPUTS; o++) {
            error += errors[o] * upper[o * (hidden + 1) + h];
        }
        error *= activations[h] * (1 - activations[h]);
        add_scaled(gradient + h * (INPUTS + 1), error, pattern, INPUTS);
        gradient[h * (INPUTS + 1) + INPUTS] += error;
    }
}

static void learn_all(const struct task *t, const struct work *w, const double *patterns,
                      long count)
{
    memset(w->gradient, 0, weight_bytes(t));
    for (long i = 0; i < count; i++) {
        learn(hidden_units(t), w->weights, patterns + i * PATTERN, w->activations, w->gradient);
    }
}

static void descend(const struct task *t, const struct work *w)
{
    add_scaled(w->weights, -LEARNING_RATE / (double)pattern_count(t), w->gradient, weight_count(t));
}

/* Sends each rank's gradient to rank 0, which adds them up in the order of the ranks. */
static void add_up(const struct task *t, const struct work *w)
{
    if (t->rank > 0) {
        send_to(t, w->gradient, weight_bytes(t), 0);
    }
    for (int rank = 1; t->rank == 0 && rank < t->ranks; rank++) {
        receive_from(t, w->another, weight_bytes(t), rank);
        add_scaled(w->gradient, 1, w->another, weight_count(t));
    }
}

static const double *all_patterns(const struct task *t)
{
    return (const double *)(const void *)t->send;
}

static const double *first_weights(const struct task *t)
{
    return (const double *)(const void *)(t->send + count_of(t));
}

static long epoch_count(const struct task *t)
{
    return ((const struct settings *)t->settings)->epochs;
}

static void train_in_parallel(const struct task *t)
{
    const struct work work = work_of(t);
    struct stopwatch watch = stopwatch_start();
    even_parts(work.shares, pattern_count(t), PATTERN * sizeof(double), t->ranks);
    deal(t, t->send, work.shares, work.patterns);
    lap(&watch, t, DISTRIBUTE);

    if (t->rank == 0) {
        memcpy(work.weights, first_weights(t), weight_bytes(t));
    }
    for (long epoch = 0; epoch < epoch_count(t); epoch++) {
        broadcast(t, work.weights, weight_bytes(t), 0);
        lap(&watch, t, EXCHANGE);
        learn_all(t, &work, work.patterns, share_count(pattern_count(t), t->ranks, t->rank));
        lap(&watch, t, COMPUTE);
        add_up(t, &work);
        lap(&watch, t, EXCHANGE);
        if (t->rank == 0) {
            descend(t, &work);
        }
        lap(&watch, t, COMPUTE);
    }
}

static void train_on_root(const struct task *t)
{
    const struct work work = work_of(t);
    memcpy(work.weights, first_weights(t), weight_bytes(t));
    for (long epoch = 0; epoch < epoch_count(t); epoch++) {
        learn_all(t, &work, all_patterns(t), pattern_count(t));
        descend(t, &work);
    }
}

static size_t patterns_and_weights(const struct task *t)
{
    return t->rank == 0 ? (size_t)count_of(t) + weight_bytes(t) : 0;
}

/* Inputs around 0. The network learns which input of a pair is larger. */
static void fill(const struct task *t, uint64_t key)
{
    if (t->rank > 0) {
        return;
    }
    double *next = (double *)(void *)t->send;
    for (long i = 0; i < pattern_count(t); i++, next += PATTERN) {
        for (long k = 0; k < INPUTS; k++) {
            next[k] = drawn_fraction(key, (uint64_t)(i * INPUTS + k));
        }
        for (long k = 0; k < OUTPUTS; k++) {
            next[INPUTS + k] = next[2 * k] > next[2 * k + 1] ? 1 : 0;
        }
    }
    for (long i = 0; i < weight_count(t); i++) {
        next[i] = drawn_fraction(~key, (uint64_t)i);
    }
}

/* Compares with the same training on rank 0, which adds up the gradients in another order. */
static struct verdict check_weights(const struct task *t, uint64_t key)
{
    (void)key;
    struct verdict verdict = {0};
    if (t->rank == 0) {
        double *trained = allocate((size_t)weight_count(t), sizeof *trained);
        memcpy(trained, work_of(t).weights, weight_bytes(t));
        train_on_root(t);
        const double *expected = work_of(t).weights;
        for (long i = 0; i < weight_count(t); i++) {
            verdict.compared++;
            verdict.wrong += !(fabs(trained[i] - expected[i]) <= 1e-9);
        }
        free(trained);
    }
    return verdict;
}

static bool suits_patterns(const struct task *t, struct refusal *refusal)
{
    const int bytes = (int)(PATTERN * sizeof(double));
    return (count_of(t) > 0 && count_of(t) % bytes == 0) ||
           refuse(refusal,
                  "--sizes: %d bytes are not one or more patterns of %d bytes (%d inputs, %d "
                  "outputs); use %d",
                  count_of(t), bytes, INPUTS, OUTPUTS, (count_of(t) / bytes + 1) * bytes);
}

static const struct result WEIGHTS = {work_bytes, fill, check_weights};

static const struct mode MODES[] = {
    {.name = "parallel",
     .summary = "each epoch: weights broadcast, gradients of the ranks' patterns added up on rank "
                "0; time_us: all epochs",
     .source = "batch learning divided by patterns; our choice (study 004: BPNN)",
     .run = run_on_all,
     .variant = &(const struct solver){train_in_parallel},
     .result = &WEIGHTS,
     .send_bytes = patterns_and_weights,
     .suits = suits_patterns},
    {.name = "serial",
     .summary = "all patterns on rank 0 while the other ranks sleep",
     .source = "Rumelhart, Hinton, Williams 1986; the base case of the speed-up",
     .run = run_on_root,
     .variant = &(const struct solver){train_on_root},
     .at_root = true,
     .result = &WEIGHTS,
     .send_bytes = patterns_and_weights,
     .suits = suits_patterns},
    {.name = "one_rank",
     .summary = "the parallel form on rank 0 alone while the other ranks sleep",
     .source = "shows beside serial what the parallel form itself costs",
     .run = run_on_one_rank,
     .variant = &(const struct one_rank){train_in_parallel, &WEIGHTS},
     .at_root = true,
     .result = &RESULT_ON_ONE_RANK,
     .send_bytes = patterns_and_weights,
     .suits = suits_patterns},
    {0},
};

static const struct kernel_option OPTIONS[] = {
    {.name = "--hidden",
     .value_name = "UNITS",
     .help = "units in the hidden layer (32)",
     .field = offsetof(struct settings, hidden),
     .least = 1,
     .most = 1 << 20},
    {.name = "--epochs",
     .value_name = "N",
     .help = "number of times that all patterns are learnt (4)",
     .field = offsetof(struct settings, epochs),
     .least = 1,
     .most = INT_MAX},
    {0},
};

int main(int argc, char **argv)
{
    struct settings settings = {.hidden = 32, .epochs = 4};
    const struct kernel backpropagation = {
        .name = "backpropagation",
        .summary = "trains a network on patterns of 256 bytes; --sizes: bytes of all patterns",
        .modes = MODES,
        .sizes = "16K:1M",
        .options = OPTIONS,
        .settings = &settings,
    };
    return application_main(argc, argv, backpropagation);
}
