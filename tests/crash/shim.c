/* Loaded before libc (LD_PRELOAD): counts the calls that touch files below one folder, and lets one of them go wrong.
 *
 * `fault_arm(folder, nth, action, log)` is called by tests/crash/forked.py in the child that becomes the program.
 *   folder   calls on files below it are counted, from 1; the path and a slash
 *   nth      the call that goes wrong; 0 for none
 *   action   EIO, ENOSPC    that call fails
 *            ENOSPC+        that call and all after it that need room fail: a disk that stays full
 *            SHORT          a write takes half of its bytes, and the next one on that file fails with ENOSPC
 *            HALF           a write takes half of its bytes, and all is well
 *            KILL, INT, TERM, HUP, STOP    the signal, before the call is made
 *   log      a file that gets one line a call: its number, its name, the path
 * Reading is not counted but with an action that starts with `r`: then reads are, and nothing else.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { ROOM = 1, WRITES = 2, READS = 4 };

static char root[4096], action[16];
static size_t root_length;
static long nth, counted;
static int armed, log_fd = -1, reads, full, short_fd = -1;

void fault_arm(const char *folder, long which, const char *what, const char *log) {
    snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
    reads = what[0] == 'r';
    snprintf(action, sizeof action, "%s", what + reads);
    nth = which;
    if (log[0])
        log_fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    armed = 1;
}

static int below(const char *path) {
    char whole[8192];
    if (path[0] != '/') {
        long length = syscall(SYS_getcwd, whole, 4096);
        if (length <= 0)
            return 0;
        snprintf(whole + length - 1, sizeof whole - (size_t)length, "/%s", path);
        path = whole;
    }
    return strncmp(path, root, root_length) == 0;
}

static int path_of(int fd, char *path, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, size - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return below(path);
}

/* What becomes of a call on `path`: 0 goes on, -1 fails with errno set, 1 is a write that takes half. */
static int fate(const char *name, const char *path, int fd, int kind) {
    int is_read = (kind & READS) != 0;
    if (is_read != reads)
        return 0;
    long number = __atomic_add_fetch(&counted, 1, __ATOMIC_SEQ_CST);
    if (log_fd >= 0) {
        char line[4500];
        int length = snprintf(line, sizeof line, "%ld %s %s\n", number, name, path);
        syscall(SYS_write, log_fd, line, (size_t)length);
    }
    if (full && (kind & ROOM)) {
        errno = ENOSPC;
        return -1;
    }
    if (short_fd >= 0 && short_fd == fd && (kind & WRITES)) {
        short_fd = -1;
        errno = ENOSPC;
        return -1;
    }
    if (number != nth)
        return 0;
    static const struct { const char *name; int number; } signals[] = {
        {"KILL", SIGKILL}, {"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}, {"STOP", SIGSTOP}};
    for (size_t at = 0; at < sizeof signals / sizeof *signals; at++)
        if (strcmp(action, signals[at].name) == 0) {
            kill(getpid(), signals[at].number);
            return 0;
        }
    if (strcmp(action, "HALF") == 0 || strcmp(action, "SHORT") == 0) {
        if (!(kind & WRITES))
            return 0;
        short_fd = action[0] == 'S' ? fd : -1;
        return 1;
    }
    if (action[0] == 'E' && action[1] == 'I') {
        errno = EIO;
        return -1;
    }
    if (strncmp(action, "ENOSPC", 6) == 0) {
        if (!(kind & ROOM))
            return 0;
        full = action[6] == '+';
        errno = ENOSPC;
        return -1;
    }
    return 0;
}

static int fate_fd(const char *name, int fd, int kind) {
    char path[4096];
    int kept = errno, result = 0;
    if (armed && path_of(fd, path, sizeof path))
        result = fate(name, path, fd, kind);
    if (result >= 0)
        errno = kept;
    return result;
}

static int fate_path(const char *name, const char *path, int kind) {
    int kept = errno, result = 0;
    if (armed && path && below(path))
        result = fate(name, path, -1, kind);
    if (result >= 0)
        errno = kept;
    return result;
}

#define REAL(type, name, ...)                                                                                          \
    static type (*real)(__VA_ARGS__);                                                                                  \
    if (!real)                                                                                                         \
        real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name);

#define HALF(size) ((size) > 1 ? (size) / 2 : (size))

ssize_t write(int fd, const void *data, size_t size) {
    REAL(ssize_t, "write", int, const void *, size_t)
    int result = fate_fd("write", fd, ROOM | WRITES);
    return result < 0 ? -1 : real(fd, data, result ? HALF(size) : size);
}

#define PWRITE(name, offset_type)                                                                                      \
    ssize_t name(int fd, const void *data, size_t size, offset_type offset) {                                          \
        REAL(ssize_t, #name, int, const void *, size_t, offset_type)                                                   \
        int result = fate_fd("pwrite", fd, ROOM | WRITES);                                                             \
        return result < 0 ? -1 : real(fd, data, result ? HALF(size) : size, offset);                                   \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int)
    int result = fate_fd("writev", fd, ROOM | WRITES);
    return result < 0 ? -1 : real(fd, parts, result && count > 1 ? count / 2 : count);
}

ssize_t read(int fd, void *data, size_t size) {
    REAL(ssize_t, "read", int, void *, size_t)
    return fate_fd("read", fd, READS) < 0 ? -1 : real(fd, data, size);
}

#define PREAD(name, offset_type)                                                                                       \
    ssize_t name(int fd, void *data, size_t size, offset_type offset) {                                                \
        REAL(ssize_t, #name, int, void *, size_t, offset_type)                                                         \
        return fate_fd("pread", fd, READS) < 0 ? -1 : real(fd, data, size, offset);                                    \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

#define ON_FD(name)                                                                                                    \
    int name(int fd) {                                                                                                 \
        REAL(int, #name, int)                                                                                          \
        return fate_fd(#name, fd, 0) < 0 ? -1 : real(fd);                                                              \
    }
ON_FD(fsync)
ON_FD(fdatasync)

#define FTRUNCATE(name, offset_type)                                                                                   \
    int name(int fd, offset_type length) {                                                                             \
        REAL(int, #name, int, offset_type)                                                                             \
        return fate_fd("ftruncate", fd, 0) < 0 ? -1 : real(fd, length);                                                \
    }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        REAL(int, #name, const char *, int, ...)                                                                       \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = va_arg(more, mode_t);                                                                            \
        va_end(more);                                                                                                  \
        if ((flags & O_ACCMODE) != O_RDONLY && fate_path("open", path, flags & O_CREAT ? ROOM : 0) < 0)                \
            return -1;                                                                                                 \
        return real(path, flags, mode);                                                                                \
    }
OPEN(open)
OPEN(open64)

#define ON_PATH(name, kind)                                                                                            \
    int name(const char *path) {                                                                                       \
        REAL(int, #name, const char *)                                                                                 \
        return fate_path(#name, path, kind) < 0 ? -1 : real(path);                                                     \
    }
ON_PATH(unlink, 0)
ON_PATH(rmdir, 0)

int unlinkat(int folder, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int)
    return fate_path("unlink", path, 0) < 0 ? -1 : real(folder, path, flags);
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, "mkdir", const char *, mode_t)
    return fate_path("mkdir", path, ROOM) < 0 ? -1 : real(path, mode);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *)
    return fate_path("rename", to, 0) < 0 ? -1 : real(from, to);
}

int link(const char *from, const char *to) {
    REAL(int, "link", const char *, const char *)
    return fate_path("link", to, ROOM) < 0 ? -1 : real(from, to);
}
