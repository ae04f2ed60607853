/* Signal handlers that do nothing but set a flag and stop the running step. SPDX-License-Identifier: MIT */
#include "cli/interrupt.h"

#include "cli/cli.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static _Atomic(qn_session *) target;
static atomic_bool interrupted, deadline_passed, resized, resumed;
static atomic_bool goes_on; /* qn_interrupt_watch_all() is in force */

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    qn_session *s = atomic_load(&target);
    if (s == NULL && !atomic_load(&goes_on)) {
        _exit(QN_EXIT_INTERRUPTED);
    }
    atomic_store(&interrupted, true);
    if (s != NULL) {
        qn_session_abort(s);
    }
}

static void on_resize(int signal_number)
{
    (void)signal_number;
    atomic_store(&resized, true);
}

static void on_deadline(int signal_number)
{
    (void)signal_number;
    atomic_store(&deadline_passed, true);
    qn_session *s = atomic_load(&target);
    if (s != NULL) {
        qn_session_abort(s);
    }
}

static void on_resume(int signal_number)
{
    (void)signal_number;
    atomic_store(&resumed, true);
}

static void watch(int signal_number, void (*handler)(int), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    action.sa_flags = flags | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

void qn_interrupt_watch(void)
{
    watch(SIGINT, on_interrupt, SA_RESETHAND); /* the second one finds the system's own handler, which kills */
}

void qn_interrupt_watch_all(void)
{
    atomic_store(&goes_on, true);
    watch(SIGINT, on_interrupt, 0);
    watch(SIGWINCH, on_resize, 0);
    watch(SIGCONT, on_resume, 0);
}

bool qn_interrupted(void)
{
    return atomic_load(&interrupted);
}

void qn_interrupt_forget(void)
{
    atomic_store(&interrupted, false);
}

bool qn_interrupt_resized(void)
{
    return atomic_exchange(&resized, false);
}

bool qn_interrupt_resumed(void)
{
    return atomic_exchange(&resumed, false);
}

void qn_interrupt_target(qn_session *s)
{
    atomic_store(&target, s);
}

void qn_deadline_start(double seconds)
{
    watch(SIGALRM, on_deadline, 0);
    struct itimerval timer;
    memset(&timer, 0, sizeof(timer));
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) {
        timer.it_value.tv_usec = 1; /* zero would mean never */
    }
    setitimer(ITIMER_REAL, &timer, NULL);
}

bool qn_deadline_passed(void)
{
    return atomic_load(&deadline_passed);
}
