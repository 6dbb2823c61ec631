/* What time it is when a drifting clock shows another. */
#ifndef SWITCHPOINT_DRIFTING_CLOCK_H
#define SWITCHPOINT_DRIFTING_CLOCK_H

/* In us, on the clock that all ranks share. */
double true_us(double shown_us);

#endif
