/* Preloaded into MPICH's ranks: a rank that waits gives up its core.
 *
 * UCX polls its sockets by epoll_wait() without a time to wait, and MPICH 4.0 has no setting such
 * as Open MPI's mpi_yield_when_idle. If ranks share cores, the one with a message else waits until
 * the time slices of the others (4 ms) are used up. */
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>

int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
    int ready = epoll_pwait(epfd, events, maxevents, timeout, NULL);
    if (ready == 0 && timeout == 0) {
        sched_yield();
    }
    return ready;
}
