/* SPDX-License-Identifier: MIT */
/* cuBLAS is column-major. So row-major C = A B' is its C' = B A', where B is
 * to be transposed and A is not. */
#include "peers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cases.h"
#include "cublas.h"
#include "gpu.h"
#include "kernels.h"

const struct peer peers[PEERS] = {
    {"cublas_grouped_f16", REF_F16, true},
    {"cublas_grouped_bf16", REF_BF16, true},
    {"cublas_per_group_f16", REF_F16, false},
    {"cublas_per_group_bf16", REF_BF16, false},
};

enum { MOST_ROWS = 128 }; /* of a group, to compare */
enum { A, B, C };         /* the tokens, the weights, the results */

static const struct cublas *cublas;
static const float zero;

/* The groups that have tokens; others are nothing to compute. */
struct work {
    const struct peer *peer;
    int type, groups;
    int group[CASE_GROUPS];                             /* of the product */
    int m[CASE_GROUPS], n[CASE_GROUPS], k[CASE_GROUPS]; /* m tokens */
    int one[CASE_GROUPS], yes[CASE_GROUPS], no[CASE_GROUPS];
    float alpha[CASE_GROUPS], beta[CASE_GROUPS];
    void **matrix[TIMING_SETS][3]; /* a group: in device memory */
    void *table[TIMING_SETS][3];   /* the same array there */
    int sets;
};

bool peers_open(void)
{
    cublas = cublas_open();
    return cublas != NULL;
}

int peers_version(void)
{
    return cublas ? cublas->version : 0;
}

static void *array(int64_t count, size_t size)
{
    void *memory = calloc((size_t)count, size);

    if (!memory) {
        fprintf(stderr, "out of memory\n");
        exit(99);
    }
    return memory;
}

static void *widened(enum ref_type type, const void *values,
                     const void *scales, int64_t rows, int64_t k)
{
    void *memory = gpu_alloc(2 * (size_t)(rows * k));

    kernels_widen(type, values, scales, rows, k, memory);
    return memory;
}

static void make_set(struct work *w, const struct product *p, int set)
{
    jitgemm_operands from = product_operands(p);
    size_t bytes = (size_t)w->groups * sizeof(void *);

    for (int which = A; which <= C; which++)
        w->matrix[set][which] = array(w->groups, sizeof(void *));
    for (int i = 0; i < w->groups; i++) {
        int g = w->group[i];

        w->matrix[set][A][i] =
            widened(w->peer->type, from.a[g], from.sfa[g], p->m[g], p->k[g]);
        w->matrix[set][B][i] =
            widened(w->peer->type, from.b[g], from.sfb[g], p->n[g], p->k[g]);
        w->matrix[set][C][i] = gpu_alloc(2 * (size_t)(p->m[g] * p->n[g]));
    }
    gpu_sync();
    for (int which = A; which <= C; which++)
        w->table[set][which] = gpu_upload(w->matrix[set][which], bytes);
}

static void make(struct work *w, const struct peer *peer,
                 const struct product *p)
{
    double bytes = 0;

    w->peer = peer;
    w->type = peer->type == REF_F16 ? CUBLAS_F16 : CUBLAS_BF16;
    for (int32_t g = 0; g < p->groups; g++) {
        int i = w->groups;

        if (!p->m[g])
            continue;
        w->groups++;
        w->m[i] = (int)p->m[g];
        w->n[i] = (int)p->n[g];
        w->k[i] = (int)p->k[g];
        w->group[i] = (int)g;
        w->one[i] = 1;
        w->yes[i] = CUBLAS_T;
        w->no[i] = CUBLAS_N;
        w->alpha[i] = p->alpha[g];
        bytes +=
            2.0 * (double)((p->m[g] + p->n[g]) * p->k[g] + p->m[g] * p->n[g]);
    }
    w->sets = timing_sets(bytes);
    for (int set = 0; set < w->sets; set++)
        make_set(w, p, set);
}

static void release(struct work *w)
{
    for (int set = 0; set < w->sets; set++)
        for (int which = A; which <= C; which++) {
            for (int i = 0; i < w->groups; i++)
                gpu_free(w->matrix[set][which][i]);
            free(w->matrix[set][which]);
            gpu_free(w->table[set][which]);
        }
    free(w);
}

static bool launch_grouped(struct work *w, int set)
{
    void **table = w->table[set];

    return cublas->gemm_grouped &&
           cublas->gemm_grouped(cublas->handle, w->yes, w->no, w->n, w->m,
                                w->k, w->alpha, table[B], w->type, w->k,
                                table[A], w->type, w->k, w->beta, table[C],
                                w->type, w->n, w->groups, w->one,
                                CUBLAS_IN_F32) == CUBLAS_OK;
}

static bool launch(void *user, int set)
{
    struct work *w = user;

    if (w->peer->grouped)
        return launch_grouped(w, set);
    for (int i = 0; i < w->groups; i++)
        if (cublas->gemm(cublas->handle, CUBLAS_T, CUBLAS_N, w->n[i], w->m[i],
                         w->k[i], &w->alpha[i], w->matrix[set][B][i], w->type,
                         w->k[i], w->matrix[set][A][i], w->type, w->k[i],
                         &zero, w->matrix[set][C][i], w->type, w->n[i],
                         CUBLAS_IN_F32, CUBLAS_ANY_WAY) != CUBLAS_OK)
            return false;
    return true;
}

/* Both round, and a peer may round partial sums too: 1/32 of an element, or of
 * the typical one where sums cancel, is more than that can be, and much less
 * than what a wrong sum is off by. Of many rows, some are looked at. */
static int64_t compare(const struct work *w, const struct product *p, int i)
{
    int64_t n = w->n[i], count = w->m[i] * n, wrong = 0;
    int64_t step = n * ((w->m[i] + MOST_ROWS - 1) / MOST_ROWS), seen = 0;
    uint16_t *theirs = array(count, sizeof *theirs);
    void *ours = product_download(p, w->group[i]);
    double squares = 0, typical;

    gpu_download(theirs, w->matrix[0][C][i], 2 * (size_t)count);
    for (int64_t row = 0; row < count; row += step)
        for (int64_t j = row; j < row + n; j++, seen++)
            squares += pow(ref_load(REF_F16, ours, j), 2);
    typical = sqrt(squares / (double)seen);
    for (int64_t row = 0; row < count; row += step)
        for (int64_t j = row; j < row + n; j++) {
            double want = ref_load(REF_F16, ours, j);
            double got = ref_load(w->peer->type, theirs, j);

            if (!(fabs(got - want) <= (fabs(want) + typical) / 32))
                wrong++;
        }
    free(ours);
    free(theirs);
    return wrong;
}

bool peer_measure(const struct peer *peer, const struct product *product,
                  struct times *times, int64_t *wrong)
{
    struct work *w = array(1, sizeof *w);
    bool good = true;

    make(w, peer, product);
    for (int set = 0; good && set < w->sets; set++)
        good = launch(w, set);
    gpu_sync();
    good = good && timing_measure(launch, w, w->sets, times);
    *wrong = 0;
    for (int i = 0; good && i < w->groups; i++)
        *wrong += compare(w, product, i); /* after the replays */
    if (!good)
        fprintf(stderr, "%s cannot compute this, or not in a graph\n",
                peer->name);
    release(w);
    return good;
}
