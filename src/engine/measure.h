/* One visit to one point: warm up, calibrate, poison, time the blocks, verify. */
#ifndef SWITCHPOINT_MEASURE_H
#define SWITCHPOINT_MEASURE_H

#include "session.h"

/* Collective. Measures a point in a pass into the session's visit. Updates the point's calibration
 * and its counts of payloads, and the session's count of bytes. */
void measure(struct session *session, struct point *point, int pass);

#endif
