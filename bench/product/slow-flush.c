/* Preloaded into Postgres: each flush takes FLUSH_US microseconds more, as on a disk across a network. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static int flush(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int result = real(fd);
  const char *setting = getenv("FLUSH_US");
  long us = setting ? atol(setting) : 0;
  struct timespec pause = {us / 1000000, us % 1000000 * 1000};
  if (us > 0) nanosleep(&pause, NULL);
  return result;
}

int fdatasync(int fd) { return flush("fdatasync", fd); }
int fsync(int fd) { return flush("fsync", fd); }
