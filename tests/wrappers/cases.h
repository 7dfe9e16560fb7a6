/* SPDX-License-Identifier: MIT */
/* The cases of each group of wrappers. `small` is for the emulated device. */
#ifndef WRAPPERS_CASES_H
#define WRAPPERS_CASES_H

#include <stdbool.h>

void cases_half(bool small);
void cases_float(bool small);
void cases_memory(bool small);
void cases_barrier(bool small);
void cases_cluster(bool small);
void cases_copies(bool small);
void cases_sync(bool small);
void cases_registers(bool small);
void cases_dependent(bool small);
void cases_wgmma(bool small);
void cases_wgmma_bf16(bool small);

#endif
