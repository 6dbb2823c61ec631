"""Message sizes: the one that latency is quoted for, and grids of them."""

#: The message size that people quote latency for.
LATENCY_BYTES = 8


def points_per_octave(first_bytes, last_bytes, points):
    """Message sizes at ``points`` equal ratios an octave, rounded to bytes.

    With ``points=3``: 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, ...; powers of two are always among them,
    since that is where libraries keep their limits.
    """
    sizes = []
    step = 0
    while (size := round(first_bytes * 2 ** (step / points))) <= last_bytes:
        sizes.append(size)
        step += 1
    return sorted(set(sizes))
