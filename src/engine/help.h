/* The text of --help. */
#ifndef SWITCHPOINT_HELP_H
#define SWITCHPOINT_HELP_H

#include <stdio.h>

#include "kernel.h"

/* Every option with unit and default, every mode with its source. */
void help_print(FILE *out, const struct kernel *kernel);

#endif
