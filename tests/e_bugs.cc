/* SPDX-License-Identifier: MIT */
/* Planted bugs of the real kernels. Usage: e_bugs [BUG]; emu/planted.h. */
#include "emu/gemm_case.h"
#include "emu/planted_blackwell_bugs.h"
#include "emu/planted_hopper_bugs.h"
#include "emu/planted_pair_bugs.h"
#include "emu/planted_split_bugs.h"
#include "emu/planted_tensor_bugs.h"
#include "emu/planted_tile_bugs.h"

#include "test.h"

using namespace emu_test;

/* What a table's bugs are planted in: the usual row of the model's, or
 * another. Rings go round several times; edges are odd. */
struct family {
    const char *name;
    const jg_model &model;
    int usual;
    std::vector<size> sizes;
};
static const family hopper = {
    "Hopper", jg_model_sm90, 1, {{37, 392, 1056}, {0, 8, 32}, {3, 136, 544}}};
static const family split = {
    "split", jg_model_sm90, SPLIT, {{9, 136, 1056}, {0, 8, 32}}};
static const family blackwell = {"Blackwell",
                                 jg_model_sm100,
                                 SWAPPED,
                                 {{37, 136, 1184}, {0, 8, 32}, {3, 264, 544}}};
static const family pairs = {"pair",
                             jg_model_sm100,
                             PAIR,
                             {{300, 200, 1088}, {0, 8, 64}, {3, 264, 576}}};

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

/* `all` has the kernels without the bug, if there are two. */
static planted_case make_case(const planted_bug &bug, const family &family,
                              const std::string &folder, kernels all)
{
    jg_config config =
        family.model.configs[bug.config < 0 ? family.usual : bug.config];
    kernel_kind kind = is_in_activations(bug) ? ACTIVATIONS : PRODUCT;
    std::shared_ptr<gemm_case> gemm; /* there can be one at a time */

    config.edits_maps = bug.edits_maps;
    return {family.name + std::string(": ") + bug.title, &bug, texts(),
            job_of(config, kind, folder, texts()),
            [=, &family](run_function bad, uint64_t seed) mutable {
                if (!gemm)
                    gemm =
                        std::make_shared<gemm_case>(config, family.sizes, 1);
                (kind == PRODUCT ? all.product : all.activations) = bad;
                return gemm->run(all, seed, 1 + static_cast<int>(seed % 2));
            }};
}

int main(int argc, char **argv)
{
    std::vector<planted_case> cases;
    const jg_config &two = jg_model_sm90.configs[hopper.usual];
    kernels good = {make(two, ACTIVATIONS), make(two, PRODUCT)};
    auto add = [&](const auto &bugs, const family &family) {
        for (const planted_bug &bug : bugs)
            cases.push_back(make_case(
                bug, family,
                "tests/emu_work/bug-" + std::to_string(cases.size()), good));
    };

    add(hopper_bugs, hopper);
    add(split_bugs, split);
    add(blackwell_bugs, blackwell);
    add(tensor_bugs, blackwell);
    add(tile_bugs, blackwell);
    add(pair_bugs, pairs);
    if (!test_failures)
        CHECK_INT(planted_check(cases, argc > 1 ? argv[1] : nullptr), 0);
    return test_end();
}
