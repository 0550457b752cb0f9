/* A parent that sees how the program ends: a process that an FMU has ended cannot say so itself. */
#include "guard.h"
#include <poll.h>
#include <stdio.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *advice_after_exit(void);
void dovetail_guard_tells_its_end(void);

static volatile pid_t child = 0;

/* What is sent to the parent is meant for the program. A terminal sends it to both. */
static void pass_on(int number, siginfo_t *info, void *context) {
    (void)context;
    if (child > 0 && info->si_code <= 0) kill(child, number);
}

static void wake(int number) { (void)number; }

static void listen_for(int number, void (*handler)(int, siginfo_t *, void *)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* Whether the process runs another program than ours. */
static bool runs_another_program(pid_t process) {
    char path[64], theirs[4096], ours[4096];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
    ssize_t length = readlink(path, theirs, sizeof theirs), own = readlink("/proc/self/exe", ours, sizeof ours);
    return length > 0 && own > 0 && (length != own || memcmp(theirs, ours, (size_t)own) != 0);
}

/* Waits for the end of the child, or of our program in it. The pipe is closed by either. */
static int wait_for_end(int pipe_end, bool *replaced) {
    int status = 0;
    struct pollfd closed = {.fd = pipe_end, .events = 0};
    for (;;) {
        if (waitpid(child, &status, WNOHANG) == child) return status;
        int news = poll(&closed, 1, 200);
        if (news <= 0 || closed.fd < 0) continue;
        closed.fd = -1;
        if (!runs_another_program(child)) continue;
        *replaced = true;
        kill(child, SIGKILL);
    }
}

static const char *signal_words(int number) {
    switch (number) {
    case SIGSEGV: return " (segmentation fault)";
    case SIGABRT: return " (abort)";
    case SIGFPE: return " (arithmetic exception)";
    case SIGKILL: return " (killed, perhaps for want of memory)";
    case SIGBUS: return " (bus error)";
    case SIGILL: return " (illegal instruction)";
    case SIGTRAP: return " (trap)";
    case SIGSYS: return " (forbidden call of the system)";
    default: return "";
    }
}

/* --- rows that the program did not come to write ------------------------------------------------------------------ */

/* Lines on their way to a file, in memory that the parent shares. */
typedef struct {
    char path[4096];
    /* The length of the file before these lines. */
    volatile uint64_t file_length;
    volatile uint64_t length;
    char lines[1 << 18];
} Rest;

static Rest *rest = NULL;

/* From now on lines for this file are on their way; whether there is room for them. */
bool dovetail_rest_begin(const char *path) {
    if (rest == NULL || strlen(path) >= sizeof rest->path) return false;
    rest->length = rest->file_length = 0;
    strcpy(rest->path, path);
    return true;
}

/* More of them. */
void dovetail_rest_add(const char *lines, size_t length) {
    uint64_t used = rest->length;
    if (length > sizeof rest->lines - used) return; /* it is written soon */
    memcpy(rest->lines + used, lines, length);
    rest->length = used + length;
}

/* Those up to here have been written, and the file is so long now. */
void dovetail_rest_written(size_t length, uint64_t file_length) {
    uint64_t left = length < rest->length ? rest->length - length : 0;
    rest->length = 0;
    rest->file_length = file_length;
    memmove(rest->lines, rest->lines + length, left);
    rest->length = left;
}

/* All of them have. */
void dovetail_rest_end(void) {
    rest->path[0] = 0;
    rest->length = 0;
}

/* Writes the whole lines that the program did not come to write. */
static void write_rest(void) {
    if (rest == NULL || rest->path[0] == 0 || rest->length > sizeof rest->lines) return;
    uint64_t length = rest->length;
    while (length > 0 && rest->lines[length - 1] != '\n') length--;
    int file = open(rest->path, O_WRONLY | O_CLOEXEC);
    struct stat found;
    /* It may have been killed between writing lines and saying so. */
    if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) && (uint64_t)found.st_size == rest->file_length) {
        ssize_t written = pwrite(file, rest->lines, length, found.st_size);
        (void)written;
    }
    if (file >= 0) close(file);
}

/* --- helpers of FMUs ---------------------------------------------------------------------------------------------- */

/* Sends a signal to what is left of the program's children: their parent is gone, and they have become ours. How many there are. */
static int signal_helpers(int number) {
    int count = 0;
#ifdef __linux__
    char path[64], list[65536];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, list, sizeof list - 1);
    if (file >= 0) close(file);
    list[length < 0 ? 0 : length] = 0;
    char *rest_of_list = list;
    for (char *pid = strtok_r(list, " ", &rest_of_list); pid != NULL; pid = strtok_r(NULL, " ", &rest_of_list)) {
        count += kill((pid_t)atoi(pid), number) == 0;
    }
#else
    (void)number;
#endif
    return count;
}

/* Ends them: in order, if they are quick. */
static void end_helpers(void) {
    for (int round = 0; round < 50; round++) {
        while (waitpid(-1, NULL, WNOHANG) > 0) {}
        if (signal_helpers(round == 0 ? SIGTERM : round < 49 ? 0 : SIGKILL) == 0) return;
        usleep(10000);
    }
}

/* What the program is called where there are several, in memory that the parent shares; empty: it is the program. */
static char *process_name = NULL;
enum { LONGEST_PROCESS_NAME = 512 };

void dovetail_name_process(const char *name, size_t length) {
    if (process_name == NULL) return;
    size_t kept = length < LONGEST_PROCESS_NAME - 1 ? length : LONGEST_PROCESS_NAME - 1;
    process_name[0] = 0; /* the parent may look at any time */
    memcpy(process_name + 1, name + (kept > 0), kept > 0 ? kept - 1 : 0);
    process_name[kept] = 0;
    if (kept > 0) process_name[0] = name[0];
}

const char *name_or(const char *usual) {
    return process_name == NULL || process_name[0] == 0 ? usual : process_name;
}

/* Says how the program ended that did not end in order. */
static void say_how(int status, bool replaced) {
    char calls[512], text[2048];
    describe_calls(notebook, calls, sizeof calls);
    const char *advice = advice_after_exit();
    if (advice == NULL) advice = "";
    if (replaced) {
        snprintf(text, sizeof text, "error: an FMU put another program in place of %s%s. %s\n", name_or("this one"), calls, advice);
    } else if (WIFSIGNALED(status)) {
        int number = WTERMSIG(status);
        snprintf(text, sizeof text, "error: %s was killed by signal %d%s%s. %s\n", name_or("the program"), number,
                 signal_words(number), calls, advice);
    } else {
        snprintf(text, sizeof text, "error: an FMU ended %s with exit code %d%s. %s\n", name_or("the whole program"),
                 WEXITSTATUS(status), calls, advice);
    }
    say(text);
}

/* Ends as the child did. */
static void end_like(int status, bool replaced) {
    bool orderly = notebook->ended;
    end_helpers();
    if (orderly) {
        if (replaced || WIFSIGNALED(status)) {
            say("warning: an FMU did harm when its library was left; the results are complete\n");
        }
        _exit(notebook->code);
    }
    write_rest();
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool asked = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    if (asked && !replaced) {
        signal(number, SIG_DFL);
        raise(number);
    }
    say_how(status, replaced);
    _exit(1);
}

/* From here on the program is a child of itself: the parent waits, and says how it ended where it cannot say so. Must be called
   before there are threads. */
void dovetail_supervise(void) {
    Notebook *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int ends[2];
    if (shared == MAP_FAILED) return;
    void *lines = mmap(NULL, sizeof *rest, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (lines != MAP_FAILED) rest = lines;
    void *name = mmap(NULL, LONGEST_PROCESS_NAME, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (name != MAP_FAILED) process_name = name;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        munmap(shared, sizeof *shared);
        return;
    }
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
#endif
    notebook = shared;
    dovetail_guard_tells_its_end();
    pid_t parent = getpid();
    pid_t made = fork();
    if (made == 0) {
#ifdef __linux__
        prctl(PR_SET_CHILD_SUBREAPER, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
#endif
        close(ends[0]);
        return;
    }
    close(ends[1]);
    if (made < 0) { /* there is no process to be had: the program does without a parent */
        close(ends[0]);
        return;
    }
    child = made;
    static const int PASSED_ON[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    for (size_t i = 0; i < sizeof PASSED_ON / sizeof PASSED_ON[0]; i++) listen_for(PASSED_ON[i], pass_on);
    signal(SIGCHLD, wake);
    bool replaced = false;
    int status = wait_for_end(ends[0], &replaced);
    end_like(status, replaced);
}
