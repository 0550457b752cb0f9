/* Legs: many steps of many plain FMUs behind one guard. Whatever is out of the ordinary ends a leg where it stands, and is settled
   elsewhere. */
#include "guarded_step.h"
#include <time.h>

/* One FMU of a batch. */
typedef struct {
    Request request;
    /* Version 2 or 3 of the standard; SAVES more where its state is saved before every step, not only where a leg begins. */
    int version;
    /* NULL where its state is never asked for again; and the place for it. */
    int (*save)(void *, void **);
    void **state;
    /* Where its numbers are among those of all. */
    size_t first_input;
    size_t first_value;
    /* Seconds that steps were seen to take, by purpose. */
    double spent[PURPOSES];
} Member;

typedef struct {
    Member *members;
    size_t member_count;
    const Step *steps;
    size_t step_count;
    /* For each input its place in the row before the step; beyond the width of a row, in the row that is being written. */
    const uint32_t *feeds;
    size_t input_width;
    size_t value_width;
    size_t value_count;
    /* The inputs of the first step, and what was read before it; row by row. */
    double *inputs;
    double *values;
    const uint8_t *interrupted;
    /* The time of the first step is taken. */
    bool timed;
    /* How many steps all members have done. */
    volatile size_t done;
    /* The member that did not simply do the next step, and what came of it. */
    size_t member;
    int answer;
} Leg;

enum { SAVES = 4 };

/* How a leg ended: by its steps, by a member, by a number, by a member that changed the arithmetic, by control words that nobody knows
   who has changed. */
enum { LEG_DONE = 0, LEG_MEMBER = 1, LEG_NUMBER = 2, LEG_DISTURBED = 3, LEG_UNTRUSTED = 4 };
/* In the place of the call that ended a step: a state was not saved. */
enum { IN_SAVE = 6, IN_SAVE_CRASH = 7 };
/* Beside all that: the member asks for the end of the run. */
enum { ENDS = 1 << 20 };

/* No quantity that a model means is as large as this. */
static const double LARGEST = 1e100;

/* The leg under way in this thread, for whoever comes back from a crash. */
static __thread Leg *volatile under_way = NULL;

/* --- one member ---------------------------------------------------------------------------------------------------- */

static const char SAVE_2[] = "fmi2GetFMUstate", SAVE_3[] = "fmi3GetFMUState";

/* Saves its state; the answer of a step that was done where that succeeded. */
static __attribute__((noinline)) int save(const Member *member, CallSlot *mine) {
    mine->function = listed_function(member->version % SAVES == 2 ? SAVE_2 : SAVE_3, sizeof SAVE_2 - 1);
    int status = member->save(member->request.component, member->state);
    return status == 0 || status == 1 ? IN_STEP : 16 * status + IN_SAVE;
}

/* A step of all members: where it begins and ends, and where the numbers are before and after it. */
typedef struct {
    const Step *step;
    const uint32_t *feeds;
    double *inputs;
    const double *row;
    double *values;
} Row;

static inline __attribute__((always_inline)) Row row_of(const Leg *leg, size_t n) {
    double *row = leg->values + n * leg->value_width;
    return (Row){&leg->steps[n], leg->feeds, leg->inputs + n * leg->input_width, row, row + leg->value_width};
}

/* Takes over the inputs of a member; where they are. */
static inline __attribute__((always_inline)) const double *feed(const Member *member, Row row) {
    const uint32_t *feeds = row.feeds + member->first_input;
    double *kept = row.inputs + member->first_input;
    size_t count = member->request.input_value_count;
    if (__builtin_expect(count == 1, 1)) {
        /* Given where it is: the step need not wait for the copy. */
        *kept = row.row[*feeds];
        return row.row + *feeds;
    }
    for (size_t i = 0; i < count; i++) kept[i] = row.row[feeds[i]];
    return kept;
}

/* Feeds, sets, steps and reads a member; the answer is fine only where there is nothing more to look at. */
static inline __attribute__((always_inline)) int step_member(Member *member, CallSlot *mine, Row row, bool saves, Clock *clock) {
    *(volatile uint64_t *)&mine->environment = (uint64_t)(uintptr_t)member->request.environment;
    int version = member->version;
    if (saves || __builtin_expect(version >= SAVES, 0)) {
        if (member->save != NULL) {
            int answer = save(member, mine);
            lap_of(clock, ON_STATES);
            if (!is_fine(answer)) return answer;
        }
        version %= SAVES;
    }
    const double *inputs = feed(member, row);
    double *values = row.values + member->first_value;
    if (version == 2) return make_step2(&member->request, mine, row.step, inputs, values, clock);
    member->request.last = row.step->end;
    int answer = make_step3(&member->request, mine, row.step, inputs, values, clock);
    /* One that asks for the end of the run has done its step, and is looked at nevertheless. */
    return __builtin_expect(member->request.terminate, 0) && is_fine(answer) ? answer | ENDS : answer;
}

/* --- one step of all ----------------------------------------------------------------------------------------------- */

/* The members from `first` on take a step. How that ended. */
static inline __attribute__((always_inline)) int step_members(Leg *leg, size_t first, CallSlot *mine, Row row, bool saves, Clock *clock) {
    int ended = LEG_DONE;
    const Member *end = leg->members + leg->member_count;
    for (Member *member = leg->members + first; member < end; member++) {
        if (clock != NULL) clock->spent = member->spent;
        int answer = step_member(member, mine, row, saves, clock);
        if (__builtin_expect(arithmetic_differs(), 0)) {
            put_back_control_words((uint64_t)(uintptr_t)member->request.environment);
            ended = LEG_DISTURBED;
        }
        if (__builtin_expect(!is_fine(answer), 0)) {
            leg->member = (size_t)(member - leg->members);
            leg->answer = answer & ~ENDS;
            return LEG_MEMBER;
        }
    }
    leg->member = leg->member_count;
    return ended;
}

static inline __attribute__((always_inline)) bool is_sound_one_by_one(const double *values, size_t count) {
    bool sound = true;
    for (size_t i = 0; i < count; i++) sound &= __builtin_fabs(values[i]) < LARGEST;
    return sound;
}

/* Whether all are numbers of an ordinary size. */
#if defined(__x86_64__)
/* Among fewer numbers, all were written just now one by one, and to read two of them at once would have to wait. */
enum { LEAST_PAIRED = 8 };

static inline __attribute__((always_inline)) bool is_sound(const double *values, size_t count) {
    if (count < LEAST_PAIRED) return is_sound_one_by_one(values, count);
    const __m128d sign = _mm_set1_pd(-0.0), largest = _mm_set1_pd(LARGEST);
    __m128d odd = _mm_setzero_pd();
    size_t i = 0;
    for (; i + 1 < count; i += 2)
        odd = _mm_or_pd(odd, _mm_cmpnlt_pd(_mm_andnot_pd(sign, _mm_loadu_pd(values + i)), largest));
    return _mm_movemask_pd(odd) == 0 && is_sound_one_by_one(values + i, count - i);
}
#else
static inline __attribute__((always_inline)) bool is_sound(const double *values, size_t count) {
    return is_sound_one_by_one(values, count);
}
#endif

/* Step `n` of a leg, and what came of it. */
static inline __attribute__((always_inline)) int take_row(Leg *leg, size_t n, CallSlot *mine, bool saves, Clock *clock) {
    Row row = row_of(leg, n);
    mine->count++;
    int ended = step_members(leg, 0, mine, row, saves, clock);
    if (__builtin_expect(ended == LEG_MEMBER, 0)) return ended;
    if (__builtin_expect(!is_sound(row.values, leg->value_count), 0)) return LEG_NUMBER;
    leg->done = n + 1;
    return ended;
}

/* --- where the time goes ------------------------------------------------------------------------------------------- */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void lap(Clock *clock, int purpose) {
    double now = seconds();
    clock->spent[purpose] += now - clock->last - clock->cost;
    clock->last = now;
}

static __attribute__((noinline)) int take_timed_row(Leg *leg, CallSlot *mine) {
    double before = seconds(), last = seconds();
    Clock clock = {last, last - before, NULL};
    return take_row(leg, 0, mine, true, &clock);
}

/* --- legs ---------------------------------------------------------------------------------------------------------- */

/* In the first step states are saved, which the others may have to be repeated from. */
static __attribute__((noinline)) int take_first_row(Leg *leg, CallSlot *mine) {
    return leg->timed ? take_timed_row(leg, mine) : take_row(leg, 0, mine, true, NULL);
}

static __attribute__((noinline)) int take_rows(Leg *leg, CallSlot *mine) {
    int ended = take_first_row(leg, mine);
    const size_t count = leg->step_count;
    for (size_t n = 1; n < count && ended == LEG_DONE; n++) {
        if (__atomic_load_n(leg->interrupted, __ATOMIC_RELAXED)) break;
        ended = take_row(leg, n, mine, false, NULL);
    }
    return ended;
}

/* The members from `member` on take the step after those that were done. */
static __attribute__((noinline)) int go_on(Leg *leg, CallSlot *mine) {
    size_t n = leg->done;
    mine->count++;
    return step_members(leg, leg->member, mine, row_of(leg, n), n == 0, NULL);
}

/* A crash among the members: the one whose call was noted. */
static __attribute__((noinline, cold)) int crashed_in_leg(void) {
    Leg *leg = under_way;
    const CallSlot *mine = my_slot();
    for (size_t i = 0; i < leg->member_count; i++)
        if ((uint64_t)(uintptr_t)leg->members[i].request.environment == mine->environment) leg->member = i;
    bool saving = mine->function >= FIRST_LISTED;
    leg->answer = saving ? 16 * crashed() + IN_SAVE_CRASH : crashed_in_step();
    return LEG_MEMBER;
}

/* Apart from the loop: the jump would spoil its registers. */
static __attribute__((noinline)) int guard_part(Leg *leg, int (*part)(Leg *, CallSlot *)) {
    void *here[5];
    under_way = leg;
    if (__builtin_setjmp(here) != 0) return crashed_in_leg();
    CallSlot *mine = my_slot();
    begin_call(mine, NULL, here);
    int ended = part(leg, mine);
    escape = NULL;
    slot->environment = 0;
    /* Traps do not change numbers, and are looked at less often. */
    if (__builtin_expect(control_word_differs(), 0)) {
        put_back_control_words(0);
        if (ended == LEG_DONE) ended = LEG_UNTRUSTED;
    }
    return ended;
}

/* Takes the steps of a leg, as far as they are ordinary. */
int dovetail_leg_take(Leg *leg) {
    return guard_part(leg, take_rows);
}

/* Goes on with the step after those that were done, from a member on. */
int dovetail_leg_go_on(Leg *leg) {
    return guard_part(leg, go_on);
}
