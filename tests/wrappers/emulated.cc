/* SPDX-License-Identifier: MIT */
/* The kernels of this folder, compiled for the emulator. */
#include <emu.h>

#include "barrier.cu"
#include "cluster.cu"
#include "copies.cu"
#include "first.cu"
#include "float.cu"
#include "half.cu"
#include "memory.cu"
#include "registers.cu"
#include "second.cu"
#include "sync.cu"
#include "wgmma_112.cu"
#include "wgmma_128.cu"
#include "wgmma_16.cu"
#include "wgmma_160.cu"
#include "wgmma_192.cu"
#include "wgmma_224.cu"
#include "wgmma_256.cu"
#include "wgmma_32.cu"
#include "wgmma_48.cu"
#include "wgmma_64.cu"
#include "wgmma_8.cu"
#include "wgmma_80.cu"
#include "wgmma_96.cu"

#include "programs.h"

#define EMULATED(name) EMU_KERNEL(wrap_##name)
WRAPPER_PROGRAMS(EMULATED)
