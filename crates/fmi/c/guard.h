/* What the parts of the guard share. */
#ifndef DOVETAIL_GUARD_H
#define DOVETAIL_GUARD_H

#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- the notebook: which functions of FMUs are being called ------------------------------------------------------- */

/* Functions that are called too often for their names to be looked up each time; the others follow them. */
enum { SET_REAL = 0, DO_STEP_2 = 1, GET_REAL = 2, SET_FLOAT64 = 3, DO_STEP_3 = 4, GET_FLOAT64 = 5, FIRST_LISTED = 6 };

/* The call under way in a thread. Another process may read it after this one has come to its end. */
typedef struct {
    /* The thread that has this slot; 0 for none. */
    uint32_t owner;
    /* One of the functions above, or one of the list. */
    uint32_t function;
    /* The environment of the instance that is called; 0 while none is. */
    uint64_t environment;
    /* How many calls were made. */
    uint64_t count;
} CallSlot;

/* The name of an instance, by its environment. */
typedef struct {
    volatile uint64_t environment;
    char name[56];
} InstanceName;

enum { SLOTS = 16, LISTED = 64, LONGEST_NAME = 40, NAMES = 16 };

/* One page. */
typedef struct {
    /* Whether the program has come to its end in order, and its exit code. */
    volatile uint32_t ended;
    volatile int32_t code;
    uint64_t unused[15];
    CallSlot slots[SLOTS];
    char functions[LISTED][LONGEST_NAME];
    InstanceName names[NAMES];
} Notebook;

_Static_assert(sizeof(CallSlot) == 24 && sizeof(InstanceName) == 64 && sizeof(Notebook) <= 4096, "a page");

extern Notebook *volatile notebook;

/* Describes the calls under way, such as " in fmi2DoStep of `tank`"; empty where there are none. */
void describe_calls(const Notebook *of, char *text, size_t size);

/* --- what an FMU changes ------------------------------------------------------------------------------------------ */

enum { CHANGED_FLOATING_POINT = 1, CHANGED_FOLDER = 2, CHANGED_UMASK = 4, CHANGED_LOCALE = 8, CHANGED_SIGNALS = 16 };

/* Tells the program what the FMU of this environment has changed. */
void report_change(uint64_t environment, int what);

/* Notes how things are while no FMU is being called. */
void note_surroundings(void);

/* Frees what was noted. */
void forget_surroundings(void);

/* In a copy of the process: the thread that was noting or putting back is not there. */
void renew_surroundings_lock(void);

/* The handler that an FMU has put in place of ours, if it has. */
const struct sigaction *foreign_handler(int number);

/* Signals that tell of a crash. */
extern const int CAUGHT[];
enum { CAUGHT_COUNT = 7 };
void on_crash(int number, siginfo_t *info, void *context);

/* Saves what is to be saved before the program ends. */
void save_all(void);

/* What this process is called where there are several, or else this. */
const char *name_or(const char *usual);

/* Writes to standard error, with nothing that could wait or allocate. */
void say(const char *text);

#endif
