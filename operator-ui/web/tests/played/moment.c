/* What time a program takes it to be, as long as this is preloaded: a file holds two numbers of eight bytes, a moment in milliseconds
   since 1970 and, if time goes on from that moment, the true time at which it began to. Only the time for people is set
   like this. What waits and what measures goes by the clock of the system, and so do the program's children. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile long long *moment;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("PLAYED_MOMENT");
  int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    void *shared = mmap(NULL, 2 * sizeof *moment, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (shared != MAP_FAILED) moment = shared;
  }
  unsetenv("LD_PRELOAD");
  unsetenv("PLAYED_MOMENT");
}

int clock_gettime(clockid_t which, struct timespec *to) {
  if (moment == NULL || (which != CLOCK_REALTIME && which != CLOCK_REALTIME_COARSE)) return (int)syscall(SYS_clock_gettime, which, to);
  long long now = moment[0], began = moment[1];
  if (began != 0) {
    if (syscall(SYS_clock_gettime, CLOCK_REALTIME, to) != 0) return -1;
    now += to->tv_sec * 1000LL + to->tv_nsec / 1000000 - began;
  }
  to->tv_sec = now / 1000;
  to->tv_nsec = now % 1000 * 1000000;
  return 0;
}
