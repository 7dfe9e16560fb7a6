/* SPDX-License-Identifier: MIT */
/* The handler stays for the life of the process: launches of other shared
 * objects may have put theirs on top. */
#include "fault.h"
#include "machine.h"
#include "shared.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

namespace emu {

namespace {

constexpr size_t stack_bytes = 64 << 10;
constexpr int signals[] = {SIGSEGV, SIGBUS};
constexpr int signals_count = sizeof signals / sizeof *signals;

struct sigaction before[signals_count];
bool installed;
pthread_t runner; /* the system's thread that runs the launch */
bool running;

void handle(int number, siginfo_t *info, void *context)
{
    if (running && pthread_equal(runner, pthread_self()) && m->current) {
        if (shared_is_near(info->si_addr))
            fail("shared-out-of-bounds",
                 "a thread used %p, past the window "
                 "of shared memory",
                 info->si_addr);
        fail("global-out-of-bounds", "a thread used %p", info->si_addr);
    }
    for (int i = 0; i < signals_count; i++)
        if (signals[i] == number) {
            if (before[i].sa_flags & SA_SIGINFO)
                before[i].sa_sigaction(number, info, context);
            else if (before[i].sa_handler != SIG_DFL &&
                     before[i].sa_handler != SIG_IGN)
                before[i].sa_handler(number);
            else /* happens again, and ends the process */
                sigaction(number, &before[i], nullptr);
        }
}

} // namespace

/* fail() leaves the handler for the scheduler and does not come back, so the
 * signal must not stay blocked. */
fault_handler::fault_handler()
{
    struct sigaction action;
    stack_t own;

    memset(&action, 0, sizeof action);
    memset(&own, 0, sizeof own);
    stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        fail("no-memory", "for the stack of a signal handler");
    own.ss_sp = stack;
    own.ss_size = stack_bytes;
    sigaltstack(&own, &alternate);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int i = 0; i < signals_count && !installed; i++)
        sigaction(signals[i], &action, &before[i]);
    installed = true;
    runner = pthread_self();
    running = true;
}

fault_handler::~fault_handler()
{
    running = false;
    sigaltstack(&alternate, nullptr);
    munmap(stack, stack_bytes);
}

} // namespace emu
