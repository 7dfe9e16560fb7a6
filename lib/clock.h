/* SPDX-License-Identifier: MIT */
/* Elapsed time. */
#ifndef JG_CLOCK_H
#define JG_CLOCK_H

/* Milliseconds since some fixed moment. */
double jg_clock_ms(void);

#endif
