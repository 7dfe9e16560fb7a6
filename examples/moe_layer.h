/* SPDX-License-Identifier: MIT */
/* The sizes of the layer, where its tokens go, and what comes of them: the
 * same steps on the host, with sums in double. */
#ifndef MOE_LAYER_H
#define MOE_LAYER_H

#include "matrices.h"

enum {
    EXPERTS = 8,
    TOP_K = 2,
    HIDDEN = 256,
    INTERMEDIATE = 128,
    TOKENS = 24,
    ROWS = TOKENS * TOP_K /* at most, of all experts together */
};

/* Multipliers of a quantization: the range of NVFP4 over that of x. */
static const float scale_x = 6 * 448 / 1.0f, scale_h = 6 * 448 / 256.0f;

struct routing {
    int32_t offsets[EXPERTS + 1]; /* rows of each expert */
    int32_t token[ROWS];          /* that a row is of */
    int32_t row[TOKENS][TOP_K];   /* of each token */
    int32_t expert[TOKENS][TOP_K];
    float weight[TOKENS][TOP_K];
};

/* Logits at random; the softmax of the largest two. */
static struct routing route(uint32_t seed)
{
    struct routing r = {.offsets = {0}};
    float *logits = random_matrix(TOKENS * EXPERTS, seed);
    int32_t next[EXPERTS];

    for (int t = 0; t < TOKENS; t++) {
        const float *logit = logits + t * EXPERTS;
        int first = 0, second = 1;

        for (int e = 1; e < EXPERTS; e++)
            if (logit[e] > logit[first])
                second = first, first = e;
            else if (e > 1 && logit[e] > logit[second])
                second = e;
        r.expert[t][0] = first;
        r.expert[t][1] = second;
        r.weight[t][0] = 1 / (1 + expf(logit[second] - logit[first]));
        r.weight[t][1] = 1 - r.weight[t][0];
        r.offsets[first + 1]++;
        r.offsets[second + 1]++;
    }
    for (int e = 0; e < EXPERTS; e++) {
        next[e] = r.offsets[e];
        r.offsets[e + 1] += r.offsets[e];
    }
    for (int t = 0; t < TOKENS; t++)
        for (int j = 0; j < TOP_K; j++) {
            r.row[t][j] = next[r.expert[t][j]]++;
            r.token[r.row[t][j]] = t;
        }
    free(logits);
    return r;
}

/* What NVFP4 leaves of a row. */
static void round_row(double *x, int64_t k, float scale)
{
    float real[HIDDEN];
    uint8_t values[HIDDEN / 2], scales[HIDDEN / 16];
    struct matrix row = {.values = values, .scales = scales};
    double *rounded;

    for (int64_t i = 0; i < k; i++)
        real[i] = (float)x[i];
    must(jitgemm_quantize(real, 1, k, k, 1 / scale, values, scales));
    rounded = dequantize(&row, 1, k);
    for (int64_t i = 0; i < k; i++)
        x[i] = rounded[i] / (double)scale;
    free(rounded);
}

/* y = W x, of one expert. */
static void multiply_row(const double *w, const double *x, int64_t n,
                         int64_t k, double *y)
{
    for (int64_t i = 0; i < n; i++) {
        y[i] = 0;
        for (int64_t l = 0; l < k; l++)
            y[i] += w[i * k + l] * x[l];
    }
}

/* Adds what an expert makes of a token, times the weight. up and down are the
 * expert's. */
static void add_expert(const double *up, const double *down, double up_scale,
                       double down_scale, const uint16_t *token, double weight,
                       double *out)
{
    double x[HIDDEN], h[2 * INTERMEDIATE], y[HIDDEN];

    for (int i = 0; i < HIDDEN; i++)
        x[i] = decode(token[i], 5, 10);
    round_row(x, HIDDEN, scale_x);
    multiply_row(up, x, 2 * INTERMEDIATE, HIDDEN, h);
    for (int i = 0; i < INTERMEDIATE; i++) {
        double gate = h[i] * up_scale, other = h[INTERMEDIATE + i] * up_scale;

        h[i] = gate / (1 + exp(-gate)) * other;
    }
    round_row(h, INTERMEDIATE, scale_h);
    multiply_row(down, h, HIDDEN, INTERMEDIATE, y);
    for (int i = 0; i < HIDDEN; i++)
        out[i] += weight * down_scale * y[i];
}

/* The distance of the result from that of the host, over its length. Where the
 * two differ in a last bit before a quantization, they may differ in a code
 * after it, so few hundredths are right; a row in a wrong place makes it 1. */
static double distance(const struct matrix *up, const struct matrix *down,
                       const uint16_t *x, const struct routing *r,
                       const float *result)
{
    double *w1 = dequantize(up, EXPERTS * 2 * INTERMEDIATE, HIDDEN);
    double *w2 = dequantize(down, EXPERTS * HIDDEN, INTERMEDIATE);
    double difference = 0, length = 0;

    for (int t = 0; t < TOKENS; t++) {
        double out[HIDDEN] = {0};

        for (int j = 0; j < TOP_K; j++) {
            int e = r->expert[t][j];

            add_expert(w1 + e * 2 * INTERMEDIATE * HIDDEN,
                       w2 + e * HIDDEN * INTERMEDIATE,
                       (double)up->tensor_scale, (double)down->tensor_scale,
                       x + t * HIDDEN, (double)r->weight[t][j], out);
        }
        for (int i = 0; i < HIDDEN; i++) {
            double error = (double)result[t * HIDDEN + i] - out[i];

            difference += error * error;
            length += out[i] * out[i];
        }
    }
    free(w1);
    free(w2);
    return sqrt(difference / length);
}

#endif
