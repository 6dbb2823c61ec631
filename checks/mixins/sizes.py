"""Message sizes: the size for latency, and grids of sizes; the window of streams."""

#: The usual message size for latency.
LATENCY_BYTES = 8

#: Messages that a stream keeps in flight. OSU's default is 64, but 64 messages of 1 MiB take half a
#: second at 1 Gbit/s. All checks use the same number, because a curve has one.
WINDOW = 16


def points_per_octave(first_bytes, last_bytes, points):
    """Return ``points`` message sizes per octave with equal ratios, rounded to bytes.

    With ``points=3``: 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, ... Powers of two are always included,
    because libraries have their limits there.
    """
    sizes = []
    step = 0
    while (size := round(first_bytes * 2 ** (step / points))) <= last_bytes:
        sizes.append(size)
        step += 1
    return sorted(set(sizes))
