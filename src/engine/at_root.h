/* Modes in which rank 0 works alone: what the other ranks do meanwhile. */
#ifndef SWITCHPOINT_AT_ROOT_H
#define SWITCHPOINT_AT_ROOT_H

#include "kernel.h"

/* Collective, after every `run` of a mode and outside its time. Where rank 0 works alone, the other
 * ranks sleep until it has ended: they would take cores from it if they spun in MPI. What rank 0
 * takes to wake them grows with their number, and is no part of its work. */
void sleep_until_root_ends(const struct mode *mode, const struct task *task);

#endif
