/* SPDX-License-Identifier: MIT */
/* Planted bugs of the real kernels. Usage: e_bugs [BUG]; emu/planted.h. */
#include "emu/gemm_case.h"
#include "emu/planted_blackwell_bugs.h"
#include "emu/planted_hopper_bugs.h"
#include "emu/planted_pair_bugs.h"

#include "test.h"

using namespace emu_test;

/* Rings go round several times; all edges are odd, but in pairs' k. */
static const std::vector<size> hopper_sizes = {
    {37, 392, 1056}, {0, 8, 32}, {3, 136, 544}};
static const std::vector<size> blackwell_sizes = {
    {37, 136, 1056}, {0, 8, 32}, {3, 264, 544}};
static const std::vector<size> pair_sizes = {
    {300, 136, 1088}, {0, 8, 64}, {3, 264, 576}};

static std::string texts()
{
    return planted_source() + "/kernel_src";
}

static run_function make(const jg_config &config, kernel_kind kind)
{
    compile_job job = job_of(
        config, kind, "tests/emu_work/good-" + std::to_string(kind), texts());
    run_function made = compile_finish(job, compile_start(job));

    CHECK(made);
    return made;
}

/* Whether the bug is in the kernel that decodes activations. */
static bool is_in_activations(const planted_bug &bug)
{
    return !strcmp(bug.file, ACTIVATIONS_TEXT) || !strcmp(bug.file, ROW_TEXT);
}

/* `good` are the kernels without the bug, if there are two. */
static planted_case make_case(const planted_bug &bug, const jg_model &model,
                              const std::vector<size> &sizes,
                              const std::string &folder, kernels all)
{
    jg_config config = model.configs[bug.config];
    kernel_kind kind = is_in_activations(bug) ? ACTIVATIONS : PRODUCT;
    std::shared_ptr<gemm_case> gemm; /* only one at a time can be */

    config.edits_maps = bug.edits_maps;
    return {&bug, texts(), job_of(config, kind, folder, texts()),
            [=](run_function bad, uint64_t seed) mutable {
                if (!gemm)
                    gemm = std::make_shared<gemm_case>(config, sizes, 1);
                (kind == PRODUCT ? all.product : all.activations) = bad;
                return gemm->run(all, seed, 1 + int(seed % 2));
            }};
}

int main(int argc, char **argv)
{
    std::vector<planted_case> cases;
    const jg_config &two_kernels = jg_model_sm90.configs[1];
    kernels good = {make(two_kernels, ACTIVATIONS),
                    make(two_kernels, PRODUCT)};
    auto add = [&](const planted_bug &bug, const jg_model &model,
                   const std::vector<size> &sizes) {
        cases.push_back(make_case(
            bug, model, sizes,
            "tests/emu_work/bug-" + std::to_string(cases.size()), good));
    };

    for (const planted_bug &bug : hopper_bugs)
        add(bug, jg_model_sm90, hopper_sizes);
    for (const planted_bug &bug : blackwell_bugs)
        add(bug, jg_model_sm100, blackwell_sizes);
    for (const planted_bug &bug : pair_bugs)
        add(bug, jg_model_sm100, pair_sizes);
    if (!test_failures)
        CHECK_INT(planted_check(cases, argc > 1 ? argv[1] : nullptr), 0);
    return test_end();
}
