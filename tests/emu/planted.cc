/* SPDX-License-Identifier: MIT */
/* A bug has a process of its own: it may do anything. */
#include "planted.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace emu_test {

namespace {

constexpr int most_seeds = 50;

std::string source()
{
    const char *folder = getenv("JG_SRCDIR");

    return folder ? folder : ".";
}

/* The kernel with what sed does to it; null if that is nothing. */
run_function make(const planted_kernel &kernel, const std::string &which,
                  const char *sed)
{
    std::string program = kernel.name + std::string(".cu");
    std::string folder = "tests/emu_work/" + std::string(kernel.name) + which;
    std::string from = source() + "/tests/" + program;
    std::string to = folder + "/" + program;
    std::string command = "rm -rf '" + folder + "' && mkdir -p '" + folder +
                          "' && sed -e '" + sed + "' '" + from + "' >'" + to +
                          "'";

    if (*sed)
        command += " && ! cmp -s '" + from + "' '" + to + "'";
    if (system(command.c_str()))
        return nullptr;
    compile_job job = {folder, source() + "/kernel_src", program, kernel.name,
                       ""};
    return compile_finish(job, compile_start(job));
}

bool is_named(const std::string &report, const char *names)
{
    std::string all = "|" + std::string(names) + "|";
    size_t colon = report.find(':');

    return colon != report.npos &&
           all.find("|" + report.substr(0, colon) + "|") != all.npos;
}

bool find_bug(const planted_kernel &kernel, size_t i)
{
    const planted_bug &bug = kernel.bugs[i];
    run_function bad = make(kernel, "-bug-" + std::to_string(i), bug.sed);
    std::string report;
    uint64_t seed = 0;

    if (!bad) {
        printf("%s | - | sed does nothing, or not C++\n", bug.title);
        return false;
    }
    while (report.empty() && ++seed <= most_seeds)
        report = kernel.run(bad, seed);
    printf("%s | %llu | %s\n", bug.title,
           static_cast<unsigned long long>(seed),
           report.empty() ? "not found" : report.c_str());
    if (getenv("E_SEEDS")) {
        int found = 0;

        for (seed = 1; seed <= most_seeds; seed++)
            found += is_named(kernel.run(bad, seed), bug.names);
        printf("%s: found by %d of %d seeds\n", bug.title, found, most_seeds);
    }
    return is_named(report, bug.names);
}

/* 1 if something is reported. */
int check_good(const planted_kernel &kernel)
{
    run_function good = make(kernel, "-good", "");
    std::string report = good ? "" : "does not compile";
    clock_t begin = clock();

    for (uint64_t seed = 1; report.empty() && seed <= most_seeds; seed++)
        report = kernel.run(good, seed);
    printf("%s without bugs: %s, %.0f ms a seed\n", kernel.name,
           report.empty() ? "right" : report.c_str(),
           double(clock() - begin) * 1e3 / CLOCKS_PER_SEC / most_seeds);
    return !report.empty();
}

} // namespace

int planted_check(const planted_kernel &kernel, const char *only)
{
    int running = 0, status, wrong = only ? 0 : check_good(kernel);

    for (size_t i = 0; i < kernel.count + 2; i++) {
        bool start =
            i < kernel.count && (!only || !strcmp(only, kernel.bugs[i].title));

        fflush(stdout);
        if (start && fork() == 0) {
            bool found = find_bug(kernel, i);

            fflush(stdout);
            _exit(!found);
        }
        running += start;
        if (running == 2 || (running && i >= kernel.count)) {
            wait(&status);
            running--;
            wrong += status != 0;
        }
    }
    return wrong;
}

} // namespace emu_test
