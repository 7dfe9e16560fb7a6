/* SPDX-License-Identifier: MIT */
/* What --help prints, in three parts: ISO C wants no string to be longer. */
#ifndef JITGEMM_WARM_HELP_H
#define JITGEMM_WARM_HELP_H

extern const char help_usage[], help_problems[], help_options[];

#endif
