/* SPDX-License-Identifier: MIT */
/*
 * Clocks that jump: part of weir-fault, it stands before clock_gettime() (the linker puts it there,
 * for our own files only).
 *
 *     WEIR_CLOCK=FILE   two numbers of 64 bits, in the order of this machine, that a test may
 *                       change at any time: nanoseconds by which the wall clock (CLOCK_REALTIME)
 *                       and the time since boot (CLOCK_BOOTTIME) are ahead of the true ones
 *
 * A machine that was suspended is one whose time since boot has moved and whose monotonic clock,
 * which timers of the system wait by, has not.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

enum {
    WALL,
    BOOT,
    CLOCKS
};

static const int64_t still[CLOCKS];
static const int64_t *ahead_ns = still;

__attribute__((constructor)) static void find_clock(void)
{
    const char *path = getenv("WEIR_CLOCK");
    if (!path)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *found = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(still), PROT_READ, MAP_SHARED, fd, 0);
    if (found == MAP_FAILED) {
        fprintf(stderr, "weir-fault: WEIR_CLOCK is \"%s\", which cannot be read\n", path);
        _exit(99);
    }
    close(fd);
    ahead_ns = found;
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
    int status = __real_clock_gettime(clock, ret);
    if (status || (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME))
        return status;
    int64_t ns = ret->tv_nsec + __atomic_load_n(&ahead_ns[clock == CLOCK_BOOTTIME ? BOOT : WALL],
                                                __ATOMIC_RELAXED);
    int64_t seconds = ns / NS_PER_S - (ns % NS_PER_S < 0);
    ret->tv_sec += (time_t)seconds;
    ret->tv_nsec = (long)(ns - seconds * NS_PER_S);
    return 0;
}
