/* SPDX-License-Identifier: MIT */
/* Loops run over the 128 rows, which lie next to each other. */
#include "tcgen05_arithmetic.h"
#include "half.h"
#include "tcgen05_descriptor.h"
#include "wgmma.h"

#include <math.h>

namespace emu {

namespace {

constexpr int rows = tcgen05_rows, k64 = 64, block = 16, blocks = 4;

/* Twice the value of an e2m1: 1 bit of sign, 2 of exponent, 1 of fraction. */
int16_t twice_e2m1(unsigned code)
{
    static const int16_t magnitudes[] = {0, 1, 2, 3, 4, 6, 8, 12};
    int16_t magnitude = magnitudes[code & 7];

    return code & 8 ? static_cast<int16_t>(-magnitude) : magnitude;
}

int16_t element(const uint8_t *operand, int row, int k)
{
    unsigned byte = operand[row * tcgen05_row_bytes + k / 2];

    return twice_e2m1(k % 2 ? byte >> 4 : byte & 15);
}

struct columns_of_a {
    int16_t value[k64][rows];
    double scale[blocks][rows];

    explicit columns_of_a(const tcgen05_operands &o)
    {
        for (int row = 0; row < rows; row++) {
            for (int k = 0; k < k64; k++)
                value[k][row] = element(o.a, row, k);
            for (int i = 0; i < blocks; i++)
                scale[i][row] = tcgen05_scale(
                    static_cast<uint8_t>(o.scales_a[row] >> 8 * i), o.ue8m0);
        }
    }
};

/* Adds the i-th 16 k of one column. A sum of 16 fits 16 bits: 16 * 144. */
void add_block(const columns_of_a &a, int i, const int16_t *b, double scale,
               double *sum)
{
    int16_t dot[rows] = {};

    for (int k = 0; k < block; k++) {
        const int16_t *value = a.value[i * block + k];
        int16_t factor = b[k];

        for (int row = 0; row < rows; row++)
            dot[row] = static_cast<int16_t>(dot[row] + value[row] * factor);
    }
    for (int row = 0; row < rows; row++)
        sum[row] += dot[row] * (scale * a.scale[i][row]);
}

} // namespace

double tcgen05_scale(uint8_t bits, bool ue8m0)
{
    if (ue8m0)
        return bits == 0xff ? static_cast<double>(NAN)
                            : ldexp(1.0, bits - 127);
    return static_cast<double>(half_value(half_of_e4m3(bits & 0x7f)));
}

void tcgen05_multiply(const tcgen05_operands &o, uint32_t (*d)[rows])
{
    const columns_of_a a(o);
    /* Both operands are doubled. */
    const double unit = o.negate ? -0.25 : 0.25;

    for (int column = 0; column < o.n; column++) {
        double sum[rows] = {};

        for (int row = 0; o.accumulate && row < rows; row++)
            sum[row] = static_cast<double>(float_of_bits(d[column][row]));
        for (int i = 0; i < blocks; i++) {
            int16_t b[block];

            for (int k = 0; k < block; k++)
                b[k] = element(o.b, column, i * block + k);
            add_block(a, i, b,
                      unit * tcgen05_scale(static_cast<uint8_t>(
                                               o.scales_b[column] >> 8 * i),
                                           o.ue8m0),
                      sum);
        }
        for (int row = 0; row < rows; row++)
            d[column][row] = bits_of_float(wgmma_truncate(sum[row]));
    }
}

} // namespace emu
