/* SPDX-License-Identifier: MIT */
/* What kernels are wanted for, as text. Limits on sizes are the library's
 * business. Both functions return NULL, or the rule that the text breaks, and
 * then *at is the place. */
#ifndef JITGEMM_WARM_PROBLEM_TEXT_H
#define JITGEMM_WARM_PROBLEM_TEXT_H

#include <jitgemm.h>

/*   problem = rows | experts ;
 *   rows    = number { "," number } "x" number "x" number ;
 *   experts = number "@" number [ "/" number ] "x" number "x" number
 *             [ ":" layout [ ":" place ] ] ;
 *
 * Rows: one group for each number before the first "x" (its m), all of one n
 * and one k. Experts: so many groups of at most and typically so many rows, as
 * jitgemm_problem has them. *sizes, which the caller frees, is what the arrays
 * of the problem are in. */
const char *problem_text_read(const char *text, const char **at,
                              jitgemm_problem *problem, int64_t **sizes);

/*   conversion = type { "+" step }
 *                [ ":" layout [ ":" place [ ":" order ] ] ] ;
 *
 * Steps: gather, and swiglu, swiglu-oai or either with "-interleaved", and
 * cast-f16 or cast-bf16; or combine-f16, combine-bf16 or combine-f32. */
const char *conversion_text_read(const char *text, const char **at,
                                 jitgemm_conversion_options *options);

#endif
