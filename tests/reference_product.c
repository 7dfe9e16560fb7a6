/* SPDX-License-Identifier: MIT */
/* The reference's product. Operands are decoded to float64 and packed so that
 * the inner loop reads both in order; threads take panels of columns from a
 * counter. */
#include "reference.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A strip of 4 rows x 256 k is 8 KiB and stays in a first-level cache; a
 * panel of 64 columns x 256 k is 128 KiB and stays in a second-level one. */
enum { STRIP = 4, PANEL = 64, DEPTH = 256 };

/* The widest vector that every 64-bit machine has. gcc keeps wider ones in
 * memory unless it may use wider instructions. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));

struct product {
    const struct ref_operand *a, *b;
    double alpha, *c;
    bool magnitudes;        /* of both operands, for abs_sum */
    const double *packed_a; /* by STRIP: [ceil(rows / STRIP)][k][STRIP] */
    atomic_llong next;      /* first column not taken yet */
};

static void *allocate(size_t bytes)
{
    /* Pairs are loaded with their own alignment. */
    void *memory = aligned_alloc(64, (bytes + 64) / 64 * 64);

    if (!memory) {
        fprintf(stderr, "reference: out of memory\n");
        exit(99);
    }
    return memory;
}

/* The same of an operand without scales. */
static void pack_elements(const struct product *p,
                          const struct ref_operand *from, int64_t row,
                          int64_t first, int64_t last, double *out)
{
    for (int64_t k = first; k < last; k++, out += STRIP) {
        double value = ref_load(from->type, from->values, row * from->k + k);

        *out = p->magnitudes ? fabs(value) : value;
    }
}

/* Row `row`, k from first to last, into every STRIP-th double of `out`;
 * zeros if there is no such row. */
static void pack_row(const struct product *p, const struct ref_operand *from,
                     int64_t row, int64_t first, int64_t last, double *out)
{
    unsigned mask = p->magnitudes ? 7 : 15;
    double table[16], scale = 0;
    int64_t block = -1;

    if (!from->scales && row < from->rows) {
        pack_elements(p, from, row, first, last, out);
        return;
    }
    for (unsigned code = 0; code < 16; code++)
        table[code] = ref_e2m1(code & mask);
    for (int64_t k = first; k < last; k++, out += STRIP) {
        unsigned byte;

        if (row >= from->rows) {
            *out = 0;
            continue;
        }
        if (k / 16 != block) {
            block = k / 16;
            scale = ref_operand_scale(from, row, k);
        }
        byte = from->values[(row * from->k + k) / 2];
        *out = table[(k % 2 ? byte >> 4 : byte) & 15] * scale;
    }
}

static void pack_strip(const struct product *p, const struct ref_operand *from,
                       int64_t row, int64_t first, int64_t last, double *out)
{
    for (int64_t i = 0; i < STRIP; i++)
        pack_row(p, from, row + i, first, last, out + i);
}

/* sum[i][j] = sum over packed k of row i of strip a times row j of strip b.
 * The sums have names so that they stay in registers. */
static void multiply(const double *a, const double *b, int64_t depth,
                     double sum[STRIP][STRIP])
{
    pair sums00 = {0}, sums02 = {0}, sums10 = {0}, sums12 = {0};
    pair sums20 = {0}, sums22 = {0}, sums30 = {0}, sums32 = {0};

    for (int64_t k = 0; k < depth; k++, a += STRIP, b += STRIP) {
        pair b0 = ((const pair *)b)[0], b2 = ((const pair *)b)[1];

        sums00 += a[0] * b0;
        sums02 += a[0] * b2;
        sums10 += a[1] * b0;
        sums12 += a[1] * b2;
        sums20 += a[2] * b0;
        sums22 += a[2] * b2;
        sums30 += a[3] * b0;
        sums32 += a[3] * b2;
    }
    memcpy(&sum[0][0], &sums00, sizeof sums00);
    memcpy(&sum[0][2], &sums02, sizeof sums02);
    memcpy(&sum[1][0], &sums10, sizeof sums10);
    memcpy(&sum[1][2], &sums12, sizeof sums12);
    memcpy(&sum[2][0], &sums20, sizeof sums20);
    memcpy(&sum[2][2], &sums22, sizeof sums22);
    memcpy(&sum[3][0], &sums30, sizeof sums30);
    memcpy(&sum[3][2], &sums32, sizeof sums32);
}

/* Adds STRIP x STRIP sums at (row, column) into c, as far as c reaches. */
static void add_tile(const struct product *p, int64_t row, int64_t column,
                     double sum[STRIP][STRIP])
{
    int64_t n = p->b->rows;

    for (int64_t i = 0; i < STRIP && row + i < p->a->rows; i++)
        for (int64_t j = 0; j < STRIP && column + j < n; j++)
            p->c[(row + i) * n + column + j] += sum[i][j];
}

static void multiply_panel(const struct product *p, int64_t column,
                           double *packed_b)
{
    int64_t k = p->a->k, strips = (p->a->rows + STRIP - 1) / STRIP;

    for (int64_t first = 0; first < k; first += DEPTH) {
        int64_t depth = k - first < DEPTH ? k - first : DEPTH;

        for (int64_t j = 0; j < PANEL; j += STRIP)
            pack_strip(p, p->b, column + j, first, first + depth,
                       packed_b + j * DEPTH);
        for (int64_t i = 0; i < strips; i++)
            for (int64_t j = 0; j < PANEL && column + j < p->b->rows;
                 j += STRIP) {
                double sum[STRIP][STRIP];

                multiply(p->packed_a + (i * k + first) * STRIP,
                         packed_b + j * DEPTH, depth, sum);
                add_tile(p, i * STRIP, column + j, sum);
            }
    }
}

static void *work(void *argument)
{
    struct product *p = argument;
    double *packed_b = allocate(PANEL * DEPTH * sizeof *packed_b);
    int64_t column;

    while ((column = atomic_fetch_add(&p->next, PANEL)) < p->b->rows)
        multiply_panel(p, column, packed_b);
    free(packed_b);
    return NULL;
}

static void run(struct product *p, int threads)
{
    int64_t m = p->a->rows, n = p->b->rows, k = p->a->k;
    int64_t strips = (m + STRIP - 1) / STRIP;
    double *packed_a =
        allocate((size_t)(strips * STRIP * k) * sizeof *packed_a);
    pthread_t *others = allocate((size_t)threads * sizeof *others);

    for (int64_t i = 0; i < strips; i++)
        pack_strip(p, p->a, i * STRIP, 0, k, packed_a + i * STRIP * k);
    p->packed_a = packed_a;
    atomic_store(&p->next, 0);
    for (int64_t i = 0; i < m * n; i++)
        p->c[i] = 0;
    for (int i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, work, p)) {
            fprintf(stderr, "reference: cannot start a thread\n");
            exit(99);
        }
    work(p);
    for (int i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    for (int64_t i = 0; i < m * n; i++)
        p->c[i] *= p->alpha;
    free(others);
    free(packed_a);
}

void ref_add_bias(const double *bias, int64_t rows, int64_t n, double *c,
                  double *abs_sum)
{
    for (int64_t i = 0; i < rows * n; i++) {
        c[i] += bias[i % n];
        abs_sum[i] += fabs(bias[i % n]);
    }
}

void ref_product(const struct ref_operand *a, const struct ref_operand *b,
                 double alpha, double *c, double *abs_sum, int threads)
{
    struct product p = {.a = a, .b = b, .alpha = alpha, .c = c};

    run(&p, threads);
    if (!abs_sum)
        return;
    p.magnitudes = true;
    p.alpha = fabs(alpha);
    p.c = abs_sum;
    run(&p, threads);
}
