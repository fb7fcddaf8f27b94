/* SPDX-License-Identifier: MIT */
/* What the rest of net/ may know of the loop. Loop thread. */
#ifndef WEIR_NET_LOOP_PARTS_H
#define WEIR_NET_LOOP_PARTS_H

#include "net/loop.h"

/* First in every callback of libuv's: now the time of this turn is read, if nobody has yet. */
void weir_loop_wake(struct weir_loop *loop);

/* So many answers more (or fewer) are awaited on sockets: from many on, the loop rests. */
void weir_loop_await(struct weir_loop *loop, int more);

#endif
