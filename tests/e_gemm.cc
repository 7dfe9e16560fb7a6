/* SPDX-License-Identifier: MIT */
/* The kernels in every configuration, under several schedules.
 * Usage: e_gemm [SEEDS [FIRST [CONFIGURATION]]]; E_SEEDS is the same as SEEDS.
 */
#include "emu/gemm_case.h"

#include "test.h"

#include <algorithm>

#include <stdlib.h>

using namespace emu_test;

/* Tails in every direction, several tiles a block, groups of nothing. */
static const std::vector<std::vector<size>> problems = {
    {{1, 8, 32}, {0, 128, 64}, {9, 136, 288}},
    {{0, 64, 64}, {131, 200, 544}, {3, 264, 96}, {0, 8, 32}},
    {{264, 128, 1056}, {17, 392, 32}},
    {{9, 392, 576}, {0, 8, 64}, {264, 136, 1088}, {513, 72, 64}},
};
static const std::vector<std::vector<size>> split_problems = {
    {{9, 264, 1056}, {0, 8, 64}, {5, 136, 1888}},
};

/* The tables' rows, and with another type of C those that emu_gemm.sh and
 * emu_sm100.sh do not run so: Hopper's with another of A as well, Blackwell's
 * with maps that the kernel makes. Hopper's also with MXFP4 weights, some. */
static std::vector<jg_config> all_configs()
{
    std::vector<jg_config> all, others;

    for (const jg_model *model : {&jg_model_sm90, &jg_model_sm100})
        for (int row = 0; row < model->count; row++) {
            jg_config config = model->configs[row];

            all.push_back(config);
            if (config.family == JG_SM90 && row % 4 == 1) {
                others.push_back(config);
                others.back().input = JG_IN_BF16;
                others.back().weights = JG_W_MXFP4;
            }
            if (row % 11 > 1 || config.ctas > 1)
                continue;
            config.edits_maps = config.family == JG_SM100;
            config.output = row % 2 ? JG_BF16 : JG_F32;
            if (config.family == JG_SM90)
                config.input = row % 2 ? JG_IN_F16 : JG_IN_BF16;
            others.push_back(config);
        }
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

struct job {
    compile_job compile;
    int process;
};

static job start(const jg_config &config, size_t i, kernel_kind kind)
{
    const char *source = getenv("JG_SRCDIR");
    job job = {job_of(config, kind,
                      "tests/emu_work/gemm-" + std::to_string(i) + "-" +
                          std::to_string(kind),
                      std::string(source ? source : ".") + "/kernel_src"),
               -1};

    job.process = compile_start(job.compile);
    return job;
}

/* Ten tiles of a group are as good as more. */
static std::vector<size> cut(const jg_config &config, std::vector<size> sizes)
{
    for (size &size : sizes)
        size.m = std::min(size.m, 9 * config.tile_m + 1);
    return sizes;
}

static void run(const jg_config &config, size_t i, const kernels &kernels,
                int first, int seeds)
{
    bool split = config.family == JG_SM90 && config.ctas > 1;
    bool usual = config.output == JG_F16;

    for (const std::vector<size> &sizes : split ? split_problems : problems) {
        if (!gemm_case::allows(config, sizes))
            continue;
        gemm_case gemm(config, cut(config, sizes), i);

        /* Other types follow the same schedules: half as many. */
        for (int seed = first, end = first + (usual ? seeds : (seeds + 1) / 2);
             seed < end && !test_failures; seed++) {
            std::string report =
                gemm.run(kernels, static_cast<uint64_t>(seed));

            CHECK_STR(report.c_str(), "");
        }
    }
}

int main(int argc, char **argv)
{
    const char *given = argc > 1 ? argv[1] : getenv("E_SEEDS");
    int seeds = given && *given ? atoi(given) : 2;
    int first = argc > 2 ? atoi(argv[2]) : 0;
    int only = argc > 3 ? atoi(argv[3]) : -1;
    std::vector<jg_config> configs = all_configs();

    for (size_t i = 0; i < configs.size() && !test_failures; i++) {
        if (only >= 0 && i != static_cast<size_t>(only))
            continue;
        bool two = jg_spec_count(&configs[i]) > 1;
        job product = start(configs[i], i, PRODUCT), activations;
        kernels kernels{};

        if (two)
            activations = start(configs[i], i, ACTIVATIONS);
        kernels.product = compile_finish(product.compile, product.process);
        if (two)
            kernels.activations =
                compile_finish(activations.compile, activations.process);
        CHECK(kernels.product && (kernels.activations || !two));
        run(configs[i], i, kernels, first, seeds);
    }
    return test_end();
}
