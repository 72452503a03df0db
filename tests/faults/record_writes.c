/* Runs a program and records, in order, what it changes in a folder and what it makes durable.
 *
 *     record_writes LOG FOLDER MARKS PROGRAM [ARGUMENT...]
 *
 * FOLDER is a folder's real path. What the program writes to the file MARKS, outside of it, is
 * recorded between the changes: this is how it reports what it has acknowledged. The system calls
 * themselves are watched (ptrace), so calls that bypass the C library are not missed.
 *
 * Each record is a line "KIND NUMBER OFFSET LENGTH LENGTH" and two texts of these lengths:
 *   c inode path     a file was made           r path path   renamed
 *   t inode length   a length was set          l path path   a second name
 *   w inode offset bytes                       u path        a file's name was removed
 *   s inode          a file was made durable   m path        a folder was made
 *   d path           the names in a folder were made durable
 *   x path           a folder was removed      a text        a mark
 *   ! text           a change that cannot be recorded
 * Writes to mapped memory are not seen. Mapping a file for writing is therefore recorded as a "!",
 * except for SQLite's log index (-shm), which need not survive a power loss.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 256

/* A system call that a thread is in: what must be known before it is done. */
struct thread {
    pid_t tid;
    unsigned long long nr, args[6];
    char from[PATH_MAX], to[PATH_MAX];
    int existed;
};

static struct thread threads[MAX_THREADS];
static FILE *out;
static const char *folder, *marks;

static void record(char kind, unsigned long long number, unsigned long long offset,
                   const void *one, size_t one_length, const void *two, size_t two_length) {
    fprintf(out, "%c %llu %llu %zu %zu\n", kind, number, offset, one_length, two_length);
    fwrite(one, 1, one_length, out);
    fwrite(two, 1, two_length, out);
}

static void record_paths(char kind, unsigned long long number, const char *from, const char *to) {
    record(kind, number, 0, from, strlen(from), to, strlen(to));
}

static int inside(const char *path) {
    size_t length = strlen(folder);
    return !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static int ends_with(const char *path, const char *end) {
    size_t length = strlen(path), of_end = strlen(end);
    return length >= of_end && !strcmp(path + length - of_end, end);
}

static void fd_link(const struct thread *of, unsigned long long fd, char *link) {
    snprintf(link, 64, "/proc/%d/fd/%d", of->tid, (int)fd);
}

/* Returns the path of an open file, "" if it has none. */
static void fd_path(const struct thread *of, unsigned long long fd, char *path) {
    char link[64];
    fd_link(of, fd, link);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
}

static void read_text(pid_t tid, unsigned long long address, char *text, size_t room) {
    for (size_t at = 0; at + sizeof(long) <= room; at += sizeof(long)) {
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, tid, address + at, 0);
        if (errno)
            word = 0;
        memcpy(text + at, &word, sizeof word);
        if (memchr(&word, 0, sizeof word))
            return;
    }
    text[room - 1] = 0;
}

/* Returns the real path that a call names; its last part need not exist. */
static void path_of(const struct thread *of, int at_folder, unsigned long long address, char *path) {
    char named[PATH_MAX], whole[2 * PATH_MAX + 2], above[PATH_MAX], link[64];
    read_text(of->tid, address, named, sizeof named);
    above[0] = path[0] = 0;
    if (named[0] != '/') {
        if (at_folder == AT_FDCWD)
            snprintf(link, sizeof link, "/proc/%d/cwd", of->tid);
        else
            fd_link(of, at_folder, link);
        ssize_t length = readlink(link, above, sizeof above - 1);
        above[length > 0 ? length : 0] = 0;
    }
    snprintf(whole, sizeof whole, "%s/%s", above, named);
    size_t length = strlen(whole);
    while (length > 1 && whole[length - 1] == '/')
        whole[--length] = 0;
    char *last = strrchr(whole, '/');
    *last = 0;
    if (realpath(whole[0] ? whole : "/", above)) {
        char joined[2 * PATH_MAX];
        snprintf(joined, sizeof joined, "%s/%s", strcmp(above, "/") ? above : "", last + 1);
        snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, joined);
    }
}

static int exists(const char *path) {
    struct stat found;
    return path[0] && !lstat(path, &found);
}

static void opening(struct thread *of, int at_folder, unsigned long long address) {
    path_of(of, at_folder, address, of->from);
    of->existed = exists(of->from);
}

static void begins(struct thread *of) {
    const unsigned long long *args = of->args;
    of->from[0] = of->to[0] = 0;
    switch (of->nr) {
#ifdef SYS_open
    case SYS_open:
    case SYS_creat:
        opening(of, AT_FDCWD, args[0]);
        break;
    case SYS_unlink:
    case SYS_rmdir:
    case SYS_mkdir:
        path_of(of, AT_FDCWD, args[0], of->from);
        break;
    case SYS_rename:
    case SYS_link:
        path_of(of, AT_FDCWD, args[0], of->from);
        path_of(of, AT_FDCWD, args[1], of->to);
        break;
    case SYS_symlink:
        path_of(of, AT_FDCWD, args[1], of->from);
        break;
    case SYS_renameat:
#endif
    case SYS_renameat2:
    case SYS_linkat:
        path_of(of, (int)args[0], args[1], of->from);
        path_of(of, (int)args[2], args[3], of->to);
        break;
    case SYS_openat:
    case SYS_openat2:
        opening(of, (int)args[0], args[1]);
        break;
    case SYS_unlinkat:
    case SYS_mkdirat:
        path_of(of, (int)args[0], args[1], of->from);
        break;
    case SYS_symlinkat:
        path_of(of, (int)args[1], args[2], of->from);
        break;
    case SYS_truncate:
        path_of(of, AT_FDCWD, args[0], of->from);
        break;
    }
}

static void opened(const struct thread *of, unsigned long long fd, unsigned long long flags) {
    char link[64];
    struct stat found;
    fd_link(of, fd, link);
    if (!inside(of->from) || stat(link, &found) || !S_ISREG(found.st_mode))
        return;
    if (!of->existed)
        record_paths('c', found.st_ino, of->from, "");
    else if (flags & O_TRUNC)
        record('t', found.st_ino, 0, "", 0, "", 0);
}

/* The written bytes are read back from the file, however they were written. */
static void written(const struct thread *of, unsigned long long fd, long long offset,
                    unsigned long long length) {
    char path[PATH_MAX], link[64];
    struct stat found;
    fd_path(of, fd, path);
    int is_mark = !strcmp(path, marks);
    if (!length || (!is_mark && !inside(path)))
        return;
    fd_link(of, fd, link);
    if (offset < 0) {
        char info[64], line[128];
        snprintf(info, sizeof info, "/proc/%d/fdinfo/%d", of->tid, (int)fd);
        FILE *in = fopen(info, "r");
        if (in && fgets(line, sizeof line, in))
            offset = strtoll(line + strlen("pos:"), NULL, 10) - (long long)length;
        if (in)
            fclose(in);
    }
    char *bytes = malloc(length);
    int file = open(link, O_RDONLY | O_CLOEXEC);
    if (offset < 0 || !bytes || file < 0 || fstat(file, &found)
        || pread(file, bytes, length, offset) != (ssize_t)length)
        record_paths('!', 0, "a write that cannot be read back: ", path);
    else if (is_mark)
        record('a', 0, 0, bytes, length, "", 0);
    else
        record('w', found.st_ino, offset, bytes, length, "", 0);
    if (file >= 0)
        close(file);
    free(bytes);
}

static void of_file(const struct thread *of, char kind, unsigned long long fd,
                    unsigned long long length) {
    char path[PATH_MAX], link[64];
    struct stat found;
    fd_path(of, fd, path);
    fd_link(of, fd, link);
    if (!inside(path) || stat(link, &found))
        return;
    if (S_ISDIR(found.st_mode))
        record_paths('d', 0, path, "");
    else
        record(kind, found.st_ino, length, "", 0, "", 0);
}

static void unknown(const char *what, const char *path) {
    if (inside(path))
        record_paths('!', 0, what, path);
}

static void ends(struct thread *of, long long result) {
    const unsigned long long *args = of->args;
    char path[PATH_MAX];
    if (result < 0)
        return;
    switch (of->nr) {
#ifdef SYS_open
    case SYS_open:
        opened(of, result, args[1]);
        break;
    case SYS_creat:
        opened(of, result, O_TRUNC);
        break;
    case SYS_mkdir:
#endif
    case SYS_mkdirat:
        if (inside(of->from))
            record_paths('m', 0, of->from, "");
        break;
    case SYS_openat:
        opened(of, result, args[2]);
        break;
    case SYS_openat2:
        unknown("openat2 of ", of->from);
        break;
    case SYS_write:
    case SYS_writev:
    case SYS_sendfile:
        written(of, args[0], -1, result);
        break;
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
        written(of, args[0], args[3], result);
        break;
    case SYS_copy_file_range:
    case SYS_splice:
        fd_path(of, args[2], path);
        if (args[3])
            unknown("a copy to an offset of ", path);
        else
            written(of, args[2], -1, result);
        break;
    case SYS_ftruncate:
        of_file(of, 't', args[0], args[1]);
        break;
    case SYS_fallocate:
        fd_path(of, args[0], path);
        unknown("fallocate of ", path);
        break;
    case SYS_truncate:
    case SYS_symlinkat:
#ifdef SYS_open
    case SYS_symlink:
#endif
        unknown("truncate of, or a link named ", of->from);
        break;
    case SYS_fsync:
    case SYS_fdatasync:
        of_file(of, 's', args[0], 0);
        break;
    case SYS_mmap:
        if ((args[3] & MAP_SHARED) && (args[2] & PROT_WRITE)) {
            fd_path(of, args[4], path);
            if (!ends_with(path, "-shm"))
                unknown("memory that is written of ", path);
        }
        break;
#ifdef SYS_open
    case SYS_unlink:
        if (inside(of->from))
            record_paths('u', 0, of->from, "");
        break;
    case SYS_rmdir:
        if (inside(of->from))
            record_paths('x', 0, of->from, "");
        break;
    case SYS_link:
#endif
    case SYS_linkat:
        if (inside(of->from) || inside(of->to))
            record_paths('l', 0, of->from, of->to);
        break;
    case SYS_unlinkat:
        if (inside(of->from))
            record_paths(args[2] & AT_REMOVEDIR ? 'x' : 'u', 0, of->from, "");
        break;
#ifdef SYS_open
    case SYS_rename:
    case SYS_renameat:
#endif
    case SYS_renameat2:
        if (of->nr == SYS_renameat2 && args[4] == RENAME_EXCHANGE)
            unknown("an exchange with ", of->from);
        else if (inside(of->from) || inside(of->to))
            record_paths('r', 0, of->from, of->to);
        break;
    }
}

static struct thread *thread_of(pid_t tid) {
    struct thread *unused = NULL;
    for (int at = 0; at < MAX_THREADS; at++) {
        if (threads[at].tid == tid)
            return &threads[at];
        if (!threads[at].tid && !unused)
            unused = &threads[at];
    }
    if (!unused) {
        fprintf(stderr, "more than %d threads\n", MAX_THREADS);
        exit(2);
    }
    memset(unused, 0, sizeof *unused);
    unused->tid = tid;
    return unused;
}

static void stopped_in_call(struct thread *of) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, of->tid, sizeof info, &info) < 0)
        return;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
        of->nr = info.entry.nr;
        for (int at = 0; at < 6; at++)
            of->args[at] = info.entry.args[at];
        begins(of);
    } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
        ends(of, info.exit.rval);
    }
}

static int watch(pid_t child) {
    int status, code = 2;
    pid_t tid;
    while ((tid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (tid < 0)
            continue;
        struct thread *of = thread_of(tid);
        if (!WIFSTOPPED(status)) {
            of->tid = 0;
            if (tid == child)
                code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int signal = WSTOPSIG(status), pass = 0;
        if (signal == (SIGTRAP | 0x80))
            stopped_in_call(of);
        else if (!(status >> 16) && signal != SIGSTOP && signal != SIGTRAP)
            pass = signal;
        ptrace(PTRACE_SYSCALL, tid, 0, pass);
    }
    return code;
}

int main(int count, char **arguments) {
    if (count < 5) {
        fprintf(stderr, "usage: record_writes LOG FOLDER MARKS PROGRAM [ARGUMENT...]\n");
        return 2;
    }
    out = fopen(arguments[1], "wbe");
    folder = arguments[2];
    marks = arguments[3];
    pid_t child = out ? fork() : -1;
    if (child < 0) {
        perror("record_writes");
        return 2;
    }
    if (!child) {
        if (ptrace(PTRACE_TRACEME, 0, 0, 0)) {
            perror("this system does not let a process be watched");
            _exit(2);
        }
        raise(SIGSTOP);
        execv(arguments[4], arguments + 4);
        perror(arguments[4]);
        _exit(2);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return 2;
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE
                   | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC;
    ptrace(PTRACE_SETOPTIONS, child, 0, options);
    ptrace(PTRACE_SYSCALL, child, 0, 0);
    int code = watch(child);
    return fclose(out) ? 2 : code;
}
