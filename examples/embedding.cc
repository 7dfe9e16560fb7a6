// SPDX-License-Identifier: MIT
// How a C++ runtime holds the library: one context a GPU, one plan for all
// token counts up to a maximum, run by several threads at once, errors as
// exceptions. A cudaStream_t is a CUstream.
//
// Weights and tokens are all 1 here, so that each element of C is k. Without a
// GPU, JITGEMM_LIBCUDA may name the emulated one of tests/emu.
#include <jitgemm.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <vector>

#include "cuda_driver.h"

// ---- What a runtime would have ---------------------------------------------

// The error's text belongs to the thread that made the call.
static void check(jitgemm_status status)
{
    if (status != JITGEMM_OK)
        throw std::runtime_error(jitgemm_last_error()->text);
}

struct Destroy {
    void operator()(jitgemm_context *context) const
    {
        jitgemm_context_destroy(context);
    }
    void operator()(jitgemm_plan *plan) const
    {
        jitgemm_plan_destroy(plan);
    }
};
using Context = std::unique_ptr<jitgemm_context, Destroy>;
using Plan = std::unique_ptr<jitgemm_plan, Destroy>;

// For the CUDA context that is current: the runtime's own. Lives as long as
// the process, or at least as all plans.
static Context make_context()
{
    jitgemm_context_options options{};
    options.size = sizeof options;
    options.device = JITGEMM_CURRENT_CONTEXT;
    jitgemm_context *context;
    check(jitgemm_context_create(&options, &context));
    return Context(context);
}

// One product of a layer's experts. const: any thread may run it at any time,
// also in a captured stream, since a run keeps nothing in the plan.
class Experts {
public:
    Experts(jitgemm_context *context, int32_t experts, int64_t n, int64_t k,
            int64_t most_tokens)
    {
        jitgemm_problem problem{};
        problem.size = sizeof problem;
        problem.groups = experts;
        problem.n = &n;
        problem.k = &k;
        problem.sizes = JITGEMM_SIZES_DEVICE;
        problem.max_rows = most_tokens;
        jitgemm_plan *plan;
        check(jitgemm_plan_create(context, &problem, &plan));
        plan_.reset(plan);
        check(jitgemm_plan_workspace(plan, &workspace_bytes_));
    }

    // For each stream whose runs may overlap with another's.
    size_t workspace_bytes() const
    {
        return workspace_bytes_;
    }

    void run(jitgemm_expert_arguments arguments, CUstream stream) const
    {
        arguments.size = sizeof arguments;
        arguments.workspace_bytes = workspace_bytes_;
        check(jitgemm_run_experts(plan_.get(), &arguments, stream));
    }

private:
    Plan plan_;
    size_t workspace_bytes_;
};

// ---- Two threads that serve with it ----------------------------------------

constexpr int32_t experts = 4;
constexpr int64_t n = 256, k = 512, most_tokens = 64;
constexpr uint8_t ones = 0x22, scale_one = 0x38; // e2m1 twice, e4m3

static void *filled(size_t bytes, uint8_t byte)
{
    std::vector<uint8_t> all(bytes, byte);
    return to_device(all.data(), bytes);
}

// With so many tokens at each expert. Returns how much of C is wrong.
static size_t serve(const Experts &product, const void *b, const void *sfb,
                    CUcontext cuda_context, int32_t each)
{
    must_cuda(cuda.cuCtxPushCurrent(cuda_context));
    CUstream stream;
    must_cuda(cuda.cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    int32_t offsets[experts + 1];
    for (int32_t e = 0; e <= experts; e++)
        offsets[e] = e * each;
    const int64_t scale_rows =
        jitgemm_scale_rows(JITGEMM_PLACE_TIGHT, most_tokens, experts);
    std::vector<uint16_t> c(size_t(offsets[experts] * n));

    jitgemm_expert_arguments arguments{};
    arguments.a = filled(size_t(most_tokens * k / 2), ones);
    arguments.sfa = filled(jitgemm_scale_bytes(scale_rows, k), scale_one);
    arguments.b = b;
    arguments.sfb = sfb;
    arguments.c = filled(size_t(most_tokens * n) * 2, 0xff);
    arguments.rows = static_cast<int32_t *>(to_device(offsets, sizeof offsets));
    arguments.workspace = filled(product.workspace_bytes(), 0xff);
    product.run(arguments, stream);
    must_cuda(cuda.cuStreamSynchronize(stream));

    from_device(c.data(), arguments.c, c.size() * 2);
    size_t wrong = 0;
    for (uint16_t element : c)
        wrong += element != 0x6000; // k as f16
    for (const void *memory :
         {arguments.a, arguments.sfa, static_cast<const void *>(arguments.c),
          static_cast<const void *>(arguments.rows),
          static_cast<const void *>(arguments.workspace)})
        free_device(memory);
    must_cuda(cuda.cuStreamDestroy(stream));
    return wrong;
}

int main()
try {
    cuda_open(); // a runtime's context would be current already
    CUcontext current;
    must_cuda(cuda.cuCtxGetCurrent(&current));
    Context context = make_context();
    const Experts product(context.get(), experts, n, k, most_tokens);
    const void *b = filled(size_t(experts * n * k / 2), ones);
    const void *sfb = filled(experts * jitgemm_scale_bytes(n, k), scale_one);

    auto other = std::async(std::launch::async, [&] {
        return serve(product, b, sfb, current, 3);
    });
    size_t wrong = serve(product, b, sfb, current, 1);
    wrong += other.get();
    free_device(b);
    free_device(sfb);
    printf("%zu wrong\n", wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
} catch (const std::exception &error) {
    fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
}
