/* JPEG compression of an image in blocks: rank 0 distributes them, every rank compresses its
 * blocks, rank 0 collects the streams. Modes `both` then do the opposite with the streams. */
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#include "application.h"
#include "collectives.h"
#include "input.h"
#include "memory.h"
#include "space.h"

enum { SIDE = 64, BLOCK = SIDE * SIDE }; /* pixels of a grey block, a byte each */

struct settings {
    long quality; /* as libjpeg has it, 1 to 100 */
};

static long block_count(const struct task *t)
{
    return count_of(t) / BLOCK;
}

/* The pieces of the receive buffer. Streams are stored end to end. */
struct work {
    unsigned char *image;   /* on rank 0, the result: a stream for each block */
    unsigned char *back;    /* on rank 0, of modes `both`: the pixels of the streams */
    size_t *lengths;        /* on rank 0: of each stream in bytes */
    unsigned char *pixels;  /* this rank's blocks */
    unsigned char *streams; /* the same compressed */
    size_t *my_lengths;
    struct part *shares;   /* of the pixels */
    struct part *counted;  /* of the lengths */
    struct part *finished; /* of the streams */
    size_t bytes;          /* of all pieces */
};

static size_t longest_stream(void)
{
    return tjBufSize(SIDE, SIDE, TJSAMP_GRAY);
}

static struct work work_of(const struct task *t)
{
    struct space space = {.block = t->receive};
    const size_t blocks = (size_t)block_count(t);
    const size_t share = (size_t)share_count((long)blocks, t->ranks, t->rank);
    const size_t parts = (size_t)t->ranks * sizeof(struct part);
    struct work work = {
        .image = cut(&space, t->rank == 0 ? blocks * longest_stream() : 0),
        .back = cut(&space, t->rank == 0 ? blocks * BLOCK : 0),
        .lengths = cut(&space, t->rank == 0 ? blocks * sizeof(size_t) : 0),
        .pixels = cut(&space, share * BLOCK),
        .streams = cut(&space, share * longest_stream()),
        .my_lengths = cut(&space, share * sizeof(size_t)),
        .shares = cut(&space, parts),
        .counted = cut(&space, parts),
        .finished = cut(&space, parts),
    };
    work.bytes = space.used;
    return work;
}

static size_t work_bytes(const struct task *t)
{
    return work_of(t).bytes;
}

struct state {
    tjhandle compressor;
    tjhandle decompressor;
};

static void start_compressor(const struct task *t)
{
    struct state *state = t->state;
    state->compressor = tjInitCompress();
    state->decompressor = tjInitDecompress();
}

static void stop_compressor(const struct task *t)
{
    const struct state *state = t->state;
    tjDestroy(state->compressor);
    tjDestroy(state->decompressor);
}

/* Returns the bytes of the stream, 0 if there is none. */
static size_t compress(const struct task *t, const unsigned char *pixels, unsigned char *stream)
{
    const struct settings *settings = t->settings;
    const struct state *state = t->state;
    unsigned long bytes = longest_stream();
    const int failed = tjCompress2(state->compressor, pixels, SIDE, SIDE, SIDE, TJPF_GRAY, &stream,
                                   &bytes, TJSAMP_GRAY, (int)settings->quality, TJFLAG_NOREALLOC);
    return failed ? 0 : bytes;
}

/* Returns the bytes of all streams. */
static size_t compress_blocks(const struct task *t, const unsigned char *pixels, long blocks,
                              unsigned char *streams, size_t *lengths)
{
    size_t end = 0;
    for (long block = 0; block < blocks; block++) {
        lengths[block] = compress(t, pixels + block * BLOCK, streams + end);
        end += lengths[block];
    }
    return end;
}

/* A stream that is none leaves its pixels as they were, which the check notices. */
static void decompress_blocks(const struct task *t, const unsigned char *streams,
                              const size_t *lengths, long blocks, unsigned char *pixels)
{
    const struct state *state = t->state;
    for (long block = 0; block < blocks; block++) {
        (void)tjDecompress2(state->decompressor, streams, lengths[block], pixels + block * BLOCK,
                            SIDE, SIDE, SIDE, TJPF_GRAY, 0);
        streams += lengths[block];
    }
}

static void compress_in_parallel(const struct task *t)
{
    const struct work work = work_of(t);
    struct stopwatch watch = stopwatch_start();
    even_parts(work.shares, block_count(t), BLOCK, t->ranks);
    even_parts(work.counted, block_count(t), sizeof(size_t), t->ranks);
    deal(t, t->send, work.shares, work.pixels);
    lap(&watch, t, DISTRIBUTE);
    const size_t bytes =
        compress_blocks(t, work.pixels, share_count(block_count(t), t->ranks, t->rank),
                        work.streams, work.my_lengths);
    lap(&watch, t, COMPUTE);
    collect(t, work.my_lengths, work.counted, work.lengths);
    announce(t, bytes, work.finished, (size_t)block_count(t) * longest_stream());
    collect(t, work.streams, work.finished, work.image);
    lap(&watch, t, DISTRIBUTE);
}

static void compress_on_root(const struct task *t)
{
    const struct work work = work_of(t);
    compress_blocks(t, t->send, block_count(t), work.image, work.lengths);
}

/* Each rank gets the streams back that it made, and knows their lengths. */
static void compress_and_decompress(const struct task *t)
{
    compress_in_parallel(t);
    const struct work work = work_of(t);
    struct stopwatch watch = stopwatch_start();
    deal(t, work.image, work.finished, work.streams);
    lap(&watch, t, DISTRIBUTE);
    decompress_blocks(t, work.streams, work.my_lengths,
                      share_count(block_count(t), t->ranks, t->rank), work.pixels);
    lap(&watch, t, COMPUTE);
    collect(t, work.pixels, work.shares, work.back);
    lap(&watch, t, DISTRIBUTE);
}

static void compress_and_decompress_on_root(const struct task *t)
{
    const struct work work = work_of(t);
    compress_on_root(t);
    decompress_blocks(t, work.image, work.lengths, block_count(t), work.back);
}

/* A gradient of grey in each block, with noise on it, so that there is something to compress. */
static void fill(const struct task *t, uint64_t key)
{
    for (long i = 0; t->rank == 0 && i < count_of(t); i++) {
        const uint64_t slope = drawn(key, (uint64_t)(i / BLOCK));
        const long x = i % SIDE;
        const long y = i / SIDE % SIDE;
        const long along = (x * (long)(slope % 4) + y * (long)(slope / 4 % 4)) / 2;
        const long noise = (long)(drawn(~key, (uint64_t)i) % 16);
        t->send[i] = (unsigned char)(32 + along + noise);
    }
}

/* Compares each stream with the one that rank 0 makes of the block. */
static struct verdict check_image(const struct task *t, uint64_t key)
{
    (void)key;
    struct verdict verdict = {0};
    if (t->rank > 0) {
        return verdict;
    }
    const struct work work = work_of(t);
    const size_t room = (size_t)block_count(t) * longest_stream();
    unsigned char *expected = allocate(longest_stream(), 1);
    size_t start = 0;
    start_compressor(t);
    for (long block = 0; block < block_count(t); block++) {
        const size_t length = compress(t, t->send + block * BLOCK, expected);
        const bool same = length > 0 && work.lengths[block] == length && start + length <= room &&
                          memcmp(work.image + start, expected, length) == 0;
        verdict.compared++;
        verdict.wrong += !same;
        start += length;
    }
    stop_compressor(t);
    free(expected);
    return verdict;
}

/* Compares the pixels, too, with those that rank 0 makes of the streams. */
static struct verdict check_image_and_back(const struct task *t, uint64_t key)
{
    struct verdict verdict = check_image(t, key);
    if (t->rank > 0 || verdict.wrong > 0) {
        return verdict;
    }
    const struct work work = work_of(t);
    const size_t bytes = (size_t)block_count(t) * BLOCK;
    unsigned char *expected = allocate(bytes, 1);
    start_compressor(t);
    decompress_blocks(t, work.image, work.lengths, block_count(t), expected);
    stop_compressor(t);
    verdict.compared++;
    verdict.wrong += memcmp(work.back, expected, bytes) != 0;
    free(expected);
    return verdict;
}

static bool suits_blocks(const struct task *t, struct refusal *refusal)
{
    return (count_of(t) > 0 && count_of(t) % BLOCK == 0) ||
           refuse(refusal, "--sizes: %d bytes are not one or more blocks of %d x %d pixels; use %d",
                  count_of(t), SIDE, SIDE, (count_of(t) / BLOCK + 1) * BLOCK);
}

static const struct result IMAGE = {work_bytes, fill, check_image};
static const struct result IMAGE_AND_BACK = {work_bytes, fill, check_image_and_back};

static const struct mode MODES[] = {
    {.name = "parallel",
     .summary = "rank 0 distributes blocks and collects streams; time_us: from pixels to streams, "
                "both on rank 0",
     .source = "master and workers, rank 0 working too; our choice (study 004: JPEG)",
     .run = run_on_all,
     .variant = &(const struct solver){compress_in_parallel},
     .result = &IMAGE,
     .send_bytes = input_on_root,
     .suits = suits_blocks,
     .prepare = start_compressor,
     .release = stop_compressor},
    {.name = "serial",
     .summary = "libjpeg-turbo on rank 0 while the other ranks sleep",
     .source = "the base case of the speed-up",
     .run = run_on_root,
     .variant = &(const struct solver){compress_on_root},
     .at_root = true,
     .result = &IMAGE,
     .send_bytes = input_on_root,
     .suits = suits_blocks,
     .prepare = start_compressor,
     .release = stop_compressor},
    {.name = "one_rank",
     .summary = "the parallel form on rank 0 alone while the other ranks sleep",
     .source = "shows beside serial what the parallel form itself costs",
     .run = run_on_one_rank,
     .variant = &(const struct one_rank){compress_in_parallel, &IMAGE},
     .at_root = true,
     .result = &RESULT_ON_ONE_RANK,
     .send_bytes = input_on_root,
     .suits = suits_blocks,
     .prepare = start_compressor,
     .release = stop_compressor},
    {.name = "both",
     .summary = "like parallel, then rank 0 distributes the streams and collects the pixels",
     .source = "study 004: JPEG compression and decompression",
     .run = run_on_all,
     .variant = &(const struct solver){compress_and_decompress},
     .result = &IMAGE_AND_BACK,
     .send_bytes = input_on_root,
     .suits = suits_blocks,
     .prepare = start_compressor,
     .release = stop_compressor},
    {.name = "both_serial",
     .summary = "the same on rank 0 while the other ranks sleep",
     .source = "the base case of the speed-up",
     .run = run_on_root,
     .variant = &(const struct solver){compress_and_decompress_on_root},
     .at_root = true,
     .result = &IMAGE_AND_BACK,
     .send_bytes = input_on_root,
     .suits = suits_blocks,
     .prepare = start_compressor,
     .release = stop_compressor},
    {0},
};

static const struct kernel_option OPTIONS[] = {
    {.name = "--quality",
     .value_name = "Q",
     .help = "quality of the compression, 1 to 100 (75)",
     .field = offsetof(struct settings, quality),
     .least = 1,
     .most = 100},
    {0},
};

int main(int argc, char **argv)
{
    struct settings settings = {.quality = 75};
    struct state state = {0};
    const struct kernel jpeg = {
        .name = "jpeg",
        .summary =
            "compresses grey blocks of 64 x 64 pixels, and back; --sizes: bytes of all pixels",
        .modes = MODES,
        .sizes = "16K:1M",
        .options = OPTIONS,
        .settings = &settings,
        .state = &state,
    };
    return application_main(argc, argv, jpeg);
}
