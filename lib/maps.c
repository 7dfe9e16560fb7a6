/* SPDX-License-Identifier: MIT */
#include "maps.h"

#include <string.h>

struct matrix { /* rows, of which a copy takes a box; or several matrices */
    const char *argument;
    const void *address;
    CUtensorMapDataType type;
    int64_t elements, rows;
    int64_t row_bytes; /* from row to row */
    int box_elements, box_rows;
    CUtensorMapSwizzle swizzle;
    int64_t count, stride; /* of them; 0: a map of two dimensions */
};

static jitgemm_status encode_map(const jitgemm_context *context,
                                 const struct matrix *matrix, void *map)
{
    cuuint64_t extent[3] = {(cuuint64_t)matrix->elements,
                            (cuuint64_t)matrix->rows,
                            (cuuint64_t)matrix->count};
    cuuint64_t stride[2] = {(cuuint64_t)matrix->row_bytes,
                            (cuuint64_t)matrix->stride};
    cuuint32_t box[3] = {(cuuint32_t)matrix->box_elements,
                         (cuuint32_t)matrix->box_rows, 1};
    cuuint32_t step[3] = {1, 1, 1};
    CUtensorMap encoded;
    CUresult result = context->cuda->cuTensorMapEncodeTiled(
        &encoded, matrix->type, matrix->count ? 3 : 2,
        (void *)(uintptr_t)matrix->address, extent, stride, box, step,
        CU_TENSOR_MAP_INTERLEAVE_NONE, matrix->swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);

    if (result != CUDA_SUCCESS) {
        jitgemm_status status =
            jg_driver_fail(context->cuda, result, "cuTensorMapEncodeTiled");

        jg_error()->argument = matrix->argument;
        return status;
    }
    memcpy(map, &encoded, sizeof encoded);
    return JITGEMM_OK;
}

/* Rows of k/2 bytes, so far apart; a copy takes the bytes of one stage,
 * swizzled over as many as it has in a row. */
static struct matrix values(const char *argument, const void *address,
                            int32_t rows, int32_t k, int64_t row_bytes,
                            int tile_k, int box)
{
    int side = tile_k / 2;

    return (struct matrix){
        .argument = argument,
        .address = address,
        .type = CU_TENSOR_MAP_DATA_TYPE_UINT8,
        .elements = k / 2,
        .rows = rows,
        .row_bytes = row_bytes,
        .box_elements = side,
        .box_rows = box,
        .swizzle = side == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                               : CU_TENSOR_MAP_SWIZZLE_64B,
    };
}

static jitgemm_status encode_values(const jitgemm_context *context,
                                    const char *argument, const void *address,
                                    int32_t rows, int32_t k,
                                    int64_t row_bytes, int tile_k, int box,
                                    void *map)
{
    struct matrix matrix =
        values(argument, address, rows, k, row_bytes, tile_k, box);

    return encode_map(context, &matrix, map);
}

/* The atoms of 128 rows, all k, are a row; a copy takes those of a stage. An
 * element is eight bytes, since a box is at most 256 elements wide. */
static jitgemm_status encode_scales(const jitgemm_context *context,
                                    const char *argument, const void *address,
                                    int32_t rows, int32_t k, int tile_k,
                                    void *map)
{
    struct matrix matrix = {argument,
                            address,
                            CU_TENSOR_MAP_DATA_TYPE_INT64,
                            jg_cut_ceil_div(k, 64) * 64,
                            jg_cut_ceil_div(rows, 128),
                            jg_cut_ceil_div(k, 64) * 512,
                            tile_k,
                            1,
                            CU_TENSOR_MAP_SWIZZLE_NONE,
                            0,
                            0};

    return encode_map(context, &matrix, map);
}

jitgemm_status jg_maps_encode(const jitgemm_context *context,
                              const struct jg_config *config,
                              const struct jg_group *row, void *maps)
{
    unsigned char *map = maps;
    int tile_k = config->tile_k;
    int a_box = config->tile_m / config->ctas; /* each copies a share */
    int b_box = config->tile_n / config->ctas;
    jitgemm_status status;

    if (config->family == JG_SM90)
        return encode_values(context, "operands.b", row->b, row->n, row->k,
                             row->k / 2, tile_k, config->tile_n, map);
    status = encode_values(context, "operands.a", row->a, row->m, row->k,
                           row->row_a, tile_k, a_box, map);
    if (status == JITGEMM_OK)
        status = encode_values(context, "operands.b", row->b, row->n, row->k,
                               row->k / 2, tile_k, b_box, map + JG_MAP_BYTES);
    if (config->ctas == 1 || status != JITGEMM_OK)
        return status;
    status = encode_scales(context, "operands.sfa", row->sfa, row->m, row->k,
                           tile_k, map + 2 * JG_MAP_BYTES);
    if (status == JITGEMM_OK)
        status = encode_scales(context, "operands.sfb", row->sfb, row->n,
                               row->k, tile_k, map + 3 * JG_MAP_BYTES);
    return status;
}

jitgemm_status jg_maps_encode_stacked(const jitgemm_context *context,
                                      const struct jg_config *config,
                                      const struct jg_experts *experts,
                                      void *map)
{
    struct matrix matrix =
        values("arguments.b", experts->b, experts->n, experts->k,
               experts->k / 2, config->tile_k, config->tile_n);

    matrix.count = experts->numbers.groups;
    matrix.stride = experts->stride_b;
    return encode_map(context, &matrix, map);
}
