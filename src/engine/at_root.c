/* Modes in which rank 0 works alone: what the other ranks do meanwhile. */
#include "at_root.h"

#include <time.h>

static void wake_the_others(const struct task *task);

enum { TAG_ENDED = 2 };

void sleep_until_root_ends(const struct mode *mode, const struct task *task)
{
    const struct timespec nap = {.tv_nsec = 50000};
    if (!mode->at_root) {
        return;
    }
    if (task->rank == 0) {
        wake_the_others(task);
        return;
    }
    int ended = 0;
    while (!ended) {
        nanosleep(&nap, NULL);
        MPI_CHECK(MPI_Iprobe(0, TAG_ENDED, task->comm, &ended, MPI_STATUS_IGNORE));
    }
    MPI_CHECK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_ENDED, task->comm, MPI_STATUS_IGNORE));
}

static void wake_the_others(const struct task *task)
{
    for (int rank = 1; rank < task->ranks; rank++) {
        MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, rank, TAG_ENDED, task->comm));
    }
}
