/* Makes calls of the C library fail: allocations, reads and writes. This library is loaded before the C library, with
 * LD_PRELOAD. It does nothing until injected.py arms it: Python then sets the variables below through ctypes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* Calls of this kind fail, from number first_failing to number last_failing, counted from 1; if 0, none fails. */
volatile long first_failing = 0, last_failing = 0;
volatile long calls = 0, failures = 0;
enum { NOTHING, ALLOCATIONS, READS, WRITES };
volatile long kind = NOTHING;

static int fails(void) {
    long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (number < first_failing || number > last_failing)
        return 0;
    __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
    return 1;
}

/* ---- allocations ------------------------------------------------------------------------------------------------- */

/* The address ranges of the code whose allocations count; without a range, all allocations count. */
enum { MOST_RANGES = 128 };
volatile long n_ranges = 0;
uintptr_t code_begin[MOST_RANGES], code_end[MOST_RANGES];

static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);

/* Memory for the allocations that dlsym makes before it has found the next malloc; it is never freed. */
static char early_memory[1 << 16] __attribute__((aligned(16)));
static size_t early_used;

static void *early_allocation(size_t size) {
    void *block = early_memory + early_used;
    early_used += (size + 15) / 16 * 16;
    return early_used <= sizeof early_memory ? block : NULL;
}

static int ready(void) {
    static int looking;
    if (next_realloc == NULL && !looking) {
        looking = 1;
        next_malloc = dlsym(RTLD_NEXT, "malloc");
        next_calloc = dlsym(RTLD_NEXT, "calloc");
        next_realloc = dlsym(RTLD_NEXT, "realloc");
    }
    return next_realloc != NULL;
}

static int allocation_fails(const void *caller) {
    long i;
    if (kind != ALLOCATIONS)
        return 0;
    for (i = 0; i < n_ranges; i++)
        if (code_begin[i] <= (uintptr_t)caller && (uintptr_t)caller < code_end[i])
            break;
    if ((n_ranges && i == n_ranges) || !fails())
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) {
    if (!ready())
        return early_allocation(size);
    return allocation_fails(__builtin_return_address(0)) ? NULL : next_malloc(size);
}

void *calloc(size_t n, size_t size) {
    if (!ready())
        return early_allocation(n * size);
    return allocation_fails(__builtin_return_address(0)) ? NULL : next_calloc(n, size);
}

void *realloc(void *block, size_t size) {
    if (!ready())
        return early_allocation(size);
    return allocation_fails(__builtin_return_address(0)) ? NULL : next_realloc(block, size);
}

/* ---- input and output -------------------------------------------------------------------------------------------- */

/* Only files with paths that begin with this text count; if it is empty, no file does. */
char place[PATH_MAX] = "";
/* The errno of a failed call. If negative, a read or write transfers at most that many bytes instead of failing. */
volatile long error_number = EIO;

static int named(const char *path) {
    return place[0] && strncmp(path, place, strlen(place)) == 0;
}

static int open_file_is_named(int file) {
    char link[64], path[PATH_MAX];
    ssize_t n;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return 0;
    path[n] = 0;
    return named(path);
}

static int call_fails(long of_kind, int is_named) {
    if (kind != of_kind || !is_named || !fails())
        return 0;
    if (error_number > 0)
        errno = (int)error_number;
    return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Returns whether a read or write fails. Reduces *size if the transfer is to be short instead. */
static int transfer_fails(long of_kind, int file, size_t *size) {
    if (kind != of_kind || !call_fails(of_kind, open_file_is_named(file)))
        return 0;
    if (error_number < 0 && *size > (size_t)-error_number)
        *size = (size_t)-error_number;
    return error_number > 0;
}

ssize_t read(int file, void *buffer, size_t size) {
    return transfer_fails(READS, file, &size) ? -1 : NEXT(read)(file, buffer, size);
}

ssize_t pread64(int file, void *buffer, size_t size, off64_t offset) {
    return transfer_fails(READS, file, &size) ? -1 : NEXT(pread64)(file, buffer, size, offset);
}

ssize_t pread(int file, void *buffer, size_t size, off_t offset) {
    return pread64(file, buffer, size, offset);
}

ssize_t write(int file, const void *bytes, size_t size) {
    return transfer_fails(WRITES, file, &size) ? -1 : NEXT(write)(file, bytes, size);
}

/* Calls that change a folder or a file count as writes, but cannot be short. */
static int change_fails(int is_named) {
    return error_number > 0 && call_fails(WRITES, is_named);
}

static int opened(const char *path, int flags, int mode) {
    if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) && change_fails(named(path)))
        return -1;
    return openat(AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return opened(path, flags, mode);
}

int fsync(int file) {
    return kind == WRITES && change_fails(open_file_is_named(file)) ? -1 : NEXT(fsync)(file);
}

int rename(const char *from, const char *to) {
    return change_fails(named(to)) ? -1 : NEXT(rename)(from, to);
}

int mkdir(const char *path, mode_t mode) {
    return change_fails(named(path)) ? -1 : NEXT(mkdir)(path, mode);
}

int chmod(const char *path, mode_t mode) {
    return change_fails(named(path)) ? -1 : NEXT(chmod)(path, mode);
}
