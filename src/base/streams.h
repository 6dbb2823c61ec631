/* Standard streams that a program was started without. */
#ifndef SWITCHPOINT_STREAMS_H
#define SWITCHPOINT_STREAMS_H

/* Opens something in place of each closed standard stream, such that writing to standard output
 * still fails. Otherwise MPI's next socket would take the number, and receive what is printed. */
void streams_fill(void);

#endif
