/* SPDX-License-Identifier: MIT */
/* Images that are damaged or for another GPU: which call refuses them, and
 * with what. They are tried in a process, in turn, until one kills it or its
 * CUDA context; another process goes on behind that. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "gpu.h"
#include "hold.h"
#include "image.h"
#include "image_list.h"
#include "nvrtc_kernel.h"
#include "test.h"

enum { MOST = 400, SECONDS_EACH = 5, MOST_MS = 22000 };

enum stage { LOAD, KERNEL, FUNCTION, ATTRIBUTE, LAUNCH, RUN, DONE };
static const char *const stages[] = {
    "cuLibraryLoadData",  "cuLibraryGetKernel", "cuKernelGetFunction",
    "cuFuncSetAttribute", "cuLaunchKernelEx",   "cuStreamSynchronize", "ran"};

struct outcome {
    enum stage stage;
    CUresult result; /* of that stage */
    bool right;      /* DONE: what it wrote */
    bool deadly;     /* the context has died, or the process: */
    int signal;
    char name[48];   /* of the result */
};

static struct shared {
    int next; /* the one that is being tried */
    struct outcome outcomes[MOST];
} *shared;

/* ---- In a child -------------------------------------------------------- */

static CUresult go_through(const void *image, unsigned *out,
                           CUlibrary *library, enum stage *stage)
{
    const struct jg_cuda *cuda = nvrtc_kernel_cuda;
    CUkernel kernel = NULL;
    CUfunction function = NULL;
    CUresult result = CUDA_SUCCESS;

    for (*stage = LOAD; *stage < DONE; ++*stage) {
        if (*stage == LOAD)
            result = cuda->cuLibraryLoadData(library, image, NULL, NULL, 0,
                                             NULL, NULL, 0);
        else if (*stage == KERNEL)
            result = cuda->cuLibraryGetKernel(&kernel, *library, HOLD_SYMBOL);
        else if (*stage == FUNCTION)
            result = cuda->cuKernelGetFunction(&function, kernel);
        else if (*stage == ATTRIBUTE)
            result = cuda->cuFuncSetAttribute(
                function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0);
        else if (*stage == LAUNCH)
            result = hold_launch(cuda, function, gpu.stream,
                                 (struct hold_job){.out = out});
        else
            result = gpu.cuStreamSynchronize(gpu.stream);
        if (result != CUDA_SUCCESS)
            break;
    }
    return result;
}

static void try(const struct image *image, struct outcome *outcome)
{
    unsigned *out = gpu_alloc(HOLD_THREADS * sizeof *out);
    const char *name = NULL;
    CUlibrary library = NULL;

    GPU(cuMemsetD8((CUdeviceptr)(uintptr_t)out, 0xee,
                   HOLD_THREADS * sizeof *out));
    GPU(cuStreamSynchronize(NULL));
    outcome->result =
        go_through(image_place(image), out, &library, &outcome->stage);
    gpu.cuGetErrorName(outcome->result, &name);
    snprintf(outcome->name, sizeof outcome->name, "%s", name ? name : "?");
    outcome->deadly = gpu.cuCtxSynchronize() != CUDA_SUCCESS;
    if (outcome->deadly)
        return;
    outcome->right = outcome->stage == DONE && hold_is_right(out);
    if (library)
        nvrtc_kernel_cuda->cuLibraryUnload(library);
    gpu_free(out);
}

static void try_all(const struct image *images, int count)
{
    alarm(30);
    if (!gpu_open() || !nvrtc_kernel_open())
        exit(99);
    while (shared->next < count) {
        struct outcome *outcome = &shared->outcomes[shared->next];

        alarm(SECONDS_EACH);
        try(&images[shared->next], outcome);
        shared->next++;
        if (outcome->deadly)
            _exit(0);
    }
    exit(0);
}

/* ---- In their parent --------------------------------------------------- */

/* As many as there is time for: how many. */
static int try_in_children(const struct image *images, int count)
{
    double start = jg_clock_ms();

    while (shared->next < count && jg_clock_ms() - start < MOST_MS) {
        int status = 0;
        pid_t child;

        fflush(stdout);
        child = fork();
        if (child == 0)
            try_all(images, count);
        if (child < 0 || waitpid(child, &status, 0) != child)
            exit(99);
        if (status == 0)
            continue;
        shared->outcomes[shared->next].deadly = true;
        shared->outcomes[shared->next].signal =
            WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
        shared->next++;
    }
    return shared->next;
}

static bool is_alike(const struct image *images, int i, int j)
{
    struct outcome *a = &shared->outcomes[i], *b = &shared->outcomes[j];

    return strcmp(images[i].kind, images[j].kind) == 0 &&
           a->stage == b->stage && a->result == b->result &&
           a->right == b->right && a->deadly == b->deadly &&
           a->signal == b->signal;
}

static void print_outcome(const struct image *image,
                          const struct outcome *outcome, int times)
{
    char text[80];

    if (outcome->signal)
        snprintf(text, sizeof text, "the process ended: %s %d",
                 outcome->signal > 0 ? "signal" : "status",
                 abs(outcome->signal));
    else if (outcome->stage == DONE)
        snprintf(text, sizeof text, "%s",
                 outcome->right ? "right" : "wrong or nothing written");
    else
        snprintf(text, sizeof text, "%s (%d)%s", outcome->name,
                 (int)outcome->result,
                 outcome->deadly ? ", context dead" : "");
    printf("%5d  %-18s %-20s %s\n", times, image->kind,
           stages[outcome->stage], text);
}

/* Images of a kind with one outcome share a line. */
static void print_outcomes(const struct image *images, int count)
{
    int loaded = 0, damaged = 0;

    for (int i = 0; i < count; i++) {
        int before = 0, times = 0;

        damaged += images[i].damaged;
        loaded += images[i].damaged && shared->outcomes[i].stage > ATTRIBUTE;
        for (int j = 0; j < count; j++)
            if (is_alike(images, i, j)) {
                before += j < i;
                times++;
            }
        if (!before)
            print_outcome(&images[i], &shared->outcomes[i], times);
    }
    if (damaged)
        printf("%d of %d damaged ones loaded without an error\n", loaded,
               damaged);
}

/* The library makes an entry again only if its load failed so. */
static void check_outcome(const struct image *image,
                          const struct outcome *outcome)
{
    jitgemm_error error = {.cuda = (int32_t)outcome->result};

    if (image->fate == IMAGE_RUNS)
        CHECK(outcome->right && !outcome->deadly);
    if (image->fate == IMAGE_REFUSED)
        CHECK(outcome->stage < LAUNCH && !outcome->deadly &&
              jg_image_is_bad(&error));
}

int part_images(const struct facts *facts)
{
    const struct image *images;
    int count, tried;

    if (!nvrtc_kernel_open_compiler())
        return TEST_SKIP;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 99;
    images = image_list(facts, strcmp(facts->loading, "LAZY") == 0, &count);
    printf("%s: how many, what, the last call, its result\n", facts->loading);
    tried = try_in_children(images, count);
    print_outcomes(images, tried);
    if (tried < count)
        printf("no time for %d more\n", count - tried);
    for (int i = 0; i < tried; i++)
        check_outcome(&images[i], &shared->outcomes[i]);
    return test_end();
}
