/* What belongs to the whole process, and an FMU may change: it is put back. */
#include "guard.h"
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void note_control_words(void);

/* Signals by which the program is asked to end, and waits for its children. */
static const int HEARD[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGXFSZ};
enum { HEARD_COUNT = sizeof HEARD / sizeof HEARD[0] };

static int home = -1;
static struct stat home_folder;
static mode_t home_umask;
static char *home_locale = NULL;
static struct sigaction heard[HEARD_COUNT], caught[CAUGHT_COUNT];
/* What an FMU has put in place of our handlers of crashes. */
static struct sigaction foreign[CAUGHT_COUNT];
static bool has_foreign[CAUGHT_COUNT];

typedef void (*ChangeSink)(void *environment, int what);
static ChangeSink change_sink = NULL;

void dovetail_change_sink(ChangeSink sink) {
    change_sink = sink;
}

void report_change(uint64_t environment, int what) {
    if (change_sink != NULL) change_sink((void *)(uintptr_t)environment, what);
}

static bool is_home(void) {
    struct stat now;
    return stat(".", &now) == 0 && now.st_dev == home_folder.st_dev && now.st_ino == home_folder.st_ino;
}

static bool differ(const struct sigaction *one, const struct sigaction *other) {
    return one->sa_sigaction != other->sa_sigaction;
}

/* Threads note and put back one after the other. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void renew_surroundings_lock(void) {
    pthread_mutex_init(&lock, NULL);
}

static void note_folder(void) {
    if (home >= 0 && is_home()) return;
    if (home >= 0) close(home);
    home = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (home < 0 || fstat(home, &home_folder) == 0) return;
    close(home);
    home = -1;
}

static void note_locale(void) {
    const char *now = setlocale(LC_ALL, NULL);
    if (now == NULL || (home_locale != NULL && strcmp(now, home_locale) == 0)) return;
    free(home_locale);
    home_locale = strdup(now);
}

void note_surroundings(void) {
    pthread_mutex_lock(&lock);
    note_control_words();
    note_folder();
    home_umask = umask(0);
    umask(home_umask);
    note_locale();
    for (int i = 0; i < HEARD_COUNT; i++) sigaction(HEARD[i], NULL, &heard[i]);
    for (int i = 0; i < CAUGHT_COUNT; i++) sigaction(CAUGHT[i], NULL, &caught[i]);
    pthread_mutex_unlock(&lock);
}

void forget_surroundings(void) {
    pthread_mutex_lock(&lock);
    if (home >= 0) close(home);
    home = -1;
    free(home_locale);
    home_locale = NULL;
    memset(has_foreign, 0, sizeof has_foreign);
    pthread_mutex_unlock(&lock);
}

const struct sigaction *foreign_handler(int number) {
    for (int i = 0; i < CAUGHT_COUNT; i++)
        if (CAUGHT[i] == number && has_foreign[i]) return &foreign[i];
    return NULL;
}

static int put_back_signals(void) {
    int changed = 0;
    struct sigaction now;
    for (int i = 0; i < HEARD_COUNT; i++) {
        if (sigaction(HEARD[i], NULL, &now) != 0 || !differ(&now, &heard[i])) continue;
        sigaction(HEARD[i], &heard[i], NULL);
        changed = CHANGED_SIGNALS;
    }
    for (int i = 0; i < CAUGHT_COUNT; i++) {
        if (sigaction(CAUGHT[i], NULL, &now) != 0 || !differ(&now, &caught[i])) continue;
        has_foreign[i] = (now.sa_flags & SA_SIGINFO) || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
        foreign[i] = now;
        sigaction(CAUGHT[i], &caught[i], NULL);
        changed = CHANGED_SIGNALS;
    }
    return changed;
}

/* Puts back what can be put back from any thread, at any time; what was changed. */
static int put_back_process(void) {
    int changed = put_back_signals();
    if (home >= 0 && !is_home() && fchdir(home) == 0) changed |= CHANGED_FOLDER;
    if (umask(home_umask) != home_umask) changed |= CHANGED_UMASK;
    return changed;
}

/* Puts back all of it, after calls of the instance with this environment in this thread. */
void dovetail_surroundings_put_back(void *environment) {
    pthread_mutex_lock(&lock);
    int changed = put_back_process();
    const char *now = setlocale(LC_ALL, NULL);
    if (home_locale != NULL && now != NULL && strcmp(now, home_locale) != 0) {
        setlocale(LC_ALL, home_locale);
        changed |= CHANGED_LOCALE;
    }
    pthread_mutex_unlock(&lock);
    /* A fault whose signal is blocked ends the program without a word. */
    sigset_t ours;
    sigemptyset(&ours);
    for (int i = 0; i < CAUGHT_COUNT; i++) sigaddset(&ours, CAUGHT[i]);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    if (changed != 0) report_change((uint64_t)(uintptr_t)environment, changed);
}

/* The same now and then, while FMUs may be called in other threads. */
void dovetail_surroundings_put_back_now(void) {
    pthread_mutex_lock(&lock);
    int changed = put_back_process();
    pthread_mutex_unlock(&lock);
    if (changed != 0) report_change(0, changed);
}
