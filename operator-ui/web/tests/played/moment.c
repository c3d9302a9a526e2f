/* What time a program takes it to be: milliseconds since 1970 in a file of eight bytes, as long as that is preloaded.
   Only the time for people is told so. What waits and what measures goes by the clock that runs, and so do its children. */
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
    void *shared = mmap(NULL, sizeof *moment, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (shared != MAP_FAILED) moment = shared;
  }
  unsetenv("LD_PRELOAD");
  unsetenv("PLAYED_MOMENT");
}

int clock_gettime(clockid_t which, struct timespec *to) {
  if (moment == NULL || (which != CLOCK_REALTIME && which != CLOCK_REALTIME_COARSE)) return (int)syscall(SYS_clock_gettime, which, to);
  to->tv_sec = *moment / 1000;
  to->tv_nsec = *moment % 1000 * 1000000;
  return 0;
}
