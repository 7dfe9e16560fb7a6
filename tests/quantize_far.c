/* SPDX-License-Identifier: MIT */
/* Only a group's first rows are there, so that little is computed of much
 * memory: 300000 rows are 8.6 GB of x. */
#include "quantize_far.h"

#include <string.h>

#include "conversion_case.h"
#include "gpu.h"

enum { K = 7168, ROWS = 3 };

int64_t quantize_far(jitgemm_context *context, int64_t max_rows)
{
    static uint16_t x[ROWS][K];
    static uint8_t values[ROWS][K / 2], scales[128 * K / 16];
    const int32_t counts[] = {0, ROWS};
    jitgemm_conversion_options options = conversion_options(
        JITGEMM_F16, JITGEMM_ROWS_MASKED, JITGEMM_PLACE_STRIDED);
    int64_t padded = jitgemm_scale_rows(options.place, max_rows, 1);
    size_t before = (size_t)max_rows * K; /* elements of the first group */
    uint8_t *to = gpu_alloc((before + sizeof x / 2) / 2);
    uint8_t *scales_to = gpu_alloc(2 * jitgemm_scale_bytes(padded, K));
    uint16_t *from = gpu_alloc(2 * before + sizeof x);
    jitgemm_conversion_arguments arguments = {.size = sizeof arguments,
                                              .groups = 2,
                                              .k = K,
                                              .max_rows = max_rows,
                                              .x = from,
                                              .values = to,
                                              .scales = scales_to};
    void *rows = gpu_upload(counts, sizeof counts);
    jitgemm_conversion *conversion;
    uint64_t seed = 1;
    int64_t wrong = 0;

    for (int i = 0; i < ROWS * K; i++)
        x[i / K][i % K] = (uint16_t)(ref_random(&seed) & 0xbfff);
    GPU(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)(from + before), x, sizeof x));
    GPU(cuCtxSynchronize());
    arguments.rows = rows;
    JITGEMM(jitgemm_conversion_create(context, &options, &conversion));
    JITGEMM(jitgemm_conversion_run(conversion, &arguments, gpu.stream));
    gpu_sync();
    gpu_download(values, to + before / 2, sizeof values);
    gpu_download(scales, scales_to + jitgemm_scale_bytes(padded, K),
                 sizeof scales);
    for (int r = 0; r < ROWS; r++)
        for (int b = 0; b < K / 16; b++) {
            double block[16];
            uint8_t want[8], scale;

            for (int i = 0; i < 16; i++)
                block[i] = ref_f16_value(x[r][16 * b + i]);
            scale = ref_quantize_block(block, 1, want);
            wrong += memcmp(&values[r][8 * b], want, 8) != 0;
            wrong += scales[ref_scale_offset(r, b, K)] != scale;
        }
    jitgemm_conversion_destroy(conversion);
    gpu_free(rows);
    gpu_free(from);
    gpu_free(to);
    gpu_free(scales_to);
    return wrong;
}
