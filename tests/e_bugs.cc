/* SPDX-License-Identifier: MIT */
/* Planted bugs: sed puts each into a copy of a real kernel text, and the
 * emulator must report it by name. Prints "bug | seed | report" for each.
 * Usage: e_bugs [BUG]. With E_SEEDS set it also tries all seeds. */
#include "emu/gemm_case.h"
#include "emu/planted_bugs.h"

#include "test.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace emu_test;

constexpr int seeds = 50;

/* The block's ring goes round several times; all edges are odd. */
static const std::vector<size> sizes = {
    {37, 392, 1056}, {0, 8, 32}, {3, 136, 544}};

static std::string folder_of(size_t i)
{
    return "tests/emu_work/bug-" + std::to_string(i);
}

/* False if sed changes nothing: the kernel has moved on. */
static bool plant(const bug &bug, const std::string &texts,
                  const std::string &folder)
{
    std::string to = folder + "/" + bug.file, from = texts + "/" + bug.file;
    std::string command = "rm -rf '" + folder + "' && mkdir -p \"$(dirname '" +
                          to + "')\" && sed -e '" + bug.sed + "' '" + from +
                          "' >'" + to + "' && ! cmp -s '" + from + "' '" + to +
                          "'";

    return system(command.c_str()) == 0;
}

static bool is_named(const std::string &report, const char *names)
{
    std::string all = "|" + std::string(names) + "|";
    size_t colon = report.find(':');

    return colon != report.npos &&
           all.find("|" + report.substr(0, colon) + "|") != all.npos;
}

/* Whether the bug is in the kernel that decodes activations. */
static bool is_in_activations(const bug &bug)
{
    return !strcmp(bug.file, ACTIVATIONS_TEXT) || !strcmp(bug.file, ROW_TEXT);
}

/* In a process of its own: a bug may do anything. */
static bool find_bug(size_t i, const std::string &texts, run_function good)
{
    const bug &bug = bugs[i];
    bool in_activations = is_in_activations(bug);
    jg_config config = jg_model_sm90.configs[bug.config];
    std::string report;
    int seed = 0;

    if (!plant(bug, texts, folder_of(i))) {
        printf("%s | - | sed does not change %s\n", bug.title, bug.file);
        return false;
    }
    compile_job job = job_of(config, in_activations ? ACTIVATIONS : PRODUCT,
                             folder_of(i), texts);
    run_function bad = compile_finish(job, compile_start(job));
    if (!bad)
        return false;
    gemm_case gemm(config, sizes, 1);
    kernels kernels = {in_activations ? bad : good,
                       in_activations ? good : bad};
    while (report.empty() && ++seed <= seeds)
        report = gemm.run(kernels, static_cast<uint64_t>(seed), 1);
    printf("%s | %d | %s\n", bug.title, seed,
           report.empty() ? "not found" : report.c_str());
    if (getenv("E_SEEDS")) {
        int found = 0;

        for (int i_seed = 1; i_seed <= seeds; i_seed++)
            found +=
                is_named(gemm.run(kernels, static_cast<uint64_t>(i_seed), 1),
                         bug.names);
        printf("%s: found by %d of %d seeds\n", bug.title, found, seeds);
    }
    return is_named(report, bug.names);
}

static run_function make(const jg_config &config, kernel_kind kind,
                         const std::string &texts)
{
    compile_job job =
        job_of(config, kind, "tests/emu_work/good-" + std::to_string(kind),
               texts);
    run_function made = compile_finish(job, compile_start(job));

    CHECK(made);
    return made;
}

int main(int argc, char **argv)
{
    const char *source = getenv("JG_SRCDIR");
    std::string texts = std::string(source ? source : ".") + "/kernel_src";
    jg_config config = jg_model_sm90.configs[1];
    kernels good;

    good.activations = make(config, ACTIVATIONS, texts);
    good.product = make(config, PRODUCT, texts);
    if (test_failures)
        return test_end();
    int running = 0, status;
    for (size_t i = 0; i < bugs_count; i++) {
        bool in_activations = is_in_activations(bugs[i]);

        if (argc > 1 && strcmp(argv[1], bugs[i].title))
            continue;
        fflush(stdout);
        if (fork() == 0) {
            bool found = find_bug(i, texts,
                                  in_activations ? good.product
                                                 : good.activations);

            fflush(stdout);
            _exit(!found);
        }
        if (++running == 2) {
            wait(&status);
            running--;
            test_checks++;
            test_failures += status != 0;
        }
    }
    for (; running; running--) {
        wait(&status);
        test_checks++;
        test_failures += status != 0;
    }
    return test_end();
}
