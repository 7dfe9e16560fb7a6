/* SPDX-License-Identifier: MIT */
/* Calls: failing on demand, reasons, and the rules that hold for many. */
#include "call.h"
#include "capture.h"
#include "queue.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emu_knobs emu_knobs;

namespace emu_driver {

std::recursive_mutex lock;
bool in_host_function;

namespace {

thread_local std::string running; /* the call's name as in the manual */
bool started;                     /* cuInit() succeeded */

/* cuda.h renames some functions to name_v2. */
std::string plain_name(const char *name)
{
    std::string plain = name;

    return plain.substr(0, plain.rfind("_v"));
}

/* The environment's wish counts from its first call on; a knob goes before. */
bool told_to_fail(unsigned rules, CUresult *result)
{
    static int successes;
    const char *told = getenv("JITGEMM_EMU_FAIL");
    std::string wish = told ? told : "";
    int code = CUDA_ERROR_OUT_OF_MEMORY, after = 0;
    auto concerns = [&](const std::string &name) {
        return name == running ||
               (name == "allocation" && (rules & takes_memory));
    };

    if (emu_knobs.fail && concerns(emu_knobs.fail)) {
        *result = static_cast<CUresult>(emu_knobs.fail_result);
        return emu_knobs.fail_after-- <= 0;
    }
    if (wish.empty() || !concerns(wish.substr(0, wish.find(':'))))
        return false;
    sscanf(told + strcspn(told, ":"), ":%d:%d", &code, &after);
    *result = static_cast<CUresult>(code);
    return successes++ >= after;
}

CUresult check_context()
{
    CUcontext context = current_context();

    if (!context)
        return refuse(CUDA_ERROR_INVALID_CONTEXT,
                      "the thread has no current context");
    if (!context->alive)
        return refuse(CUDA_ERROR_CONTEXT_IS_DESTROYED,
                      "the current context was destroyed");
    return context->error;
}

} // namespace

CUresult report(CUresult result, const char *who, const char *text)
{
    snprintf(emu_knobs.reason, sizeof emu_knobs.reason, "%s", text);
    fprintf(stderr, "emulated driver: %s: %s (error %d)\n", who, text,
            static_cast<int>(result));
    return result;
}

CUresult refuse(CUresult result, const char *format, ...)
{
    char text[sizeof emu_knobs.reason];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return report(result, running.c_str(), text);
}

std::vector<CUcontext> &context_stack()
{
    thread_local std::vector<CUcontext> stack;

    return stack;
}

CUcontext current_context()
{
    return context_stack().empty() ? nullptr : context_stack().back();
}

CUresult enter(const char *name, unsigned rules)
{
    CUresult result = CUDA_SUCCESS, told;

    running = plain_name(name);
    emu_knobs.calls++;
    if (in_host_function)
        return refuse(CUDA_ERROR_NOT_PERMITTED,
                      "a host function of a stream calls the driver");
    if (told_to_fail(rules, &told)) {
        snprintf(emu_knobs.failed, sizeof emu_knobs.failed, "%s",
                 running.c_str());
        return told;
    }
    if (running == "cuInit")
        started = true;
    else if ((rules & (initialized | in_context)) && !started)
        return refuse(CUDA_ERROR_NOT_INITIALIZED, "before cuInit()");
    run_some();
    if (rules & in_context)
        result = check_context();
    if (result == CUDA_SUCCESS && (rules & capture_unsafe))
        result = check_unsafe_call();
    return result;
}

} // namespace emu_driver
