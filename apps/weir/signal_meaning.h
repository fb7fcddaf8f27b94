/* SPDX-License-Identifier: MIT */
/*
 * What a signal that asks to end means, once the job has begun. Pure.
 *
 * One Ctrl-C often arrives as several: a terminal that is closed sends SIGHUP, and whoever closes
 * it SIGTERM behind that; `timeout` signals its child and the group that the child is in. Somebody
 * who means it twice has seen what the first one did. So they are told apart by the time between
 * them, whichever signals they are.
 */
#ifndef WEIR_APP_SIGNAL_MEANING_H
#define WEIR_APP_SIGNAL_MEANING_H

#include <stdint.h>

#define SIGNAL_APART_US INT64_C(1000000)

enum signal_meaning {
    SIGNAL_STOP,  /* the first: send nothing more, wait for what is on its way */
    SIGNAL_ECHO,  /* one of the same moment: nothing */
    SIGNAL_LEAVE, /* meant: leave at once */
};

/* `first_us`: when the first one came; WEIR_NEVER: none has. */
enum signal_meaning signal_meaning(int64_t first_us, int64_t now_us);

#endif
