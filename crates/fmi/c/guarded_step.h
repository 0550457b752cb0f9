/* The three calls of a communication step of a plain FMU, and what guards them: for a light FMU even a function call would be felt. */
#ifndef DOVETAIL_GUARDED_STEP_H
#define DOVETAIL_GUARDED_STEP_H

#include "guard.h"
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define HIDDEN __attribute__((visibility("hidden")))

/* --- the guard of this thread -------------------------------------------------------------------------------------- */

/* Where to go on when the call under way in this thread crashes; none while no call is. */
extern HIDDEN __thread void **volatile escape;
/* Where this thread notes its calls. */
extern HIDDEN __thread CallSlot *slot;
HIDDEN CallSlot *take_slot(void);

static inline CallSlot *my_slot(void) {
    CallSlot *mine = slot;
    return __builtin_expect(mine != NULL, 1) ? mine : take_slot();
}

static inline void begin_call(CallSlot *mine, void *environment, void **here) {
    *(volatile uint64_t *)&mine->environment = (uint64_t)(uintptr_t)environment;
    mine->count++;
    escape = here;
}

/* The number of the function of this name, which lives for ever. */
HIDDEN uint32_t listed_function(const char *name, size_t length);

/* Comes back from a crash; the signal. */
HIDDEN int crashed(void);
/* The same in one of the calls of a step: 16 times the signal plus which call. */
HIDDEN int crashed_in_step(void);

/* --- floating-point control words ---------------------------------------------------------------------------------- */

/* Puts the words of the host back after a call of the instance with this environment. */
HIDDEN void put_back_control_words(uint64_t environment);

/* Whether the word of the arithmetic with doubles is not that of the host. */
#if defined(__x86_64__)
enum { MXCSR_FLAGS = 0x3f };
extern HIDDEN uint32_t host_mxcsr;

static inline bool control_word_differs(void) {
    return (__builtin_ia32_stmxcsr() & ~(uint32_t)MXCSR_FLAGS) != host_mxcsr;
}

/* What arithmetic is watched by: two tiny numbers and twice the smallest. In a copy of the process they are no numbers, so that what
   is looked at anyway tells of it. */
typedef union {
    double numbers[4];
    __m128d pairs[2];
} Watched;
extern HIDDEN volatile Watched watched;

/* Whether arithmetic with doubles gives other numbers than that of the host, which rounds to the nearest and keeps small numbers.
   Found by two operations: to read the word waits for all that is under way, and takes as long as a step of a light FMU. */
static inline bool arithmetic_differs(void) {
    const __m128d one = _mm_set1_pd(1.0), normal = _mm_set1_pd(0x1p-1022);
    const __m128d subnormal = _mm_castsi128_pd(_mm_set1_epi64x(0x000fffffffffffff));
    __m128d rounded = _mm_cmpneq_pd(_mm_add_pd(one, watched.pairs[0]), one);
    __m128d flushed = _mm_cmpneq_pd(_mm_sub_pd(normal, watched.pairs[1]), subnormal);
    return _mm_movemask_pd(_mm_or_pd(rounded, flushed)) != 0;
}
#elif defined(__aarch64__)
extern HIDDEN uint64_t host_fpcr;

static inline uint64_t fpcr(void) {
    uint64_t word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
}

static inline bool control_word_differs(void) { return fpcr() != host_fpcr; }
static inline bool arithmetic_differs(void) { return control_word_differs(); }
#else
static inline bool control_word_differs(void) { return false; }
static inline bool arithmetic_differs(void) { return false; }
#endif

/* --- steps --------------------------------------------------------------------------------------------------------- */

/* As Rust has it. */
typedef struct {
    double start;
    double end;
    double size;
} Step;

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
    /* What is called: as arguments they would have to be kept beside the jump. */
    void (*set)(void);
    void (*step)(void);
    void (*get)(void);
} Request;

/* Which call ended a step; after a crash, three more. */
enum { IN_SET = 0, IN_STEP = 1, IN_GET = 2, IN_CRASH = 3, CALLS_OF_A_STEP = 3 };

/* Whether the last call that was due was made and answered ok, or with a warning. */
static inline bool is_fine(int answer) {
    return (unsigned)(answer & ~16) - IN_STEP <= IN_GET - IN_STEP;
}

/* --- where the time of a step goes --------------------------------------------------------------------------------- */

enum { ON_VALUES = 0, ON_STEPS = 1, ON_STATES = 2, PURPOSES = 3 };

/* Reads the time between calls. */
typedef struct {
    double last;
    /* What it takes to read the time. */
    double cost;
    /* Seconds by purpose. */
    double *spent;
} Clock;

HIDDEN void lap(Clock *clock, int purpose);

/* Where a clock is given. As a rule none is, and the compiler knows. */
static inline __attribute__((always_inline)) void lap_of(Clock *clock, int purpose) {
    if (clock != NULL) lap(clock, purpose);
}

/* --- the calls of both versions ------------------------------------------------------------------------------------ */

typedef int (*Set2)(void *, const unsigned *, size_t, const double *);
typedef int (*Step2)(void *, double, double, int);
typedef int (*Get2)(void *, const unsigned *, size_t, double *);

/* Whether a call was made and answered neither ok nor with a warning. */
static inline bool went_wrong(int status) {
    return __builtin_expect((unsigned)status > 1, 0);
}

/* The calls alone. Returns 16 times the status plus which call it came from: the first that went wrong, or the last. */
static inline __attribute__((always_inline)) int make_step2(const Request *request, CallSlot *mine, const Step *step,
                                                            const double *inputs, double *outputs, Clock *clock) {
    if (request->input_count > 0) {
        mine->function = SET_REAL;
        int status = ((Set2)request->set)(request->component, request->inputs, request->input_count, inputs);
        lap_of(clock, ON_VALUES);
        if (went_wrong(status)) return 16 * status + IN_SET;
    }
    mine->function = DO_STEP_2;
    int status = ((Step2)request->step)(request->component, step->start, step->size, request->final);
    lap_of(clock, ON_STEPS);
    if (went_wrong(status) || request->output_count == 0) return 16 * status + IN_STEP;
    mine->function = GET_REAL;
    status = ((Get2)request->get)(request->component, request->outputs, request->output_count, outputs);
    lap_of(clock, ON_VALUES);
    return 16 * status + IN_GET;
}

typedef int (*Set3)(void *, const unsigned *, size_t, const double *, size_t);
typedef int (*Step3)(void *, double, double, bool, uint8_t *, uint8_t *, uint8_t *, double *);
typedef int (*Get3)(void *, const unsigned *, size_t, double *, size_t);

static inline __attribute__((always_inline)) int make_step3(Request *request, CallSlot *mine, const Step *step,
                                                            const double *inputs, double *outputs, Clock *clock) {
    if (request->input_count > 0) {
        mine->function = SET_FLOAT64;
        int status = ((Set3)request->set)(request->component, request->inputs, request->input_count, inputs,
                                           request->input_value_count);
        lap_of(clock, ON_VALUES);
        if (went_wrong(status)) return 16 * status + IN_SET;
    }
    mine->function = DO_STEP_3;
    int status = ((Step3)request->step)(request->component, step->start, step->size, request->final, &request->event,
                                         &request->terminate, &request->early, &request->last);
    lap_of(clock, ON_STEPS);
    if (went_wrong(status) || request->output_count == 0) return 16 * status + IN_STEP;
    mine->function = GET_FLOAT64;
    status = ((Get3)request->get)(request->component, request->outputs, request->output_count, outputs,
                                   request->output_value_count);
    lap_of(clock, ON_VALUES);
    return 16 * status + IN_GET;
}

#endif
