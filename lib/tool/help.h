/* SPDX-License-Identifier: MIT */
/* What --help prints. */
#ifndef JITGEMM_WARM_HELP_H
#define JITGEMM_WARM_HELP_H

extern const char help[];

#endif
