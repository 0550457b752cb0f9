/* Calls into foreign libraries that may crash, and the one callback of FMI 2.0 that is variadic. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where to go on when the call under way in this thread crashes: five words, as the compiler's own jump takes them. It saves
   no registers but the stack's, and costs a few stores where sigsetjmp costs a call. */
static __thread void **volatile escape = NULL;
/* The environment of the instance whose function is being called in this thread. */
static __thread void *volatile caller = NULL;
/* The signal that made us jump. */
static __thread volatile sig_atomic_t escaped_by = 0;

static const int CAUGHT[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CAUGHT_COUNT = sizeof CAUGHT / sizeof CAUGHT[0] };
static struct sigaction previous[CAUGHT_COUNT];

/* How long the process may take, after a crash, to show that its memory can still be used. */
enum { SECONDS_TO_RECOVER = 10 };

static void say(const char *text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

static void on_alarm(int number) {
    (void)number;
    say("error: an FMU crashed and left the memory of the program unusable, so that it must end at once\n");
    _exit(1);
}

static void on_crash(int number, siginfo_t *info, void *context) {
    (void)info;
    (void)context;
    void **target = escape;
    if (target != NULL) {
        escape = NULL;
        escaped_by = number;
        signal(SIGALRM, on_alarm);
        alarm(SECONDS_TO_RECOVER);
        __builtin_longjmp(target, 1);
    }
    /* Not ours: whoever caught it before us has it, on the second try. */
    for (int i = 0; i < CAUGHT_COUNT; i++) {
        if (CAUGHT[i] == number) {
            sigaction(number, &previous[i], NULL);
        }
    }
    /* A fault happens again when we return; what was raised must be raised again. */
    if (number == SIGABRT) raise(number);
}

/* Whether this process is there for an FMU alone: whoever started it says how it ended. */
static volatile sig_atomic_t single_fmu_process = 0;

void dovetail_guard_single_fmu_process(void) {
    single_fmu_process = 1;
}

/* What is still to be saved when an FMU ends the program. */
static void (*volatile exit_hook)(void) = NULL;

void dovetail_guard_on_exit(void (*save)(void)) {
    exit_hook = save;
}

/* What the program advises its users where an FMU ends it. */
static const char *volatile exit_advice = NULL;

void dovetail_guard_exit_advice(const char *advice) {
    exit_advice = advice;
}

/* An FMU that calls exit() takes the program with it; at least it is said, and no success is reported. */
static void on_exit_inside(void) {
    if (escape != NULL && !single_fmu_process) {
        escape = NULL;
        if (exit_hook != NULL) exit_hook();
        say("error: an FMU ended the whole program by calling exit()");
        const char *advice = exit_advice;
        if (advice != NULL) {
            say(". ");
            say(advice);
        }
        say("\n");
        _exit(1);
    }
}

/* Installs the guard, once per process. */
void dovetail_guard_install(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_crash;
    /* On the alternate stack, which Rust gives every thread: a stack overflow is a crash too. */
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT_COUNT; i++) {
        sigaction(CAUGHT[i], &action, &previous[i]);
    }
    atexit(on_exit_inside);
}

/* The environment of the instance that is being called in this thread; none if no call is under way. */
void *dovetail_guard_caller(void) {
    return escape == NULL ? NULL : caller;
}

/* Calls body(context), a function of the instance with this environment. Returns 0, or the signal that ended it. */
__attribute__((noinline)) int dovetail_guard(void (*body)(void *), void *context, void *environment) {
    void *here[5];
    if (__builtin_setjmp(here) == 0) {
        caller = environment;
        escape = here;
        body(context);
        escape = NULL;
        return 0;
    }
    /* Nothing of the frame but what is thread-local may be relied on here. */
    return escaped_by;
}

/* The three calls of an ordinary communication step behind one guard: for a light unit even a closure would be felt. */
typedef struct {
    void *component;
    void *environment;
    const unsigned *inputs;
    size_t input_count;
    const double *input_values;
    const unsigned *outputs;
    size_t output_count;
    double *output_values;
    size_t output_value_count;
    size_t input_value_count;
    double time;
    double size;
    bool final;
    /* What 3.0 answers beside its status. */
    uint8_t event;
    uint8_t terminate;
    uint8_t early;
    double last;
} Request;

/* Which call ended a step. */
enum { IN_SET = 0, IN_STEP = 1, IN_GET = 2, IN_CRASH = 3 };

typedef int (*Set2)(void *, const unsigned *, size_t, const double *);
typedef int (*Step2)(void *, double, double, int);
typedef int (*Get2)(void *, const unsigned *, size_t, double *);

/* Returns 16 times the status, or the signal, plus which call it came from. */
__attribute__((noinline)) int dovetail_step2(Request *request, Set2 set, Step2 step, Get2 get) {
    void *here[5];
    if (__builtin_setjmp(here) != 0) return 16 * escaped_by + IN_CRASH;
    caller = request->environment;
    escape = here;
    int status = 0, where = IN_SET;
    if (request->input_count > 0) status = set(request->component, request->inputs, request->input_count, request->input_values);
    if (status <= 1) {
        where = IN_STEP;
        status = step(request->component, request->time, request->size, request->final);
    }
    if (status <= 1 && where == IN_STEP && request->output_count > 0) {
        where = IN_GET;
        status = get(request->component, request->outputs, request->output_count, request->output_values);
    }
    escape = NULL;
    return 16 * status + where;
}

typedef int (*Set3)(void *, const unsigned *, size_t, const double *, size_t);
typedef int (*Step3)(void *, double, double, bool, uint8_t *, uint8_t *, uint8_t *, double *);
typedef int (*Get3)(void *, const unsigned *, size_t, double *, size_t);

__attribute__((noinline)) int dovetail_step3(Request *request, Set3 set, Step3 step, Get3 get) {
    void *here[5];
    if (__builtin_setjmp(here) != 0) return 16 * escaped_by + IN_CRASH;
    caller = request->environment;
    escape = here;
    int status = 0, where = IN_SET;
    if (request->input_count > 0) {
        status = set(request->component, request->inputs, request->input_count, request->input_values, request->input_value_count);
    }
    if (status <= 1) {
        where = IN_STEP;
        status = step(request->component, request->time, request->size, request->final, &request->event, &request->terminate,
                      &request->early, &request->last);
    }
    if (status <= 1 && where == IN_STEP && request->output_count > 0) {
        where = IN_GET;
        status = get(request->component, request->outputs, request->output_count, request->output_values, request->output_value_count);
    }
    escape = NULL;
    return 16 * status + where;
}

/* The memory of the process can still be used after a crash: the alarm is off. */
void dovetail_guard_recovered(void) {
    alarm(0);
}

/* Formats a log message of FMI 2.0 and hands it on. */
typedef void (*MessageSink)(void *environment, int status, const char *category, const char *message);
static MessageSink message_sink = NULL;

void dovetail_log_sink(MessageSink sink) {
    message_sink = sink;
}

void dovetail_fmi2_logger(void *environment, const char *instance, int status, const char *category, const char *format, ...) {
    (void)instance;
    if (message_sink == NULL || format == NULL) {
        return;
    }
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    message_sink(environment, status, category, text);
}
