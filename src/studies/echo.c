/* Echo: round trips of one message with MPI, TCP sockets and PVM (study 004). MPI starts the ranks
 * and exchanges addresses; the timed section holds only the calls of the tool. */
#include <string.h>

#include "kernel.h"
#include "socket_bytes.h"
#include "sockets.h"
#ifdef SWITCHPOINT_PVM
#include "pvm_link.h"
#endif

enum { TAG = 1 };

static void run_mpi(const struct task *t, long iterations)
{
    const int peer = 1 - t->rank;
    for (long i = 0; i < iterations; i++) {
        if (t->rank == 0) {
            MPI_CHECK(MPI_Send(t->send, count_of(t), MPI_BYTE, peer, TAG, t->comm));
        }
        MPI_CHECK(
            MPI_Recv(t->receive, count_of(t), MPI_BYTE, peer, TAG, t->comm, MPI_STATUS_IGNORE));
        if (t->rank == 1) {
            MPI_CHECK(MPI_Send(t->send, count_of(t), MPI_BYTE, peer, TAG, t->comm));
        }
    }
}

/* The TCP connection, or the peer's task in PVM, at one point of one pass. */
struct state {
    int connection;
};

static void connect_ranks(const struct task *t)
{
    struct state *state = t->state;
    state->connection = sockets_connect(t->comm, t->settings);
    socket_bytes_leave_untold(); /* closed after each point */
}

static void disconnect(const struct task *t)
{
    const struct state *state = t->state;
    sockets_close(state->connection);
}

/* The variant says how a receiver waits. */
static void run_sockets(const struct task *t, long iterations)
{
    const enum sockets_wait wait = *(const enum sockets_wait *)t->variant;
    const int connection = ((const struct state *)t->state)->connection;
    const size_t bytes = (size_t)count_of(t);
    for (long i = 0; i < iterations; i++) {
        if (t->rank == 0) {
            sockets_send(connection, t->send, bytes);
        }
        sockets_receive(connection, t->receive, bytes, wait);
        if (t->rank == 1) {
            sockets_send(connection, t->send, bytes);
        }
    }
}

static bool suits_sockets(const struct task *t, struct refusal *refusal)
{
#ifdef SWITCHPOINT_SIMULATED
    return refuse(refusal, "--mode: a simulated platform has no sockets; choose mode mpi");
#endif
    return (count_of(t) > 0 ||
            refuse(refusal, "--sizes: sockets cannot carry an empty message; leave out 0")) &&
           sockets_available(t->comm, t->settings, refusal);
}

#ifdef SWITCHPOINT_PVM
static bool suits_pvm(const struct task *t, struct refusal *refusal)
{
    return pvm_link_available(t->comm, refusal);
}

/* The variant is the route of the messages. */
static void enrol(const struct task *t)
{
    struct state *state = t->state;
    socket_bytes_leave_untold(); /* those of PVM's daemons, or closed after each point */
    state->connection = pvm_link_open(t->comm, *(const enum pvm_link_route *)t->variant);
}

static void withdraw(const struct task *t)
{
    pvm_link_close(t->comm);
}

static void run_pvm(const struct task *t, long iterations)
{
    const int peer = ((const struct state *)t->state)->connection;
    for (long i = 0; i < iterations; i++) {
        if (t->rank == 0) {
            pvm_link_send(peer, t->send, count_of(t));
        }
        pvm_link_receive(peer, t->receive, count_of(t));
        if (t->rank == 1) {
            pvm_link_send(peer, t->send, count_of(t));
        }
    }
}
#endif

static long two_messages(const struct task *t)
{
    (void)t;
    return 2;
}

/* Each rank receives one message from the other. */
static bool arrival_echo(const struct task *t, int index, struct arrival *arrival)
{
    *arrival = (struct arrival){.bytes = (size_t)count_of(t), .sender = 1 - t->rank};
    return index == 0;
}

static const struct mode MODES[] = {
    {.name = "mpi",
     .summary = "MPI_Send and MPI_Recv; time_us: half a round trip",
     .source = "study 004: echo, with the MPI library that the kernel is built with",
     .run = run_mpi,
     .messages = two_messages,
     .arrival = arrival_echo},
    {.name = "sockets",
     .summary = "send and recv on a TCP socket with TCP_NODELAY; a rank sleeps while it waits",
     .source = "study 004: echo; NetPIPE over TCP",
     .run = run_sockets,
     .variant = &(const enum sockets_wait){SOCKETS_SLEEP},
     .messages = two_messages,
     .arrival = arrival_echo,
     .suits = suits_sockets,
     .prepare = connect_ranks,
     .release = disconnect},
    {.name = "sockets_polling",
     .summary = "like sockets, but a rank polls while it waits, as MPI does",
     .source = "sockets, with MSG_DONTWAIT",
     .run = run_sockets,
     .variant = &(const enum sockets_wait){SOCKETS_POLL},
     .messages = two_messages,
     .arrival = arrival_echo,
     .suits = suits_sockets,
     .prepare = connect_ranks,
     .release = disconnect},
#ifdef SWITCHPOINT_PVM
    {.name = "pvm",
     .summary = "pvm_psend and pvm_precv, through the PVM daemons of both nodes",
     .source = "study 004: echo; PVM 3 (Geist et al. 1994), its default route",
     .run = run_pvm,
     .variant = &(const enum pvm_link_route){PVM_LINK_THROUGH_DAEMONS},
     .messages = two_messages,
     .arrival = arrival_echo,
     .suits = suits_pvm,
     .prepare = enrol,
     .release = withdraw},
    {.name = "pvm_direct",
     .summary = "like pvm, over a TCP connection between the two ranks",
     .source = "PVM 3, PvmRouteDirect",
     .run = run_pvm,
     .variant = &(const enum pvm_link_route){PVM_LINK_DIRECT},
     .messages = two_messages,
     .arrival = arrival_echo,
     .suits = suits_pvm,
     .prepare = enrol,
     .release = withdraw},
#endif
    {0},
};

static bool accept_interface(void *settings, const char *value, struct refusal *refusal)
{
    struct sockets_settings *mine = settings;
    mine->interface = value;
    return sockets_address_of(value, NULL) ||
           refuse(refusal, "--interface: no interface '%s' with an IPv4 address on this host",
                  value);
}

static const struct kernel_option OPTIONS[] = {
    {.name = "--interface",
     .value_name = "NAME",
     .help = "network interface that sockets use, such as ib0 (that of the host's name)",
     .accept = accept_interface},
    {0},
};

int main(int argc, char **argv)
{
    struct sockets_settings settings = {0};
    struct state state = {0};
    const struct kernel echo = {
        .name = "echo",
        .summary = "round trips of one message with each tool: MPI, TCP sockets"
#ifdef SWITCHPOINT_PVM
                   ", PVM"
#endif
        ,
        .ranks_min = 2,
        .ranks_max = 2,
        .timing = TIME_AT_ROOT,
        .modes = MODES,
        .options = OPTIONS,
        .settings = &settings,
        .state = &state,
    };
    return engine_main(argc, argv, &echo);
}
