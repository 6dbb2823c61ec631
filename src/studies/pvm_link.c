/* PVM between two ranks that MPI has started: each enrols with the PVM daemon of its node. */
#include "pvm_link.h"

#include <fcntl.h>
#include <pvm3.h>
#include <stdlib.h>
#include <unistd.h>

#include "abort_job.h"
#include "mpi_check.h"

enum { TAG = 1, EXIT_PVM_ERROR = 3 };

/* Ends the job when a PVM call returned an error. */
static int checked(const char *call, int result)
{
    if (result < 0) {
        abort_job(MPI_COMM_WORLD, EXIT_PVM_ERROR, "switchpoint: %s failed: PVM error %d", call,
                  result);
    }
    return result;
}

/* The other rank's task identifier, exchanged by MPI. */
static int peer_of(MPI_Comm comm, int mine)
{
    int rank = 0;
    int tids[2] = {0};
    MPI_CHECK(MPI_Comm_rank(comm, &rank));
    MPI_CHECK(MPI_Allgather(&mine, 1, MPI_INT, tids, 1, MPI_INT, comm));
    return tids[1 - rank];
}

/* Enrols with the daemon of this node. Where there is none, libpvm prints three lines of its own on
 * each rank, although PvmAutoErr is off; the refusal says more in one. */
static int enrol_silently(void)
{
    const int shown = dup(STDERR_FILENO);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (shown >= 0 && nowhere >= 0) {
        dup2(nowhere, STDERR_FILENO);
    }
    const int mine = pvm_mytid();
    if (shown >= 0 && nowhere >= 0) {
        dup2(shown, STDERR_FILENO);
    }
    close(shown);
    close(nowhere);
    return mine;
}

bool pvm_link_available(MPI_Comm comm, struct refusal *refusal)
{
    setenv("PVM_ALLOW_ROOT", "1", 0); /* or PVM ends root's process before we can say why */
    pvm_setopt(PvmAutoErr, 0);
    const int mine = enrol_silently();
    const int peer = peer_of(comm, mine);
    const bool reached = mine >= 0 && peer >= 0 && pvm_pstat(peer) == PvmOk;
    int everywhere = 0;
    const int here = reached;
    MPI_CHECK(MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, comm));
    if (mine >= 0) {
        pvm_exit();
    }
    return everywhere ||
           refuse(refusal,
                  "--mode: PVM does not connect the nodes of the ranks; start its daemons there, "
                  "as checks/studies/pvm/with_daemons.sh does, or choose other modes");
}

int pvm_link_open(MPI_Comm comm, enum pvm_link_route route)
{
    const int mine = checked("pvm_mytid", pvm_mytid());
    checked("pvm_setopt",
            pvm_setopt(PvmRoute, route == PVM_LINK_DIRECT ? PvmRouteDirect : PvmDontRoute));
    return peer_of(comm, mine);
}

void pvm_link_close(MPI_Comm comm)
{
    MPI_CHECK(MPI_Barrier(comm));
    checked("pvm_exit", pvm_exit());
}

void pvm_link_send(int peer, unsigned char *message, int bytes)
{
    checked("pvm_psend", pvm_psend(peer, TAG, message, bytes, PVM_BYTE));
}

void pvm_link_receive(int peer, unsigned char *message, int bytes)
{
    int sender = 0;
    int tag = 0;
    int arrived = 0;
    checked("pvm_precv", pvm_precv(peer, TAG, message, bytes, PVM_BYTE, &sender, &tag, &arrived));
}
