/* SPDX-License-Identifier: MIT */
/* Planted bugs of tensor memory: sed puts each into a copy of a kernel, and
 * the emulator must report it by name. Prints "bug | seed | report" for each.
 * Usage: e_tcgen05_bugs [BUG]. With E_SEEDS set it also tries all seeds. */
#include "emu/compile.h"
#include "emu/pipeline_case.h"
#include "emu/planted_tensor_bugs.h"

#include "test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

using namespace emu_test;

constexpr int seeds = 50;
constexpr const char *program = "tcgen05_pipeline.cu";

static std::string source()
{
    const char *folder = getenv("JG_SRCDIR");

    return folder ? folder : ".";
}

/* The kernel with what sed does to it; null if that is nothing. */
static run_function make(const std::string &folder, const char *sed)
{
    std::string from = source() + "/tests/" + program;
    std::string to = folder + "/" + program;
    std::string command = "rm -rf '" + folder + "' && mkdir -p '" + folder +
                          "' && sed -e '" + sed + "' '" + from + "' >'" + to +
                          "'";

    if (*sed)
        command += " && ! cmp -s '" + from + "' '" + to + "'";
    if (system(command.c_str()))
        return nullptr;
    compile_job job = {folder, source() + "/kernel_src", program,
                       "tcgen05_pipeline", ""};
    return compile_finish(job, compile_start(job));
}

static bool is_named(const std::string &report, const char *names)
{
    std::string all = "|" + std::string(names) + "|";
    size_t colon = report.find(':');

    return colon != report.npos &&
           all.find("|" + report.substr(0, colon) + "|") != all.npos;
}

/* In a process of its own: a bug may do anything. */
static bool find_bug(size_t i, pipeline_case &pipeline)
{
    const tensor_bug &bug = tensor_bugs[i];
    run_function bad =
        make("tests/emu_work/tensor-bug-" + std::to_string(i), bug.sed);
    std::string report;
    uint64_t seed = 0;

    if (!bad) {
        printf("%s | - | sed does nothing, or not C++\n", bug.title);
        return false;
    }
    while (report.empty() && ++seed <= seeds)
        report = pipeline.run(bad, seed, 2);
    printf("%s | %llu | %s\n", bug.title,
           static_cast<unsigned long long>(seed),
           report.empty() ? "not found" : report.c_str());
    if (getenv("E_SEEDS")) {
        int found = 0;

        for (seed = 1; seed <= seeds; seed++)
            found += is_named(pipeline.run(bad, seed, 2), bug.names);
        printf("%s: found by %d of %d seeds\n", bug.title, found, seeds);
    }
    return is_named(report, bug.names);
}

static void test_without_bugs(pipeline_case &pipeline)
{
    run_function good = make("tests/emu_work/tensor-good", "");

    CHECK(good);
    clock_t begin = clock();
    for (uint64_t seed = 1; good && seed <= seeds; seed++)
        CHECK_STR(pipeline.run(good, seed, 1 + seed % 2).c_str(), "");
    printf("without bugs: %.0f ms a seed\n",
           double(clock() - begin) * 1e3 / CLOCKS_PER_SEC / seeds);
}

int main(int argc, char **argv)
{
    pipeline_case pipeline;
    int running = 0, status;

    if (argc == 1)
        test_without_bugs(pipeline);
    for (size_t i = 0; i < tensor_bugs_count + 2; i++) {
        bool start = i < tensor_bugs_count &&
                     (argc == 1 || !strcmp(argv[1], tensor_bugs[i].title));

        fflush(stdout);
        if (start && fork() == 0) {
            bool found = find_bug(i, pipeline);

            fflush(stdout);
            _exit(!found);
        }
        running += start;
        if (running == 2 || (running && i >= tensor_bugs_count)) {
            wait(&status);
            running--;
            test_checks++;
            test_failures += status != 0;
        }
    }
    return test_end();
}
