/* A bare loop over the instances of one FMU in a ring: what no engine can be quicker than. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

typedef void *Component;
typedef unsigned int Reference;

typedef struct {
    void *logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void *step_finished;
    void *environment;
} Callbacks;

static void silent(void) {}

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double bench_cpu_seconds(void) {
    return cpu_seconds();
}

/* Runs n instances over `steps` steps of size h with inputs held, and writes the sum of all states.
   Returns the CPU seconds of the loop, or a negative number where the unit does not cooperate. */
double bench_bare_ring2(const char *library, const char *token, size_t n, size_t steps, double h, double *sum) {
    void *handle = dlopen(library, RTLD_NOW);
    if (handle == NULL) return -1;
    Component (*instantiate)(const char *, int, const char *, const char *, const Callbacks *, int, int) =
        (Component(*)(const char *, int, const char *, const char *, const Callbacks *, int, int))dlsym(handle, "fmi2Instantiate");
    int (*setup)(Component, int, double, double, int, double) = (int (*)(Component, int, double, double, int, double))dlsym(handle, "fmi2SetupExperiment");
    int (*enter)(Component) = (int (*)(Component))dlsym(handle, "fmi2EnterInitializationMode");
    int (*leave)(Component) = (int (*)(Component))dlsym(handle, "fmi2ExitInitializationMode");
    void (*release)(Component) = (void (*)(Component))dlsym(handle, "fmi2FreeInstance");
    int (*set)(Component, const Reference *, size_t, const double *) = (int (*)(Component, const Reference *, size_t, const double *))dlsym(handle, "fmi2SetReal");
    int (*get)(Component, const Reference *, size_t, double *) = (int (*)(Component, const Reference *, size_t, double *))dlsym(handle, "fmi2GetReal");
    int (*step)(Component, double, double, int) = (int (*)(Component, double, double, int))dlsym(handle, "fmi2DoStep");
    Callbacks callbacks = {(void *)silent, calloc, free, NULL, NULL};
    Component *units = malloc(n * sizeof *units);
    double *values = malloc(n * sizeof *values);
    const Reference x0 = 1, u = 2, x = 3;
    for (size_t i = 0; i < n; i++) {
        units[i] = instantiate("unit", 1, token, "file:///", &callbacks, 0, 0);
        if (units[i] == NULL) return -2;
        double start = i == 0 ? 1.0 : 0.0;
        set(units[i], &x0, 1, &start);
        setup(units[i], 0, 0.0, 0.0, 0, 0.0);
        enter(units[i]);
        leave(units[i]);
        get(units[i], &x, 1, &values[i]);
    }
    int worst = 0;
    double before = cpu_seconds();
    for (size_t k = 0; k < steps; k++) {
        double time = (double)k * h;
        for (size_t i = 0; i < n; i++) worst |= set(units[i], &u, 1, &values[i == 0 ? n - 1 : i - 1]);
        for (size_t i = 0; i < n; i++) worst |= step(units[i], time, h, 1);
        for (size_t i = 0; i < n; i++) worst |= get(units[i], &x, 1, &values[i]);
    }
    double spent = cpu_seconds() - before;
    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        *sum += values[i];
        release(units[i]);
    }
    free(units);
    free(values);
    return worst == 0 ? spent : -3;
}

/* The same for FMI 3.0. */
double bench_bare_ring3(const char *library, const char *token, size_t n, size_t steps, double h, double *sum) {
    void *handle = dlopen(library, RTLD_NOW);
    if (handle == NULL) return -1;
    Component (*instantiate)(const char *, const char *, const char *, bool, bool, bool, bool, const Reference *, size_t, void *, void *, void *) =
        (Component(*)(const char *, const char *, const char *, bool, bool, bool, bool, const Reference *, size_t, void *, void *, void *))dlsym(handle, "fmi3InstantiateCoSimulation");
    int (*enter)(Component, bool, double, double, bool, double) = (int (*)(Component, bool, double, double, bool, double))dlsym(handle, "fmi3EnterInitializationMode");
    int (*leave)(Component) = (int (*)(Component))dlsym(handle, "fmi3ExitInitializationMode");
    void (*release)(Component) = (void (*)(Component))dlsym(handle, "fmi3FreeInstance");
    int (*set)(Component, const Reference *, size_t, const double *, size_t) = (int (*)(Component, const Reference *, size_t, const double *, size_t))dlsym(handle, "fmi3SetFloat64");
    int (*get)(Component, const Reference *, size_t, double *, size_t) = (int (*)(Component, const Reference *, size_t, double *, size_t))dlsym(handle, "fmi3GetFloat64");
    int (*step)(Component, double, double, bool, bool *, bool *, bool *, double *) = (int (*)(Component, double, double, bool, bool *, bool *, bool *, double *))dlsym(handle, "fmi3DoStep");
    Component *units = malloc(n * sizeof *units);
    double *values = malloc(n * sizeof *values);
    const Reference x0 = 1, u = 2, x = 3;
    for (size_t i = 0; i < n; i++) {
        units[i] = instantiate("unit", token, "/", false, false, false, false, NULL, 0, NULL, (void *)silent, NULL);
        if (units[i] == NULL) return -2;
        double start = i == 0 ? 1.0 : 0.0;
        set(units[i], &x0, 1, &start, 1);
        enter(units[i], false, 0.0, 0.0, false, 0.0);
        leave(units[i]);
        get(units[i], &x, 1, &values[i], 1);
    }
    int worst = 0;
    bool event, terminate, early;
    double last, before = cpu_seconds();
    for (size_t k = 0; k < steps; k++) {
        double time = (double)k * h;
        for (size_t i = 0; i < n; i++) worst |= set(units[i], &u, 1, &values[i == 0 ? n - 1 : i - 1], 1);
        for (size_t i = 0; i < n; i++) worst |= step(units[i], time, h, true, &event, &terminate, &early, &last);
        for (size_t i = 0; i < n; i++) worst |= get(units[i], &x, 1, &values[i], 1);
    }
    double spent = cpu_seconds() - before;
    *sum = 0;
    for (size_t i = 0; i < n; i++) {
        *sum += values[i];
        release(units[i]);
    }
    free(units);
    free(values);
    return worst == 0 ? spent : -3;
}
