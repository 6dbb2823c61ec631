/* The exit codes of the kernels. */
#ifndef SWITCHPOINT_EXIT_CODES_H
#define SWITCHPOINT_EXIT_CODES_H

enum {
    EXIT_VERIFIED = 0,
    EXIT_WRONG = 1, /* what arrived is wrong, or the clock is: nothing of the run can be believed */
    EXIT_USAGE = 2, /* or no record can be written, or memory is out */
    EXIT_MPI_ERROR = 3,
    EXIT_DEFECT = 4 /* of the kernel itself */
};

#endif
