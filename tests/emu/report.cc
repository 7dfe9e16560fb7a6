/* SPDX-License-Identifier: MIT */
/* The texts of errors. The first one ends the launch. */
#include "report.h"
#include "barrier.h"
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>

namespace emu {

namespace {

/* Threads that wait for the same, as ranges. */
std::string waiting()
{
    std::string text;
    const auto &threads = m->threads;

    for (size_t i = 0, next; i < threads.size(); i = next) {
        for (next = i + 1; next < threads.size(); next++)
            if (threads[next]->state != threads[i]->state ||
                threads[next]->why != threads[i]->why)
                break;
        if (threads[i]->state != thread::blocked)
            continue;
        text += text.empty() ? "thread" : "; thread";
        if (next - i > 1)
            text += "s " + std::to_string(i) + "-" + std::to_string(next - 1);
        else
            text += " " + std::to_string(i);
        text +=
            (next - i > 1 ? " wait for " : " waits for ") + threads[i]->why;
    }
    return text;
}

} // namespace

void fail(const char *name, const char *format, ...)
{
    char detail[1024], where[128] = "";
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    if (m->current) {
        const place &place = m->current->at;

        snprintf(where, sizeof where, "block (%u, %u, %u), thread %u, ",
                 place.block.x, place.block.y, place.block.z,
                 m->current->number);
    } else if (!m->threads.empty()) {
        const place &place = m->threads[0]->at;

        snprintf(where, sizeof where, "block (%u, %u, %u), ", place.block.x,
                 place.block.y, place.block.z);
    }
    if (m->launch->report_bytes)
        snprintf(m->launch->report, m->launch->report_bytes,
                 "%s: %s [%sseed %llu]", name, detail, where,
                 static_cast<unsigned long long>(m->launch->seed));
    fail_switch();
}

void report_deadlock()
{
    for (const auto &thread : m->threads)
        if (thread->waits && thread->waits->pending == 0 &&
            thread->waits->bytes > 0)
            fail("wrong-byte-count",
                 "all arrived and all copies have landed, but %s; %s",
                 barrier_text(*thread->waits).c_str(), waiting().c_str());
    fail("deadlock", "%s", waiting().c_str());
}

} // namespace emu
