/* SPDX-License-Identifier: MIT */
/* A bug has a process of its own: it may do anything. */
#include "planted.h"

#include <map>

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace emu_test {

namespace {

constexpr int most_seeds = 50;

/* False if sed changes nothing: the kernel has moved on. */
bool plant(const planted_case &planted)
{
    const planted_bug &bug = *planted.bug;
    std::string folder = planted.job.folder, to = folder + "/" + bug.file;
    std::string from = planted.texts + "/" + bug.file;
    std::string command = "rm -rf '" + folder + "' && mkdir -p \"$(dirname '" +
                          to + "')\" && sed -e '" + bug.sed + "' '" + from +
                          "' >'" + to + "'";

    if (*bug.sed)
        command += " && ! cmp -s '" + from + "' '" + to + "'";
    return system(command.c_str()) == 0;
}

std::string name_of(const std::string &report)
{
    size_t colon = report.find(':');

    return colon == report.npos ? "nothing" : report.substr(0, colon);
}

bool is_right(const planted_bug &bug, const std::string &report)
{
    std::string all = "|" + std::string(bug.names) + "|";

    return *bug.names ? all.find("|" + name_of(report) + "|") != all.npos
                      : report.empty();
}

void count_reports(const planted_case &planted, run_function kernel,
                   uint64_t seeds)
{
    std::map<std::string, int> counts;

    for (uint64_t seed = 1; seed <= seeds; seed++)
        counts[name_of(planted.run(kernel, seed))]++;
    printf("%s:", planted.title.c_str());
    for (const auto &entry : counts)
        printf(" %s %d", entry.first.c_str(), entry.second);
    printf("\n");
}

bool check(const planted_case &planted)
{
    const char *title = planted.title.c_str();
    compile_job job = planted.job;
    std::string report;
    uint64_t seed = 0;

    if (!plant(planted)) {
        printf("%s | - | sed does not change %s\n", title, planted.bug->file);
        return false;
    }
    job.optimize = "-O0"; /* it runs for less time than it compiles */
    run_function bad = compile_finish(job, compile_start(job));
    if (!bad) {
        printf("%s | - | does not compile\n", title);
        return false;
    }
    while (report.empty() && seed < most_seeds)
        report = planted.run(bad, ++seed);
    printf("%s | %d | %s\n", title, static_cast<int>(seed),
           report.empty() ? "nothing" : report.c_str());
    if (const char *seeds = getenv("E_SEEDS"))
        count_reports(planted, bad, strtoull(seeds, nullptr, 10));
    return is_right(*planted.bug, report);
}

} // namespace

int planted_check(const std::vector<planted_case> &cases, const char *only)
{
    int started = 0, running = 0, status, wrong = 0;

    for (size_t i = 0; i < cases.size() || running; i++) {
        bool start = i < cases.size() && (!only || cases[i].title == only);

        fflush(stdout);
        if (start && fork() == 0) {
            bool right = check(cases[i]);

            fflush(stdout);
            _exit(!right);
        }
        started += start;
        running += start;
        if (running == 2 || (running && i >= cases.size())) {
            wait(&status);
            running--;
            wrong += status != 0;
        }
    }
    return started ? wrong : -1;
}

std::string planted_source()
{
    const char *folder = getenv("JG_SRCDIR");

    return folder ? folder : ".";
}

} // namespace emu_test
