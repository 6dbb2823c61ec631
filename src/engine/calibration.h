/* How many repetitions fill a block, and how many blocks fit a pass. */
#ifndef SWITCHPOINT_CALIBRATION_H
#define SWITCHPOINT_CALIBRATION_H

#include <stdbool.h>

#include "session.h"

/* Collective. Whether earlier passes show that the point is slow; sets its `slow`. Another
 * calibration would then take most of the sweep's time and change nothing. */
bool known_slow(const struct session *session, struct point *point);

/* Collective. Sets the point's repetitions and blocks, and whether it is slow: a repetition before,
 * which took `earlier_us` (infinity: there was none), may show that it is not. Returns the
 * repetitions that it ran. */
long calibrate(struct session *session, struct point *point, double earlier_us);

/* Collective. Compares the ranks' clocks where calls start at an agreed time. */
void agree_on_start(struct session *session);

/* Runs a mode, and lets the copies of its buffers take their turns. */
void repeat(const struct mode *mode, struct task *task, long iterations);

#endif
