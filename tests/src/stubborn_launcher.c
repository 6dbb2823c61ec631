/* Loaded into a launcher and its ranks: SIGTERM does not end them. They end with their parent. */
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>

__attribute__((constructor)) static void ignore_sigterm(void)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}
