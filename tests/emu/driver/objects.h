/* SPDX-License-Identifier: MIT */
/* What the driver's handles point to. None is ever deleted, so that the use of
 * a dead one is an error and not a crash. */
#ifndef EMU_DRIVER_OBJECTS_H
#define EMU_DRIVER_OBJECTS_H

#include "footprint.h"

#include <cuda.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

struct emu_launch;

namespace emu_driver {

/* The first operations of streams have ended: so many of each. */
using moment = std::map<CUstream, uint64_t>;

struct launch;

/* Work of a stream: a kernel, or anything else. */
struct operation {
    const char *name; /* for reasons */
    std::shared_ptr<const launch> kernel;
    std::function<CUresult()> work;
    footprint uses = {}; /* device memory of `work` */
    moment after = {};   /* it may not begin before, but in its own stream */
    /* A kernel's, once it has run: */
    footprint early = {}; /* what blocks used that had not waited yet */
    bool waited = false;  /* for the one before */
    bool ended = false;   /* for those after it, once they wait */
};

struct capture;

template <class T> std::map<T *, std::unique_ptr<T>> &objects()
{
    static auto *all = new std::map<T *, std::unique_ptr<T>>;

    return *all;
}

template <class T> T *create()
{
    auto made = std::make_unique<T>();
    T *handle = made.get();

    objects<T>()[handle] = std::move(made);
    return handle;
}

/* Whether the handle is one, and of something that lives. */
template <class T> bool is_alive(T *handle)
{
    return objects<T>().count(handle) && handle->alive;
}

} // namespace emu_driver

struct CUctx_st {
    bool alive = true;
    CUdevice device;
    CUstream legacy;               /* the stream that NULL names */
    CUresult error = CUDA_SUCCESS; /* of a fault: every later call has it */
};

struct CUstream_st {
    static inline unsigned made = 0;
    const unsigned number = made++; /* addresses differ between runs */
    bool alive = true;
    CUcontext context;
    bool blocking; /* waits for the legacy stream, and it for this one */
    std::deque<emu_driver::operation> waiting = {};
    uint64_t done = 0;
    /* Kernels that may be at work when one starts early. */
    std::deque<emu_driver::operation> chain = {};
    emu_driver::moment end = {}; /* of all that was queued */
    std::shared_ptr<emu_driver::capture> capturing = nullptr;
    std::vector<size_t> captured = {}; /* nodes that the next one is after */
};

struct CUevent_st {
    bool alive = true;
    CUcontext context;
    bool timed, recorded = false;
    emu_driver::moment at = {};
    std::shared_ptr<double> ms = nullptr; /* the time, once it has happened */
    /* Last recorded while its stream was captured: in this, after these. */
    std::shared_ptr<emu_driver::capture> capturing = nullptr;
    std::vector<size_t> captured = {};
};

struct CUlib_st {
    bool alive = true;
    std::string symbol;
    unsigned registers, threads; /* of a thread; of a block, at most */
    unsigned cluster[3];         /* that the kernel requires; 0: none */
    int (*run)(const emu_launch *);
    size_t parameter_bytes;
    CUkernel kernel;
};

struct CUkern_st {
    bool alive = true;
    CUlibrary library;
    std::map<CUcontext, CUfunction> functions = {};
};

struct CUfunc_st {
    bool alive = true;
    CUlibrary library;
    CUcontext context;
    size_t shared_most = 48 << 10; /* dynamic, a block */
    bool loaded = false; /* its attributes were asked for or set */
};

namespace emu_driver {

/* An operation of a graph. */
struct node {
    operation todo;
    CUstream from;             /* it was captured in */
    std::vector<size_t> after; /* nodes, all before it in the list */
};

struct capture {
    CUstreamCaptureMode mode;
    std::thread::id thread; /* that began it */
    CUstream origin;
    std::vector<node> nodes = {};
    bool invalid = false, ended = false;
};

} // namespace emu_driver

struct CUgraph_st {
    bool alive = true;
    std::vector<emu_driver::node> nodes = {};
};

struct CUgraphExec_st {
    bool alive = true;
    CUcontext context;
    std::vector<emu_driver::node> nodes = {};
    std::map<CUstream, CUstream> branches = {}; /* hidden streams of forks */
    emu_driver::moment end = {};                /* of its last launch */
};

#endif
