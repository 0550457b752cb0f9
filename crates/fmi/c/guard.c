/* Calls into foreign libraries that may crash, and the one callback of FMI 2.0 that is variadic. */
#include "guarded_step.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where to go on when the call under way in this thread crashes: five words, as the compiler's own jump takes them. It saves
   no registers but the stack's, and costs a few stores where sigsetjmp costs a call. */
__thread void **volatile escape = NULL;
/* The signal that made us jump. */
static __thread volatile sig_atomic_t escaped_by = 0;

const int CAUGHT[CAUGHT_COUNT] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
static struct sigaction previous[CAUGHT_COUNT];
/* Whether a crash that was none of an FMU's was handed to them. */
static volatile sig_atomic_t handed_on[CAUGHT_COUNT];

/* How long the process may take, after a crash, to show that its memory can still be used. */
enum { SECONDS_TO_RECOVER = 10, SECONDS_TO_RECOVER_ALONE = 1 };

/* Whether this process is there for an FMU alone: whoever started it says how it ended. */
static volatile sig_atomic_t single_fmu_process = 0;
/* Whether the program tells us when it ends, so that any other end is not its own. */
static volatile sig_atomic_t tells_its_end = 0;
/* Whether the handlers below are there. */
static volatile sig_atomic_t installed = 0;

void say(const char *text) {
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

/* --- the notebook ------------------------------------------------------------------------------------------------- */

static Notebook own_notebook;
Notebook *volatile notebook = &own_notebook;

__thread CallSlot *slot = NULL;
/* For a thread that finds no slot. */
static __thread CallSlot spare_slot;
static pthread_key_t slot_key;

static void leave_slot(void *taken) {
    ((CallSlot *)taken)->environment = 0;
    __atomic_store_n(&((CallSlot *)taken)->owner, 0, __ATOMIC_RELEASE);
}

__attribute__((noinline, cold)) CallSlot *take_slot(void) {
    uint32_t thread = (uint32_t)syscall(SYS_gettid);
    slot = &spare_slot;
    for (int i = 0; i < SLOTS; i++) {
        uint32_t nobody = 0;
        CallSlot *free = &notebook->slots[i];
        if (__atomic_compare_exchange_n(&free->owner, &nobody, thread, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            slot = free;
            pthread_setspecific(slot_key, free);
            break;
        }
    }
    return slot;
}

/* The calls of this process are noted in this page from now on, which another process may read. Before the first call. */
void dovetail_notebook_use(void *page) {
    notebook = page;
}

/* The environment of an instance has this name from now on; with none it is forgotten. */
void dovetail_notebook_name(void *environment, const char *name, size_t length) {
    if (single_fmu_process) return; /* whoever started it knows whose it is */
    uint64_t known = (uint64_t)(uintptr_t)environment;
    for (int i = 0; i < NAMES; i++) {
        InstanceName *place = &notebook->names[i];
        if (name == NULL) {
            if (place->environment == known) place->environment = 0;
            continue;
        }
        if (place->environment != 0) continue;
        size_t kept = length < sizeof place->name - 1 ? length : sizeof place->name - 1;
        memcpy(place->name, name, kept);
        place->name[kept] = 0;
        place->environment = known;
        return;
    }
}

/* Where the name of a function is listed. It is copied when another one was there; in the rare case that two functions share a
   place and are called in two threads at the same time, one of them bears the other's name. */
static inline uint32_t listed(const char *name, size_t length) {
    static const char *known[LISTED];
    uint32_t place = (uint32_t)((uintptr_t)name >> 3) % LISTED;
    if (__builtin_expect(known[place] != name, 0)) {
        char *room = notebook->functions[place];
        size_t kept = length < LONGEST_NAME - 1 ? length : LONGEST_NAME - 1;
        memcpy(room, name, kept);
        room[kept] = 0;
        known[place] = name;
    }
    return FIRST_LISTED + place;
}

uint32_t listed_function(const char *name, size_t length) {
    return listed(name, length);
}

static const char *function_name(const Notebook *of, uint32_t function) {
    static const char *const FAST[] = {"fmi2SetReal", "fmi2DoStep", "fmi2GetReal", "fmi3SetFloat64", "fmi3DoStep", "fmi3GetFloat64"};
    if (function < FIRST_LISTED) return FAST[function];
    return function < FIRST_LISTED + LISTED ? of->functions[function - FIRST_LISTED] : "an unknown function";
}

void describe_calls(const Notebook *of, char *text, size_t size) {
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < SLOTS && used + 1 < size; i++) {
        const volatile CallSlot *call = &of->slots[i];
        uint64_t environment = call->environment;
        if (environment == 0) continue;
        const char *instance = NULL;
        for (int k = 0; k < NAMES; k++)
            if (of->names[k].environment == environment) instance = of->names[k].name;
        const char *before = used == 0 ? " in" : " or", *function = function_name(of, call->function);
        int length = instance == NULL ? snprintf(text + used, size - used, "%s %.39s", before, function)
                                      : snprintf(text + used, size - used, "%s %.39s of `%.55s`", before, function, instance);
        used += length < 0 ? 0 : (size_t)length;
    }
}

/* The same for the program, of a page that another process has left or of our own. */
size_t dovetail_notebook_describe(const void *page, char *text, size_t size) {
    describe_calls(page == NULL ? notebook : page, text, size);
    return strlen(text);
}

/* The longest call under way: its number, which changes from call to call, in each slot; 0 where there is none. */
void dovetail_notebook_counts(uint64_t *counts) {
    for (int i = 0; i < SLOTS; i++) {
        const volatile CallSlot *call = &notebook->slots[i];
        counts[i] = call->environment == 0 ? 0 : call->count + 1;
    }
}

/* Nobody waits for the call of this number in this slot any more: it is under way no longer, as far as anybody is told. The thread keeps
   its slot. */
void dovetail_notebook_forget(size_t slot, uint64_t count) {
    CallSlot *call = &notebook->slots[slot];
    if (call->count + 1 == count) call->environment = 0;
}

/* --- copies of the process ---------------------------------------------------------------------------------------- */

/* Whether this process is a copy that an FMU has made of ours. */
static volatile sig_atomic_t copied = 0;

static void expect_impossible_words(void);

/* The threads that were calling FMUs are not there in a copy. */
static void free_slots_of_other_threads(void) {
    for (int i = 0; i < SLOTS; i++) {
        CallSlot *other = &own_notebook.slots[i];
        if (other == slot) continue;
        other->environment = 0;
        other->owner = 0;
    }
}

/* A copy that an FMU makes is told by what is looked at after every call anyway. The program itself makes none. Another host may, as
   Python's `multiprocessing` does, and goes on in both. */
static void note_copy(void) {
    renew_surroundings_lock();
    if (escape == NULL && !tells_its_end && !single_fmu_process) {
        free_slots_of_other_threads();
        return;
    }
    copied = 1;
    expect_impossible_words();
}

/* A copy that comes back from the FMU's call would do all that we do a second time. */
static __attribute__((noinline, cold)) void leave_copy(void) {
    _exit(0);
}

/* --- the end of the program --------------------------------------------------------------------------------------- */

void dovetail_guard_single_fmu_process(void) {
    single_fmu_process = 1;
}

/* What is still to be saved when an FMU ends the program. */
static void (*volatile exit_hook)(void) = NULL;

void dovetail_guard_on_exit(void (*save)(void)) {
    exit_hook = save;
}

void save_all(void) {
    void (*save)(void) = exit_hook;
    exit_hook = NULL; /* what crashes while it saves is not asked again */
    if (save != NULL) save();
}

/* What the program advises its users where an FMU ends it. */
static const char *volatile exit_advice = NULL;

void dovetail_guard_exit_advice(const char *advice) {
    exit_advice = advice;
}

const char *advice_after_exit(void) {
    return exit_advice;
}

/* Says that an FMU has ended the program, and how. */
static void say_ended(const char *how) {
    char calls[512];
    describe_calls(notebook, calls, sizeof calls);
    say("error: an FMU ended ");
    say(name_or("the whole program"));
    say(" ");
    say(how);
    say(calls);
    if (exit_advice != NULL) {
        say(". ");
        say(exit_advice);
    }
    say("\n");
}

static void on_alarm(int number);

/* Gives what comes so many seconds. The signal belongs to others until then. */
static void allow(unsigned seconds) {
    signal(SIGALRM, on_alarm);
    alarm(seconds);
}

/* The program tells us from now on when it ends. */
void dovetail_guard_tells_its_end(void) {
    tells_its_end = 1;
}

/* The program ends in order, with this code. What libraries do on their way out has so long. */
void dovetail_guard_ended(int code) {
    notebook->code = code;
    notebook->ended = 1;
    if (installed) allow(SECONDS_TO_RECOVER);
}

void dovetail_leave_at_once(int code) {
    notebook->code = code;
    notebook->ended = 1;
    _exit(code);
}

/* An FMU that calls exit() takes the program with it; at least it is said, and no success is reported. */
static void on_exit_inside(void) {
    if (copied) return; /* a helper of an FMU ends as it likes */
    bool ours = notebook->ended || (escape == NULL && !tells_its_end);
    if (ours || single_fmu_process) return;
    escape = NULL;
    save_all();
    say_ended("by calling exit()");
    dovetail_leave_at_once(1);
}

static void on_alarm(int number) {
    (void)number;
    if (notebook->ended) {
        say("warning: an FMU did not let the program end; its results are complete\n");
        _exit(notebook->code);
    }
    if (single_fmu_process) {
        signal(escaped_by == 0 ? SIGABRT : escaped_by, SIG_DFL);
        raise(escaped_by == 0 ? SIGABRT : escaped_by);
    }
    save_all();
    say("error: an FMU crashed and left the memory of the program unusable, so that it must end at once\n");
    dovetail_leave_at_once(1);
}

/* --- crashes ------------------------------------------------------------------------------------------------------ */

/* Managed languages inside an FMU take faults for messages to themselves: their handlers are asked first. One that is asked again
   and again at the same place does not help. */
enum { MOST_REPEATS = 1000 };

static bool settled_by_foreign_handler(int number, siginfo_t *info, void *context) {
    static __thread volatile sig_atomic_t asked = 0, repeats = 0;
    static __thread void *volatile last = NULL;
    const struct sigaction *foreign = foreign_handler(number);
    if (foreign == NULL || asked || number == SIGABRT) return false;
    repeats = info->si_addr == last ? repeats + 1 : 0;
    last = info->si_addr;
    if (repeats > MOST_REPEATS) return false;
    asked = 1; /* it may hand on to whoever was there before it: to us */
    if (foreign->sa_flags & SA_SIGINFO) foreign->sa_sigaction(number, info, context);
    else foreign->sa_handler(number);
    asked = 0;
    return true;
}

void on_crash(int number, siginfo_t *info, void *context) {
    void **target = escape;
    if (target != NULL) {
        if (settled_by_foreign_handler(number, info, context)) return;
        escape = NULL;
        escaped_by = number;
        allow(single_fmu_process ? SECONDS_TO_RECOVER_ALONE : SECONDS_TO_RECOVER);
        __builtin_longjmp(target, 1);
    }
    if (notebook->ended) {
        say("warning: an FMU crashed when its library was left; the results are complete\n");
        _exit(notebook->code);
    }
    if (!single_fmu_process) {
        allow(SECONDS_TO_RECOVER); /* saving may wait for memory that the crash has left locked */
        save_all();
        alarm(0);
    }
    /* Not ours: whoever caught it before us has it, on the second try; nobody where they hand it back to us. */
    for (int i = 0; i < CAUGHT_COUNT; i++) {
        if (CAUGHT[i] != number) continue;
        if (handed_on[i]) signal(number, SIG_DFL);
        else sigaction(number, &previous[i], NULL);
        handed_on[i] = 1;
    }
    /* A fault happens again when we return; what was raised, and what comes after an instruction, must be raised again. */
    bool again = number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL;
    if (!again || info->si_code <= 0) raise(number);
}

/* A file that may grow no more is an error of the write, not the end of the program. */
void dovetail_ignore_file_limit(void) {
    signal(SIGXFSZ, SIG_IGN);
}

/* Puts our handlers of crashes in place of others, who have crashes that are none of an FMU's. */
static void catch_crashes(void) {
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_crash;
    /* On the alternate stack, which Rust gives every thread: a stack overflow is a crash too. */
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CAUGHT_COUNT; i++) {
        sigaction(CAUGHT[i], &action, &before);
        if (before.sa_sigaction == on_crash) continue;
        previous[i] = before;
        handed_on[i] = 0;
    }
}

static bool any_call_under_way(void) {
    for (int i = 0; i < SLOTS; i++)
        if (((const volatile CallSlot *)&notebook->slots[i])->environment != 0) return true;
    return false;
}

/* Installs the guard, unless it is there. */
void dovetail_guard_install(void) {
    static bool for_good = false;
    if (installed) return;
    catch_crashes();
    if (!for_good) {
        for_good = true;
        pthread_key_create(&slot_key, leave_slot);
        pthread_atfork(NULL, NULL, note_copy);
        atexit(on_exit_inside);
    }
    note_surroundings();
    installed = 1;
}

/* What belongs to the whole process is from now on as the host has made it since. In the program nobody but FMUs changes it; elsewhere it
   is noted when no FMU is being called. */
void dovetail_surroundings_note(void) {
    if (!installed || tells_its_end || single_fmu_process || any_call_under_way()) return;
    catch_crashes();
    note_surroundings();
}

/* Takes the guard away, for a host that has no FMU left. Handlers that others have put in place of ours since are left to them. */
void dovetail_guard_remove(void) {
    if (!installed || tells_its_end || single_fmu_process || any_call_under_way()) return;
    installed = 0;
    struct sigaction now;
    for (int i = 0; i < CAUGHT_COUNT; i++)
        if (sigaction(CAUGHT[i], NULL, &now) == 0 && now.sa_sigaction == on_crash) sigaction(CAUGHT[i], &previous[i], NULL);
    forget_surroundings();
}

/* The memory of the process can still be used after a crash: the alarm is off. */
void dovetail_guard_recovered(void) {
    alarm(0);
}

/* --- guarded calls ------------------------------------------------------------------------------------------------ */

/* The words of the host, which every call begins with: an FMU does not get its own back, so that what it computes does not depend
   on which calls were made before in which thread. */
#if defined(__x86_64__)
uint32_t host_mxcsr = 0x1f80;
static uint16_t host_x87 = 0x037f;

void note_control_words(void) {
    host_mxcsr = __builtin_ia32_stmxcsr() & ~(uint32_t)MXCSR_FLAGS;
    __asm__ volatile("fnstcw %0" : "=m"(host_x87));
}

static inline bool control_words_differ(void) {
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    uint32_t mxcsr = __builtin_ia32_stmxcsr() & ~(uint32_t)MXCSR_FLAGS;
    return mxcsr != host_mxcsr || x87 != host_x87;
}

volatile Watched watched = {{-0x1p-60, 0x1p-60, 0x1p-1074, 0x1p-1074}};

static void expect_impossible_words(void) {
    host_mxcsr = MXCSR_FLAGS;
    for (int i = 0; i < 4; i++) watched.numbers[i] = __builtin_nan("");
}

static void set_control_words(void) {
    /* Flags that are raised are cleared first: with its trap allowed each of them would strike at the next instruction. */
    __asm__ volatile("fnclex");
    __asm__ volatile("fldcw %0" : : "m"(host_x87));
    __builtin_ia32_ldmxcsr(host_mxcsr);
}
#elif defined(__aarch64__)
uint64_t host_fpcr = 0;

void note_control_words(void) { host_fpcr = fpcr(); }
static void expect_impossible_words(void) { host_fpcr = ~(uint64_t)0; }
static inline bool control_words_differ(void) { return fpcr() != host_fpcr; }
static void set_control_words(void) { __asm__ volatile("msr fpcr, %0" : : "r"(host_fpcr)); }
#else
void note_control_words(void) {}
static void expect_impossible_words(void) {}
static inline bool control_words_differ(void) { return false; }
static void set_control_words(void) {}
#endif

/* A callback of an FMU is ours: it has our words, and the FMU goes on with its own. */
void dovetail_callback(void (*body)(void *), void *context) {
#if defined(__x86_64__)
    uint32_t mxcsr = __builtin_ia32_stmxcsr();
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    set_control_words();
    body(context);
    __asm__ volatile("fldcw %0" : : "m"(x87));
    __builtin_ia32_ldmxcsr(mxcsr);
#elif defined(__aarch64__)
    uint64_t theirs = fpcr();
    set_control_words();
    body(context);
    __asm__ volatile("msr fpcr, %0" : : "r"(theirs));
#else
    body(context);
#endif
}

__attribute__((noinline, cold)) void put_back_control_words(uint64_t environment) {
    if (copied) leave_copy();
    set_control_words();
    report_change(environment, CHANGED_FLOATING_POINT);
}

static inline void end_call(CallSlot *mine) {
    escape = NULL;
    if (__builtin_expect(control_words_differ(), 0)) put_back_control_words(mine->environment);
    mine->environment = 0;
}

/* The same after a step of a plain FMU, of which some are timed and so looked at in full. */
static __attribute__((noinline, cold)) int end_disturbed_step(int answer) {
    put_back_control_words(slot->environment);
    slot->environment = 0;
    return answer;
}

static inline int end_step(int answer) {
    escape = NULL;
    if (__builtin_expect(control_word_differs(), 0)) return end_disturbed_step(answer);
    slot->environment = 0;
    return answer;
}

/* Comes back from a crash; the signal. */
__attribute__((noinline, cold)) int crashed(void) {
    my_slot()->environment = 0;
    set_control_words();
    return escaped_by;
}

/* The environment of the instance that is being called in this thread; none if no call is under way. */
void *dovetail_guard_caller(void) {
    return escape == NULL ? NULL : (void *)(uintptr_t)my_slot()->environment;
}

/* Calls body(context), the function of this name of the instance with this environment. Returns 0, or the signal that ended it. */
__attribute__((noinline)) int dovetail_guard(void (*body)(void *), void *context, void *environment, const char *name,
                                             size_t length) {
    void *here[5];
    if (__builtin_setjmp(here) == 0) {
        CallSlot *mine = my_slot();
        mine->function = listed(name, length);
        begin_call(mine, environment, here);
        body(context);
        end_call(mine);
        return 0;
    }
    /* Nothing of the frame but what is thread-local may be relied on here. */
    return crashed();
}

/* The length of a text of an FMU, at most `most`; -1 where it cannot be read. Also inside of a guarded call, and in threads of
   an FMU. */
__attribute__((noinline)) ptrdiff_t dovetail_guard_length(const char *text, size_t most) {
    void *here[5];
    void **volatile outer = escape;
    if (__builtin_setjmp(here) != 0) {
        alarm(0);
        escape = outer;
        return -1;
    }
    escape = here;
    ptrdiff_t length = (ptrdiff_t)strnlen(text, most);
    escape = outer;
    return length;
}

/* Copies bytes of an FMU; -1 where they cannot be read. Also inside of a guarded call, and in threads of an FMU. */
__attribute__((noinline)) int dovetail_guard_copy(const void *bytes, size_t size, void *copy) {
    void *here[5];
    void **volatile outer = escape;
    if (__builtin_setjmp(here) != 0) {
        alarm(0);
        escape = outer;
        return -1;
    }
    escape = here;
    memcpy(copy, bytes, size);
    escape = outer;
    return 0;
}

/* Loads a library, whose constructors may do anything. Returns 0, or the signal that ended it; without a handle `error` says why. */
__attribute__((noinline)) int dovetail_guard_open(const char *file, void *environment, void **handle, char *error, size_t size) {
    void *here[5];
    if (__builtin_setjmp(here) != 0) return crashed();
    CallSlot *mine = my_slot();
    static const char CONSTRUCTORS[] = "the constructors of its library";
    mine->function = listed(CONSTRUCTORS, sizeof CONSTRUCTORS - 1);
    begin_call(mine, environment, here);
    /* A crash leaves the loader locked: a process that can be spared dies of it. */
    if (single_fmu_process) escape = NULL;
    *handle = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    if (*handle == NULL) {
        const char *why = dlerror();
        snprintf(error, size, "%s", why == NULL ? "no reason is given" : why);
    }
    end_call(mine);
    return 0;
}

__attribute__((noinline, cold)) int crashed_in_step(void) {
    int where = (int)my_slot()->function % CALLS_OF_A_STEP;
    return 16 * crashed() + IN_CRASH + where;
}

/* Returns 16 times the status, or the signal, plus which call it came from. */
__attribute__((noinline)) int dovetail_step2(Request *request) {
    void *here[5];
    if (__builtin_setjmp(here) != 0) return crashed_in_step();
    CallSlot *mine = my_slot();
    begin_call(mine, request->environment, here);
    const Step step = {request->time, request->time + request->size, request->size};
    return end_step(make_step2(request, mine, &step, request->input_values, request->output_values, NULL));
}

__attribute__((noinline)) int dovetail_step3(Request *request) {
    void *here[5];
    if (__builtin_setjmp(here) != 0) return crashed_in_step();
    CallSlot *mine = my_slot();
    begin_call(mine, request->environment, here);
    const Step step = {request->time, request->last, request->size};
    return end_step(make_step3(request, mine, &step, request->input_values, request->output_values, NULL));
}

/* --- messages of FMI 2.0 ------------------------------------------------------------------------------------------ */

/* Formats a log message of FMI 2.0 and hands it on. */
typedef void (*MessageSink)(void *environment, int status, const char *category, const char *message);
static MessageSink message_sink = NULL;

void dovetail_log_sink(MessageSink sink) {
    message_sink = sink;
}

/* Formats what an FMU gives us, which may be anything, also in a thread of its own. */
static __attribute__((noinline)) bool format_safely(char *text, size_t size, const char *format, va_list arguments) {
    void *here[5];
    void **volatile outer = escape;
    if (__builtin_setjmp(here) != 0) {
        alarm(0);
        escape = outer;
        return false;
    }
    escape = here;
    vsnprintf(text, size, format, arguments);
    escape = outer;
    return true;
}

void dovetail_fmi2_logger(void *environment, const char *instance, int status, const char *category, const char *format, ...) {
    (void)instance;
    if (message_sink == NULL || format == NULL) {
        return;
    }
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    bool formatted = format_safely(text, sizeof text, format, arguments);
    va_end(arguments);
    message_sink(environment, status, category, formatted ? text : "a message that cannot be read");
}
