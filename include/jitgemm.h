/* SPDX-License-Identifier: MIT */
/* jitgemm.h - grouped NVFP4 GEMM, compiled for its problem at run time.
 *
 * For every group g, with row-major operands and k contiguous:
 *
 *   C_g[i, j] = alpha_g * sum_k (A_g[i, k] * SFA_g[i, k / 16])
 *                             * (B_g[j, k] * SFB_g[j, k / 16]) + bias_g[j]
 *
 *   A_g    m x k   e2m1, two values a byte, even k in the low four bits; or
 *          f16 or bf16, without scales
 *   B_g    n x k   e2m1, likewise (weights, one row an output column)
 *   SFA_g  m x k/16, SFB_g  n x k/16   e4m3 scales in the 128x4 blocked
 *          layout of jitgemm_scale_offset(); the sign bit is ignored. Of MXFP4
 *          weights n x k/32, see jitgemm_weights
 *   C_g    m x n   f16, bf16 or f32
 *   alpha_g        f32; absent means 1
 *   bias_g n       as C; absent means 0
 *
 * Products are exact; sums are in f32; C is rounded once, to nearest even.
 *
 * A context finds a device, a compiler and a cache. A plan is made once for
 * one set of sizes: everything slow happens there. A run is one to three
 * launches. A conversion makes A, SFA or SFB of what a runtime has.
 *
 * Every function that can fail returns a status; jitgemm_last_error() then
 * has the detail for the calling thread. Outputs are written on success only.
 * Structs begin with their size: set it to sizeof the struct and zero the
 * rest, and fields that later versions add will mean what they mean today.
 * No function changes the caller's current CUDA context.
 *
 * A forked child may use contexts made for an arch, but not the CUDA driver
 * that its parent had opened; and one that was forked while another thread was
 * making a context or a kernel ready may do neither. What it may not do is
 * E_FORKED, at once; what it destroys of its parent's stays on the device.
 */
#ifndef JITGEMM_H
#define JITGEMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JITGEMM_VERSION_MAJOR 0
#define JITGEMM_VERSION_MINOR 1
#define JITGEMM_VERSION_PATCH 0

/* The version of the library in use: major * 10000 + minor * 100 + patch. */
uint32_t jitgemm_version(void);

/* ---- Status and errors ------------------------------------------------ */

/* Name, number (never reused) and meaning of every status. */
#define JITGEMM_STATUS_MAP(_)                                                \
    _(OK, 0, "success")                                                      \
    _(E_ARGUMENT, 1, "invalid argument")                                     \
    _(E_SHAPE, 2, "unsupported size")                                        \
    _(E_ALIGN, 3, "misaligned pointer")                                      \
    _(E_VERSION, 4, "struct of an unknown size or with unknown fields set")  \
    _(E_ARCH, 5, "unsupported GPU architecture")                             \
    _(E_NO_DRIVER, 6, "CUDA driver missing or too old")                      \
    _(E_NO_DEVICE, 7, "no such CUDA device")                                 \
    _(E_NO_NVRTC, 8, "no usable NVRTC library")                              \
    _(E_COMPILE, 9, "kernel did not compile")                                \
    _(E_NOT_READY, 10, "plan is not ready for this call")                    \
    _(E_MEMORY, 11, "out of memory")                                         \
    _(E_DRIVER, 12, "CUDA driver error")                                     \
    _(E_NOT_FOUND, 13, "not found")                                          \
    _(E_CACHE, 14, "cache directory or pack cannot be used")                 \
    _(E_FORKED, 15, "not possible in this forked process")                   \
    _(E_FROZEN, 16, "kernel would have to be compiled, but may not be")

typedef enum jitgemm_status {
#define JITGEMM_STATUS_ENUM(name, number, text) JITGEMM_##name = number,
    JITGEMM_STATUS_MAP(JITGEMM_STATUS_ENUM)
#undef JITGEMM_STATUS_ENUM
} jitgemm_status;

/* The meaning of a status: a static string, never NULL. */
const char *jitgemm_status_string(jitgemm_status status);

typedef struct jitgemm_error {
    uint32_t size;          /* of this struct, as the library knows it */
    jitgemm_status status;
    int32_t cuda;           /* CUresult behind the error, or 0 */
    int32_t nvrtc;          /* nvrtcResult behind the error, or 0 */
    int32_t system;         /* errno behind the error, or 0 */
    int32_t group;          /* the group at fault, or -1 */
    const char *argument;   /* the argument or field at fault, or NULL */
    int64_t got, want;      /* its value and the limit it breaks, if any */
    char text[1024];        /* one sentence: argument, group and rule */
} jitgemm_error;

/* The last error of the calling thread. Never NULL; valid until the thread
 * next fails in this library or ends. A success does not clear it. */
const jitgemm_error *jitgemm_last_error(void);

/* ---- Context ---------------------------------------------------------- */

struct CUstream_st; /* what CUstream and cudaStream_t point to */

enum { /* log levels; each includes those before it */
    JITGEMM_LOG_OFF = 0,
    JITGEMM_LOG_ERROR = 1,   /* never used for what a status reports */
    JITGEMM_LOG_WARNING = 2, /* a cache that cannot be used, once a cause */
    JITGEMM_LOG_INFO = 3,    /* a line per kernel: key, source, time */
    JITGEMM_LOG_DEBUG = 4    /* compile logs, cache misses and why */
};

/* Gets one line without a newline. May be called by any thread inside a
 * library call, several at once; it must not call the library. */
typedef void (*jitgemm_log_fn)(void *user, int level, const char *line);

typedef enum jitgemm_source {
    JITGEMM_SOURCE_NONE = 0, /* not made ready yet */
    JITGEMM_SOURCE_MEMORY = 1,
    JITGEMM_SOURCE_PACK = 2, /* a read-only layer */
    JITGEMM_SOURCE_DISK = 3,
    JITGEMM_SOURCE_COMPILED = 4
} jitgemm_source;

typedef struct jitgemm_kernel {
    uint32_t size;
    jitgemm_source source;
    char key[36];           /* 32 hex digits: the name of its cache entry */
    char arch[12];
    char name[96];          /* kernel and specialization, for people */
    double ms;              /* time that making it ready took */
    int32_t registers;      /* a thread */
    int32_t spill_bytes;    /* a thread */
    int32_t shared_bytes;   /* a block, static and dynamic */
    int32_t threads;        /* a block */
} jitgemm_kernel;

/* What came of a kernel that a plan, a conversion or jitgemm_prepare*() asked
 * for. All that it points to is valid during the call only. */
typedef struct jitgemm_event {
    uint32_t size;
    jitgemm_status status;  /* OK, or why the kernel is not ready */
    int32_t late;           /* 1: the context is frozen */
    int32_t reserved;
    const jitgemm_kernel *kernel; /* without success: what is known of it */
    const char *problem;    /* that asked, as jitgemm-warm --problem takes it:
                               "80,176x4096x7168 --c f32"; of a conversion the
                               name of its kernel */
    const char *text;       /* of the error, or "" */
} jitgemm_event;

/* Is told of one kernel, in the thread that asked for it or, of
 * jitgemm_prepare_async(), in one of the library's; several may be told at
 * once. No lock is held: it may call the library, but not end the context or
 * wait for what is being prepared. */
typedef void (*jitgemm_event_fn)(void *user, const jitgemm_event *event);

typedef struct jitgemm_context_options {
    uint32_t size;
    uint32_t flags;         /* 0 */
    int32_t device;         /* ordinal whose primary CUDA context to use, or
                               JITGEMM_CURRENT_CONTEXT */
    int32_t log_level;
    const char *arch;       /* NULL, or e.g. "sm_90a": find and compile
                               kernels only; needs no GPU and no driver, and
                               jitgemm_plan_create() is refused */
    const char *cache_dir;  /* absolute path; "": no disk cache; NULL:
                               JITGEMM_CACHE_DIR, else
                               $XDG_CACHE_HOME/jitgemm, else
                               $HOME/.cache/jitgemm, else
                               /tmp/jitgemm-UID. Read-only layers, see
                               JITGEMM_CACHE_RO_PATH, come before it unless
                               it is "" */
    jitgemm_log_fn log;     /* NULL: stderr if JITGEMM_LOG=1..4 is set */
    void *log_user;
    jitgemm_event_fn event; /* or NULL */
    void *event_user;
} jitgemm_context_options;

/* options.device: the CUDA context current on the calling thread. */
#define JITGEMM_CURRENT_CONTEXT (-1)

typedef struct jitgemm_context jitgemm_context;

/* Makes a context; options NULL means all zero: device 0, default cache.
 * Strings are copied. A context may be used by any number of threads at once
 * and must outlive its plans. A primary CUDA context is retained until the
 * context is destroyed.
 * Errors: E_ARGUMENT, E_VERSION, E_ARCH, E_NO_DRIVER, E_NO_DEVICE, E_MEMORY,
 * E_DRIVER. An unusable cache is no error. */
jitgemm_status jitgemm_context_create(const jitgemm_context_options *options,
                                      jitgemm_context **context);

/* NULL is allowed. Unloads the kernels no other context uses, so every run of
 * this context's plans and conversions must have finished. Waits for all that
 * runs on the GPU. */
void jitgemm_context_destroy(jitgemm_context *context);

/* Ends compiling, for good: when this returns nothing is being compiled for the
 * context, and nothing will be. Whatever would need a compile fails with
 * E_FROZEN, at once, and says for which kernel, key and problem; kernels in
 * memory and in the cache are found as before, and cost no compile. With
 * JITGEMM_MODE=strict in the environment a context is frozen when it is made.
 * Errors: E_ARGUMENT. */
jitgemm_status jitgemm_freeze(jitgemm_context *context);

/* ---- Problem and plan ------------------------------------------------- */

typedef enum jitgemm_type {
    JITGEMM_F16 = 0,
    JITGEMM_BF16 = 1,
    JITGEMM_F32 = 2,
    JITGEMM_E4M3 = 3  /* scales: of a conversion only */
} jitgemm_type;

/* What A is. But for 0, numbers that jitgemm_type does not have. */
typedef enum jitgemm_input {
    JITGEMM_INPUT_NVFP4 = 0, /* e2m1 and e4m3 scales, as B is */
    JITGEMM_INPUT_F16 = 16,  /* no scales. This and bf16: sm_90a only */
    JITGEMM_INPUT_BF16 = 17
} jitgemm_input;

/* What B is. An MXFP4 weight becomes a bf16, e2m1 * 2^(scale - 127): exactly,
 * subnormals included, but 2^128 and more (of scales from 253 on) becomes an
 * infinity; the scale 255 is NaN. A must be bf16; so, sm_90a only. */
typedef enum jitgemm_weights {
    JITGEMM_WEIGHTS_NVFP4 = 0, /* e2m1, an e4m3 scale for 16 k */
    JITGEMM_WEIGHTS_MXFP4 = 1  /* e2m1, an e8m0 scale for 32 k. In the blocked
                                  layout those are what half as many k of NVFP4
                                  have: host helpers and conversions of scales
                                  (E4M3 copies any byte) are given k/2 */
} jitgemm_weights;

/* Who says how many rows, which are tokens, the groups have. */
typedef enum jitgemm_sizes {
    JITGEMM_SIZES_HOST = 0,  /* problem.m */
    JITGEMM_SIZES_DEVICE = 1 /* offsets or counts in device memory: experts,
                                see jitgemm_run_experts() */
} jitgemm_sizes;

/* Then, which rows are those of group g, by its number in rows. */
typedef enum jitgemm_layout {
    JITGEMM_ROWS_STACKED = 0, /* rows[g] up to rows[g + 1] */
    JITGEMM_ROWS_MASKED = 1   /* from g * max_rows on, rows[g] of them */
} jitgemm_layout;

/* Where the blocked scales of group g begin, counted in rows: always in whole
 * 128. Of masked groups the first row is g * max_rows. */
typedef enum jitgemm_place {
    JITGEMM_PLACE_TIGHT = 0,   /* behind those of the group before, each group
                                  taking its rows rounded up to 128: vLLM,
                                  SGLang, torch */
    JITGEMM_PLACE_FLOOR = 1,   /* (first row + 127 * g) rounded down to 128:
                                  FlashInfer, older TensorRT-LLM */
    JITGEMM_PLACE_CEIL = 2,    /* the same rounded up: newer TensorRT-LLM */
    JITGEMM_PLACE_STRIDED = 3, /* g * (max_rows rounded up to 128); with
                                  JITGEMM_ROWS_MASKED only */
    JITGEMM_PLACE_EXPLICIT = 4 /* scale_row[g] */
} jitgemm_place;

enum { /* codes of a fault */
    JITGEMM_FAULT_ROWS = 1,     /* value: that offset or count */
    JITGEMM_FAULT_SCALE_ROW = 2 /* value: that of scale_row */
};

/* In device memory, all zero before. A run with a group whose numbers are bad
 * writes the lowest one, unless the code is set already. */
typedef struct jitgemm_fault {
    int32_t code;           /* 0: none */
    int32_t group;
    int64_t value;
} jitgemm_fault;

enum { /* flags of a problem */
    /* Sums over k may be added up in up to four parts, where there are few
     * tokens and few weights: faster on sm_90a. The number of parts, and so the
     * last bits of a sum, depends on the sizes of all groups. Without the flag
     * a row of C has the same bits on one GPU and version whatever other rows
     * and groups there are; every run of a plan gives the same bits either way.
     * No effect with JITGEMM_SIZES_DEVICE. */
    JITGEMM_ALLOW_SPLIT_K = 1,
    /* C = (alpha * A * B^T + bias) + what C was before, all of it in f32,
     * rounded once. Runs that overlap in time need a C each then. Where bad
     * offsets give groups rows in common, these rows may be any. */
    JITGEMM_ACCUMULATE = 2,
    /* Programmatic dependent launch, also of a conversion: the first kernel of
     * a run may start before the kernel that is before it in the stream has
     * ended, once each of its blocks has ended or has called
     * cudaTriggerProgrammaticLaunchCompletion(), and waits for its end itself.
     * Such a kernel may still write anything that the run reads, and read
     * anything that it writes, but for B and its scales: those are read at
     * once, and must be there before that kernel starts, which may be early as
     * well. If so it must wait, too (cudaGridDependencySynchronize()), as all
     * kernels of this library do. These let the next one start: conversions as
     * they begin, runs when the last copies of A and B are under way. After
     * anything but a kernel, the flag has no effect. */
    JITGEMM_DEPENDENT_LAUNCH = 4,
    /* With JITGEMM_SIZES_DEVICE only: rows of C behind the last offset, if that
     * is good, up to max_rows become 0 or, with JITGEMM_ROWS_MASKED, those
     * behind the count of each group that is not bad. Not with
     * JITGEMM_ACCUMULATE. */
    JITGEMM_ZERO_TAIL = 8
};

typedef struct jitgemm_problem {
    uint32_t size;
    uint32_t flags;         /* 0 or some of the above */
    int32_t groups;         /* 1 .. 65536 */
    int32_t batch;          /* 0 or 1; batches are groups */
    const int64_t *m;       /* [groups] tokens: >= 0; 0 is an empty group */
    const int64_t *n;       /* [groups] > 0, multiple of 8 */
    const int64_t *k;       /* [groups] > 0, multiple of 32 */
    jitgemm_type c_type;    /* elements of every C */
    jitgemm_input a_type;   /* elements of every A */
    jitgemm_weights b_type; /* elements of every B */
    int32_t sm_limit;       /* no kernel of a run has more blocks than this, so
                               that multiprocessors are left to other work;
                               kernels of a run may overlap. 0, or as many as
                               there are: all */
    jitgemm_sizes sizes;    /* DEVICE: m is NULL, n and k have one element, and
                               only then may be set, up to hint_rows: */
    jitgemm_layout layout;
    jitgemm_place place;    /* of the scales of A; 0 if it has none */
    int32_t reserved;
    int64_t max_rows;       /* of all groups together or, with
                               JITGEMM_ROWS_MASKED, of each */
    int64_t hint_rows;      /* typical, of all groups together, for the choice
                               of the kernels; 0: as many as there may be */
    /* With any sizes, bytes from row to row: multiples of 16 below 2^31, at
     * least a row of every group; 0: packed. Between rows nothing is read or
     * written. */
    int64_t row_a;          /* of every A; scales stay where they are */
    int64_t row_c;          /* of every C; bias stays packed */
} jitgemm_problem;          /* m, n, k, max_rows < 2^31; C below 2^45 elements
                               a group or, DEVICE, in all */

typedef struct jitgemm_plan jitgemm_plan;

/* Validates the problem, chooses the kernels, finds or compiles and loads
 * them, and allocates device memory: the table of groups and, on sm_90a, a
 * workspace of up to about 2 * sum(m * k) bytes; none with
 * JITGEMM_SIZES_DEVICE. The problem's arrays are copied.
 * Safe while another stream is being captured.
 * A kernel that did not compile once is not tried again by this, but only by
 * jitgemm_prepare(): the error comes at once.
 * Errors: E_ARGUMENT, E_VERSION, E_SHAPE, E_ARCH, E_NO_NVRTC, E_COMPILE,
 * E_FROZEN, E_NO_DEVICE (a context made for an arch), E_MEMORY, E_DRIVER. */
jitgemm_status jitgemm_plan_create(jitgemm_context *context,
                                   const jitgemm_problem *problem,
                                   jitgemm_plan **plan);

/* NULL is allowed. Every run of the plan must have finished. Waits for all
 * that runs on the GPU, since the driver does before it frees memory. */
void jitgemm_plan_destroy(jitgemm_plan *plan);

/* Device pointers, an array of `groups` each. What each must provide:
 *   a    m rows of k/2 bytes, or of k values of problem.a_type, 16-byte
 *        aligned
 *   sfa  jitgemm_scale_bytes(m, k) bytes, 16-byte aligned; only the scales of
 *        the m rows and k/16 blocks are read, padding may hold anything.
 *        Ignored unless A is NVFP4: the array itself may be NULL then
 *   b    n * k/2 bytes, 16-byte aligned
 *   sfb  jitgemm_scale_bytes(n, k) bytes, of MXFP4 (n, k/2), 16-byte aligned;
 *        padding may hold anything, NaN included
 *   c    m rows of n values of problem.c_type, 16-byte aligned; may not
 *        overlap an input
 *   alpha  one f32 in device memory, 4-byte aligned, or NULL for 1; the array
 *        itself may be NULL too
 *   bias n values of problem.c_type, aligned as they are, added to each row of
 *        C after alpha, before C is rounded; NULL likewise for 0
 * A NaN scale makes NaN only the row (sfa) or column (sfb) of C it scales; a
 * NaN or an infinity in A reaches only its row of C, where 0 times infinity is
 * NaN.
 * Pointers of an empty group are ignored. */
typedef struct jitgemm_operands {
    uint32_t size;
    uint32_t flags;         /* 0 */
    const void *const *a;
    const void *const *sfa;
    const void *const *b;
    const void *const *sfb;
    void *const *c;
    const float *const *alpha;
    const void *const *bias;
} jitgemm_operands;

/* Binds the operands of the plan's next runs. If any pointer differs from the
 * last binding, the table of groups is uploaded, in order with the work on
 * `stream`; runs on other streams must be ordered after it by the caller. If
 * none differs this only compares. The arrays are copied.
 * Not to be called while another thread binds or runs the same plan.
 * Errors: E_ARGUMENT (also a plan with JITGEMM_SIZES_DEVICE), E_VERSION,
 * E_ALIGN; E_NOT_READY (an upload is needed, but the stream is being
 * captured); E_DRIVER. */
jitgemm_status jitgemm_plan_bind(jitgemm_plan *plan,
                                 const jitgemm_operands *operands,
                                 struct CUstream_st *stream);

/* Launches the product on the stream, which belongs to the plan's CUDA
 * context (NULL: its default stream). Allocates, locks, compiles and
 * synchronizes nothing, and may be captured into a CUDA graph. The bound
 * memory must stay valid until the work is done.
 * Any number of threads may run one plan on any streams. Runs that overlap in
 * time share the bound C and the workspace, so they must see equal inputs.
 * Errors: E_ARGUMENT (also a plan with JITGEMM_SIZES_DEVICE), E_NOT_READY
 * (nothing was bound), E_DRIVER. */
jitgemm_status jitgemm_run(const jitgemm_plan *plan,
                           struct CUstream_st *stream);

/* ---- Kernels: what a problem needs, and making it ready ahead --------- */

/* The index-th kernel that a plan for the problem uses; the caller sets
 * kernel->size. The last four fields are known once the kernel is ready.
 * Compiles nothing; reads of the cache what was tuned, once, and no kernel
 * unless there is no NVRTC.
 * Errors: E_NOT_FOUND past the last kernel; E_ARGUMENT, E_VERSION, E_SHAPE,
 * E_ARCH, E_MEMORY; E_NO_NVRTC: NVRTC is part of the key. Where there is none,
 * the key is that of the kernel that would be taken, whoever compiled it, and
 * this is the error if there is no such kernel. */
jitgemm_status jitgemm_problem_kernel(jitgemm_context *context,
                                      const jitgemm_problem *problem,
                                      int32_t index, jitgemm_kernel *kernel);

/* Finds or compiles that kernel, and loads it where there is a GPU, so that a
 * plan in this process finds it in memory and one in another process on disk,
 * and no launch has anything left to do; fills `source`, `ms` and the fields
 * after. Of many threads that ask for one kernel, one compiles, and if that
 * fails all have its error. Safe while streams are being captured. Loading a
 * kernel waits for all that runs on the GPU; what must not be waited for, as a
 * kernel that stays, begins after this.
 * Errors: as jitgemm_problem_kernel() and E_COMPILE, E_FROZEN, E_DRIVER. */
jitgemm_status jitgemm_prepare(jitgemm_context *context,
                               const jitgemm_problem *problem, int32_t index,
                               jitgemm_kernel *kernel);

/* Begins to prepare all kernels of the problem, as jitgemm_prepare() would,
 * and returns. What is ready, or on its way already, is left alone. At most
 * JITGEMM_JOBS (4, or the number of cores if that is less) of the library's
 * threads do it; there is none before it is needed, and destroying the context
 * drops what has not begun and waits for the rest. That, or a wait, belongs
 * before exit(): NVRTC takes itself down there, under a thread that compiles.
 * Errors: as jitgemm_problem_kernel(). */
jitgemm_status jitgemm_prepare_async(jitgemm_context *context,
                                     const jitgemm_problem *problem);

/* Waits at most so many milliseconds, for ever if negative, until all that was
 * begun so for the context is done, and gives the first error among it, once.
 * Errors: E_NOT_READY (time is up), E_ARGUMENT; those of jitgemm_prepare(). */
jitgemm_status jitgemm_prepare_wait(jitgemm_context *context, int32_t ms);

/* Whether a plan for the problem would find all its kernels in memory, loaded:
 * if so, making it costs an allocation and microseconds. Never waits for a
 * compile or for the driver: a runtime asks this, and meanwhile serves with
 * the plans that it has.
 * Errors: E_NOT_READY; the error of the last try, if it failed; as
 * jitgemm_problem_kernel(). */
jitgemm_status jitgemm_problem_ready(jitgemm_context *context,
                                     const jitgemm_problem *problem);

/* The index-th kernel of a plan, as it was made ready for the plan.
 * Errors: E_NOT_FOUND past the last kernel; E_ARGUMENT, E_VERSION. */
jitgemm_status jitgemm_plan_kernel(const jitgemm_plan *plan, int32_t index,
                                   jitgemm_kernel *kernel);

/* Writes a text for people: what each configuration is expected to take for
 * the problem, which one a plan chooses, and whether that was measured. At
 * most `size` bytes with the NUL that ends it; *needed, unless NULL, is how
 * many bytes all of it takes. Its form may change. text may be NULL if size
 * is 0.
 * Errors: as jitgemm_problem_kernel() without E_NOT_FOUND and E_NO_NVRTC. */
jitgemm_status jitgemm_problem_explain(jitgemm_context *context,
                                       const jitgemm_problem *problem,
                                       char *text, size_t size,
                                       size_t *needed);

/* ---- Tuning: what is fastest, measured -------------------------------- */

typedef struct jitgemm_tuned {
    uint32_t size;
    int32_t tried;          /* configurations that were measured */
    double us;              /* a run with that chosen */
    double model_us;        /* and with that which the model would choose */
    char kernel[96];        /* the product of that chosen: the name of its
                               last jitgemm_kernel */
    char model_kernel[96];  /* likewise */
} jitgemm_tuned;

/* Measures, on the context's GPU, every configuration that the problem may run
 * in, and stores the fastest beside the cache, in DIR/v1/tuning-ARCH-SMS: that
 * of the model unless another takes at least 2 % less. From then on plans take
 * it for all problems of this class: as many groups, equal n, k, types,
 * sm_limit and JITGEMM_ALLOW_SPLIT_K, and as many rows in all and in the
 * longest group, up to the next power of two. So do other contexts made from
 * then on, and what is prepared; if a problem of the class cannot run in it,
 * its plan is as before. C has the same bits, but with JITGEMM_ALLOW_SPLIT_K.
 *
 * The caller sets tuned->size. Runs on the stream with operands of its own, of
 * the problem's sizes, and waits for it; each time is the median of several
 * runs, of which none finds operands in the L2. The GPU should have nothing
 * else to do. May be called by any number of threads, but then they measure
 * each other. Compiles as jitgemm_prepare() does, for every configuration.
 * Errors: E_SHAPE (also groups that differ in n or k, and none with rows),
 * E_CACHE (no directory that may be written), E_ARGUMENT, E_VERSION, E_ARCH,
 * E_NO_DEVICE, E_NO_NVRTC, E_COMPILE, E_FROZEN, E_MEMORY (also of the GPU),
 * E_DRIVER. */
jitgemm_status jitgemm_tune(jitgemm_context *context,
                            const jitgemm_problem *problem,
                            struct CUstream_st *stream, jitgemm_tuned *tuned);

/* ---- Conversions: activations and scales for the product, on the GPU --- */

/* A conversion quantizes rows of f16 or bf16 to NVFP4, or leaves them at 16
 * bits, gathered or activated, for products with such an A; brings row-major
 * e4m3 scales into the blocked layout; or adds rows up, as behind the last
 * product of a layer of experts. It is made once, for every size; a run is one
 * launch. How many rows the groups have is read on the device, so a run in a
 * captured graph replays with others. */

typedef enum jitgemm_scale_order {
    JITGEMM_SCALES_BLOCKED = 0, /* jitgemm_scale_offset(), from the place on */
    JITGEMM_SCALES_LINEAR = 1   /* row r at r * k/16, the rows of x; place 0 */
} jitgemm_scale_order;

/* What is quantized or cast: x, or silu(gate) * up, of 2 * k elements of x a
 * row; OAI, as in gpt-oss: gate * sigmoid(1.702 * gate) * (up + 1), where a
 * gate above 7 is taken for 7, and an up for the nearest one from -7 to 7. */
typedef enum jitgemm_activation {
    JITGEMM_NO_ACTIVATION = 0,
    JITGEMM_SWIGLU = 1,             /* x: k gates, then k ups */
    JITGEMM_SWIGLU_INTERLEAVED = 2, /* x: a gate, its up, the next gate ... */
    JITGEMM_SWIGLU_OAI = 3,         /* x: as of 1 */
    JITGEMM_SWIGLU_OAI_INTERLEAVED = 4 /* x: as of 2 */
} jitgemm_activation;

enum { /* flags of a conversion */
    JITGEMM_GATHER = 1,  /* F16 and BF16: rows of x in any order, as tokens
                            into that of their experts */
    JITGEMM_COMBINE = 2, /* no quantization: each row becomes a weighted sum of
                            some rows of x, of c_type; x_type may be F32, and
                            the rest of the options is 0. As what the experts
                            made of a token comes back to it */
    JITGEMM_CAST = 16    /* no quantization: rows of F16 or BF16 become rows of
                            c_type, F16 or BF16; place and scale_order are 0.
                            As an A of 16 bits, by GATHER or an activation */
};

/* What is compiled. */
typedef struct jitgemm_conversion_options {
    uint32_t size;
    uint32_t flags;         /* those above, but COMBINE beside no other, and
                               perhaps JITGEMM_DEPENDENT_LAUNCH */
    jitgemm_type x_type;    /* F16 or BF16: rows to quantize; E4M3: scales */
    jitgemm_layout layout;
    jitgemm_place place;
    jitgemm_scale_order scale_order; /* E4M3: blocked only */
    jitgemm_activation activation; /* E4M3: none */
    jitgemm_type c_type;    /* JITGEMM_COMBINE: F16, BF16, F32; JITGEMM_CAST:
                               F16, BF16; else 0 */
    int32_t sm_limit;       /* as that of a problem; of all kinds */
} jitgemm_conversion_options;

typedef struct jitgemm_conversion jitgemm_conversion;

/* Finds or compiles and loads the kernel. Safe while another stream is being
 * captured. As with plans, a kernel that did not compile once is tried again
 * by jitgemm_conversion_prepare() only. The context must outlive it.
 * Errors: E_ARGUMENT, E_VERSION, E_NO_NVRTC, E_COMPILE, E_FROZEN, E_NO_DEVICE
 * (a context made for an arch), E_MEMORY, E_DRIVER. */
jitgemm_status jitgemm_conversion_create(
    jitgemm_context *context, const jitgemm_conversion_options *options,
    jitgemm_conversion **conversion);

/* NULL is allowed. Runs may still be under way. */
void jitgemm_conversion_destroy(jitgemm_conversion *conversion);

/* What jitgemm_problem_kernel() tells of a kernel before it is ready, for that
 * of a conversion. The caller sets kernel->size.
 * Errors: E_ARGUMENT, E_VERSION, E_MEMORY, E_NO_NVRTC. */
jitgemm_status jitgemm_conversion_describe(
    jitgemm_context *context, const jitgemm_conversion_options *options,
    jitgemm_kernel *kernel);

/* What jitgemm_prepare() does, for the kernel of a conversion: in a context
 * made for an arch, too. The caller sets kernel->size.
 * Errors: as jitgemm_conversion_create(), without E_NO_DEVICE. */
jitgemm_status jitgemm_conversion_prepare(
    jitgemm_context *context, const jitgemm_conversion_options *options,
    jitgemm_kernel *kernel);

/* Its kernel, as it was made ready. Errors: E_ARGUMENT, E_VERSION. */
jitgemm_status jitgemm_conversion_kernel(const jitgemm_conversion *conversion,
                                         jitgemm_kernel *kernel);

/* Pointers are to device memory. Products of sizes may be past 2^31. */
typedef struct jitgemm_conversion_arguments {
    uint32_t size;
    uint32_t flags;         /* 0 */
    int32_t groups;         /* 1 .. 65536; JITGEMM_COMBINE: 1 */
    int32_t top_k;          /* JITGEMM_COMBINE: rows of x to one of values, at
                               least 1; else 0 */
    int64_t k;              /* > 0, multiple of 16, < 2^31 */
    int64_t max_rows;       /* 0 .. 2^31 - 1: of all groups together or, with
                               JITGEMM_ROWS_MASKED, of each */
    const void *x;          /* F16, BF16: rows of k elements, with an
                               activation of 2 * k, 16-byte aligned.
                               E4M3: rows of k/16 bytes; fastest if pointer,
                               ldx and k/16 are multiples of 16 */
    int64_t ldx;            /* elements of x from row to row, a multiple of 8
                               unless they are E4M3; 0: packed */
    const int32_t *rows;    /* offsets, [groups + 1], or counts, [groups]. NULL
                               with JITGEMM_ROWS_MASKED: max_rows each; so one
                               group has as many rows as the caller says.
                               JITGEMM_COMBINE: likewise, as if masked */
    const float *scale;     /* [groups] multipliers, 6 * 448 / max |x| to use
                               the whole range: x ~= e2m1 * e4m3 / scale.
                               NULL: 1. Not for E4M3, CAST. JITGEMM_COMBINE:
                               weights, [max_rows * top_k] */
    const int32_t *scale_row; /* [groups], multiples of 128, for
                               JITGEMM_PLACE_EXPLICIT only */
    int64_t scale_rows;     /* rows that scales has room for, a multiple of
                               128, for JITGEMM_PLACE_EXPLICIT only */
    void *values;           /* rows of k/2 bytes where those of x are, even k
                               in the low four bits; 16-byte aligned. NULL for
                               E4M3. JITGEMM_COMBINE and JITGEMM_CAST: rows of
                               k elements of c_type */
    void *scales;           /* jitgemm_scale_bytes(jitgemm_scale_rows(), k)
                               bytes, 16-byte aligned. Linear: k/16 a row.
                               JITGEMM_COMBINE, JITGEMM_CAST: NULL */
    jitgemm_fault *fault;   /* 8-byte aligned, or NULL */
    const int32_t *gather;  /* for each row of values, the number of the row of
                               x that it is made of or, JITGEMM_COMBINE, of
                               top_k rows. Without either flag NULL */
    int64_t x_rows;         /* then: rows that x has, < 2^31 */
} jitgemm_conversion_arguments;

/* Launches on the stream, as jitgemm_run() does, with all that is said there;
 * no memory is shared by runs, but what the caller gives.
 *
 * Each step is one f32 operation, rounded to nearest even, so that all GPUs
 * give the same bits; the maximum is over 16 neighbours in k:
 *   e4m3 = scale * (max |x| * (1 / 6)), at most 448
 *   e2m1 = x * (scale / e4m3), at most 6
 * where the last two are rounded to the nearest code, ties to the even one.
 * jitgemm_quantize() rounds but once: results differ where a rounding of f32
 * moved a value to or from a tie. A NaN element counts as 0, with its sign; an
 * infinity saturates, so the rest of its block is quantized for the scale 448.
 * A block whose scale is 0 is all 0. A multiplier that is NaN, 0 or negative
 * makes the group 0. No scale is ever NaN, unless E4M3 had it.
 *
 * An activation comes before, all of it in f32, with nothing rounded to 16
 * bits between. Its steps are f32 operations and fused multiply-adds, so all
 * GPUs give the same bits here, too; log2e, 1/ln 2, is rounded to f32:
 *   n = gate * -log2e, rounded to an integer, and r = gate * -log2e - n
 *   e = 2^n * P(r), which is exp(-gate) but for 2^-19 of it
 *   x = (gate * (1 / (1 + e))) * up
 * where P is the polynomial of degree 5 in kernel_src/quant/swiglu.cuh. A gate
 * above 87 is taken for 87 in e; below -87, 1 / (1 + e) is 0. OAI, of a gate
 * and an up within their bounds, has 1.702 * log2e, rounded to f32, for log2e,
 * x = (gate * (1 / (1 + e))) * (up + 1), and 0 for 1 / (1 + e) below -51. A
 * NaN x is 0, without a sign.
 *
 * JITGEMM_CAST rounds x, or what an activation made of it in f32, once, to the
 * nearest even of c_type; past its range is an infinity, and without an
 * activation a NaN is 0x7fff. An x of c_type without an activation is copied.
 *
 * Gathered rows whose number is negative or not below x_rows are 0, which is
 * no fault: -1 is for rows that belong to no token. Of numbers only those of
 * rows of groups are read.
 *
 * JITGEMM_COMBINE makes, for the top_k rows j of x that gather has for a row
 * of values, from the first to the last and beginning with 0,
 *   sum = weight_j * x_j + sum, in f32, rounded once
 * and rounds the last sum to c_type. So all runs and GPUs give the same bits.
 * Of numbers that are no row's, and of their weights, nothing comes; a row of
 * them alone is 0.
 *
 * Of blocked scales, whole tiles of 128 rows x 64 k are written: those past a
 * group's last row and past k are 0. Nothing else is written: neither rows
 * past the last offset, nor tiles that belong to no group.
 *
 * Bad is a group unless 0 <= its first row <= its end <= the last offset <=
 * max_rows (stacked; a last offset that is bad is taken for max_rows), or
 * 0 <= rows[g] <= max_rows (masked), and unless its scale_row is a multiple of
 * 128 with room behind it. It is skipped, and the others are converted; where
 * offsets run backwards, groups may have rows in common, and those whose
 * scales have no room are skipped, too. No memory but that described above is
 * touched, whatever the numbers are.
 * Errors: E_ARGUMENT, E_VERSION, E_SHAPE, E_ALIGN, E_DRIVER. */
jitgemm_status jitgemm_conversion_run(
    const jitgemm_conversion *conversion,
    const jitgemm_conversion_arguments *arguments,
    struct CUstream_st *stream);

/* Rows of scales to allocate for groups of max_rows rows: in all, so that of
 * masked ones it is their groups * max_rows, but with JITGEMM_PLACE_STRIDED
 * those of each. -1 if an argument is negative or past its range, or the place
 * is JITGEMM_PLACE_EXPLICIT. */
int64_t jitgemm_scale_rows(jitgemm_place place, int64_t max_rows,
                           int32_t groups);

/* ---- Experts: a product whose sizes are in device memory --------------- */

/* Stacked experts of one n and k, of which device memory says how many rows
 * each has: nothing comes back to the host, one plan serves all numbers up to
 * max_rows, and a run in a captured graph replays with others. Operands are
 * given to each run, so one plan serves all layers of a model. */

/* Pointers are to device memory. Rows of a group are those that the plan's
 * layout says. */
typedef struct jitgemm_expert_arguments {
    uint32_t size;
    uint32_t flags;         /* 0 */
    const void *a;          /* rows of k/2 bytes, or of k values of
                               problem.a_type; 16-byte aligned, as all of the
                               next four */
    const void *sfa;        /* jitgemm_scale_bytes(jitgemm_scale_rows(), k)
                               bytes, the scales of each group where the
                               plan's place says. NULL unless A is NVFP4 */
    const void *b;          /* n * k/2 bytes of each group, stride_b apart */
    const void *sfb;        /* jitgemm_scale_bytes(n, k) of each, of MXFP4
                               (n, k/2); likewise */
    void *c;                /* rows of n elements, by number where those of A
                               are; may not overlap an input */
    const float *alpha;     /* [groups], or NULL: 1 */
    const void *bias;       /* n values of problem.c_type for each group, one
                               after the other, aligned as they are; or NULL */
    const int32_t *rows;    /* as in jitgemm_conversion_arguments, and the
                               next two, too */
    const int32_t *scale_row;
    int64_t scale_rows;
    int64_t stride_b;       /* bytes, a multiple of 16 below 2^40; 0: as many
                               as a group has */
    int64_t stride_sfb;     /* likewise */
    jitgemm_fault *fault;   /* 8-byte aligned, or NULL */
    void *workspace;        /* 256-byte aligned; may be NULL if it needs no
                               bytes */
    size_t workspace_bytes; /* at least jitgemm_plan_workspace() */
} jitgemm_expert_arguments;

/* The bytes of a workspace for a run of a plan with JITGEMM_SIZES_DEVICE: on
 * sm_90a with up to 256 groups only for decoded activations, which is 0 where
 * one kernel does all. Its contents need not be anything, and mean nothing
 * afterwards.
 * Errors: E_ARGUMENT. */
jitgemm_status jitgemm_plan_workspace(const jitgemm_plan *plan, size_t *bytes);

/* Launches the product on the stream, as jitgemm_run() does. Runs that overlap
 * in time need a workspace and a C each; others may share them.
 *
 * Bad is a group as in jitgemm_conversion_run(). It is left out, reported, and
 * nothing of its C is written. Where offsets run backwards, groups may have
 * rows in common, and groups behind max_rows rows in all may be left out, too.
 * Of a group without rows nothing is read; rows of C that are no group's
 * are not written, but as JITGEMM_ZERO_TAIL says. No memory but that described
 * above is touched, whatever the numbers are.
 * Errors: E_ARGUMENT (also a plan without JITGEMM_SIZES_DEVICE, and a
 * workspace that is too small), E_VERSION, E_SHAPE, E_ALIGN, E_DRIVER. */
jitgemm_status jitgemm_run_experts(const jitgemm_plan *plan,
                                   const jitgemm_expert_arguments *arguments,
                                   struct CUstream_st *stream);

/* ---- Cache directories and packs -------------------------------------- */

/* Compiled kernels are kept in cache directories and in packs: files that do
 * not change, with the entries of many kernels, to be shipped. A path that
 * ends in ".jgp" is that of a pack, any other the absolute path of a cache
 * directory, and NULL is the directory that context options without one mean.
 * All are trusted only if this user or root owns them and others may not
 * write. None of this needs a GPU or a driver. */

typedef enum jitgemm_entry_state {
    JITGEMM_ENTRY_GOOD = 0,
    JITGEMM_ENTRY_BAD = 1,      /* damaged, or not to be trusted */
    JITGEMM_ENTRY_REBUILT = 2,  /* compiled again: the same bytes */
    JITGEMM_ENTRY_DIFFERENT = 3, /* compiled again: not the same */
    JITGEMM_ENTRY_NOT_COMPARABLE = 4 /* of other sources or another NVRTC */
} jitgemm_entry_state;

typedef struct jitgemm_field {
    const char *name, *value;
} jitgemm_field;

typedef struct jitgemm_entry {
    uint32_t size;          /* of this struct, as the library knows it */
    jitgemm_entry_state state;
    const char *why;        /* of the last two states and BAD; else "" */
    const char *key;        /* 32 hex digits */
    /* Of a BAD entry, all that follows is "", 0 or NULL. */
    const char *arch;       /* "sm_90a" */
    const char *symbol;     /* of the __global__ function */
    const char *compiler;   /* "NVRTC 13.0" */
    const char *library;    /* version of this library that made it */
    const char *host;       /* that it was made on */
    const jitgemm_field *fields; /* that the key is made of, [field_count] */
    int32_t field_count;
    int32_t registers;      /* a thread */
    int32_t spill_bytes;    /* a thread */
    int32_t shared_bytes;   /* a block, static */
    int64_t bytes;          /* of the whole entry */
    int64_t created;        /* seconds since 1970 */
    double compile_ms;
} jitgemm_entry;

/* Gets an entry, which is valid during the call only. */
typedef void (*jitgemm_entry_fn)(void *user, const jitgemm_entry *entry);

enum { /* flags of a list */
    JITGEMM_LIST_REBUILD = 1 /* compile good entries again and compare */
};

/* Reads all of a cache directory or pack and calls `entry` for each of its
 * entries, by ascending key. A bad one is no error of the call.
 * Errors: E_NOT_FOUND (there is none), E_CACHE (it cannot be read or trusted,
 * or the index of the pack is damaged), E_ARGUMENT, E_MEMORY; E_NO_NVRTC with
 * JITGEMM_LIST_REBUILD. */
jitgemm_status jitgemm_cache_list(const char *path, uint32_t flags,
                                  jitgemm_entry_fn entry, void *user);

/* Copies the good entries of all sources to the target. Of entries with one
 * key, that of the first source is taken. A pack is made or replaced in one
 * step and then holds nothing else; equal entries make equal bytes. To a
 * cache directory entries are added. `entry`, which may be NULL, is called for
 * each entry that is copied and for each that is left out, which is BAD.
 * Errors: as jitgemm_cache_list(), and E_CACHE if the target cannot be
 * written. */
jitgemm_status jitgemm_cache_copy(const char *const *sources, int32_t count,
                                  const char *target, jitgemm_entry_fn entry,
                                  void *user);

/* The SHA-256 of a pack's header and index, which has that of each entry: 64
 * hex digits and a NUL. Checks the index, reads no entry.
 * Errors: as jitgemm_cache_list(). */
jitgemm_status jitgemm_pack_digest(const char *path, char digest[65]);

enum { /* flags of a call that prunes */
    JITGEMM_PRUNE_DRY_RUN = 1 /* say what would go, remove nothing */
};

/* For max_bytes: what JITGEMM_CACHE_MAX_SIZE allows, 1 GiB if unset. */
#define JITGEMM_PRUNE_TO_LIMIT UINT64_MAX

typedef struct jitgemm_pruned {
    uint32_t size;
    uint32_t swept;         /* unfinished and damaged files older than a day,
                               removed too */
    uint64_t entries;       /* that were there */
    uint64_t bytes;         /* that they took on disk */
    uint64_t removed;       /* of those entries */
    uint64_t removed_bytes; /* of those bytes */
} jitgemm_pruned;

/* Removes the entries of the context's cache directory that were used least
 * recently, until the rest takes at most max_bytes; 0 removes all. Other
 * processes may go on using it. Logs a line an entry at JITGEMM_LOG_INFO. The
 * caller sets pruned->size. Nothing needs this call: who adds an entry keeps
 * to the limit.
 * Errors: E_ARGUMENT (context or pruned NULL, unknown flags), E_VERSION,
 * E_NOT_FOUND (no directory that may be written, or it cannot be read or is
 * being pruned by another process; error.system says why). */
jitgemm_status jitgemm_cache_prune(jitgemm_context *context,
                                   uint64_t max_bytes, uint32_t flags,
                                   jitgemm_pruned *pruned);

/* ---- Statistics ------------------------------------------------------- */

/* Counts since the context was made. Every kernel that a plan, a conversion or
 * jitgemm_prepare*() asked for is counted in one of the first five, so they
 * add up to the number of events. */
typedef struct jitgemm_stats {
    uint32_t size;
    uint32_t frozen;          /* 1 after jitgemm_freeze() */
    uint64_t memory_hits;     /* loaded, or another thread was at it */
    uint64_t pack_hits;
    uint64_t disk_hits;
    uint64_t compiled;        /* by who asked */
    uint64_t failed;          /* asked for and not got, for whatever reason */
    uint64_t misses;          /* neither in memory nor in the cache */
    uint64_t refused;         /* compiles, because the context is frozen */
    uint64_t compiles;        /* that ran, failed ones included */
    uint64_t failed_compiles;
    uint64_t loads;           /* into the driver, failed ones included */
    uint64_t failed_loads;
    uint64_t compile_us;      /* time of all compiles and of writing what they
                                 made to the cache, microseconds */
    uint64_t load_us;         /* time of all loads */
    /* Now, for all contexts with this cache directory. */
    uint64_t kernels;         /* in memory */
    uint64_t kernel_bytes;    /* of machine code in host memory */
    /* The cache directory, since the first of its contexts was made. */
    uint64_t corrupt;         /* entries found bad */
    uint64_t evicted;         /* entries removed for want of room */
    uint64_t lock_waits;      /* for another process that had a key */
} jitgemm_stats;

/* The caller sets stats->size. Cheap; may be called at any time. While other
 * threads work, counts that belong together may be caught between two.
 * Errors: E_ARGUMENT, E_VERSION. */
jitgemm_status jitgemm_stats_read(jitgemm_context *context,
                                  jitgemm_stats *stats);

/* Writes stats as a JSON object on one line, its names those of the fields
 * above; as snprintf() does: at most `size` bytes, the last of which is a NUL,
 * and returns the length that all of it has. 0 if stats->size is wrong. */
size_t jitgemm_stats_json(const jitgemm_stats *stats, char *text, size_t size);

/* ---- Host helpers ----------------------------------------------------- */

/* Blocked ("128x4") scale layout of a rows x k operand: byte of the scale of
 * `row` and `block` (k index / 16), and size of the whole buffer: rows padded
 * to 128, k to 64. Both 0 if an argument is negative, jitgemm_scale_bytes()
 * also if the size does not fit size_t. */
size_t jitgemm_scale_offset(int64_t row, int64_t block, int64_t k);
size_t jitgemm_scale_bytes(int64_t rows, int64_t k);

/* Converts rows x k/16 scales from row-major to blocked, padding set to 0,
 * and back. The buffers may not overlap. No rows or no k is nothing to do.
 * Errors: E_ARGUMENT (NULL), E_SHAPE (rows or k negative or their scales too
 * many for size_t, k not a multiple of 16). */
jitgemm_status jitgemm_scales_to_blocked(int64_t rows, int64_t k,
                                         const uint8_t *row_major,
                                         uint8_t *blocked);
jitgemm_status jitgemm_scales_from_blocked(int64_t rows, int64_t k,
                                           const uint8_t *blocked,
                                           uint8_t *row_major);

/* The tensor scale that uses the whole range of NVFP4: max |x| / (6 * 448),
 * a multiplier, as ModelOpt stores it (compressed-tensors stores 1 / this).
 * NaN and infinities are ignored; 1 if all finite elements are 0 or none is.
 * alpha of a product is the product of the two tensor scales. */
float jitgemm_tensor_scale(const float *x, size_t count);

/* Quantizes rows x k f32 values (row r at x + r * ldx) so that
 *   x ~= e2m1 * e4m3 * tensor_scale.
 * Writes rows * k/2 bytes of values, even k in the low four bits, and
 * rows * k/16 row-major scales. Rounds to nearest, ties to the even code;
 * magnitudes past the range saturate. A block whose scale rounds to 0 becomes
 * 0. An infinity saturates, a NaN element becomes 0; a negative that rounds to
 * 0 keeps its sign.
 * Errors: E_ARGUMENT (NULL, ldx < k, tensor_scale not finite and > 0),
 * E_SHAPE (rows < 0; k not a positive multiple of 16). */
jitgemm_status jitgemm_quantize(const float *x, int64_t rows, int64_t k,
                                int64_t ldx, float tensor_scale,
                                uint8_t *values, uint8_t *scales);

#ifdef __cplusplus
}
#endif
#endif
