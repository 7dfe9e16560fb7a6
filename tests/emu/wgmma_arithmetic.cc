/* SPDX-License-Identifier: MIT */
/* PTX ISA 9.7.15.5: matrix descriptors and the product itself. */
#include "half.h"
#include "machine.h"
#include "operand.h"
#include "shared.h"
#include "wgmma.h"

namespace emu {

namespace {

constexpr uint64_t descriptor_unused = uint64_t(3) << 14 | uint64_t(3) << 30 |
                                       uint64_t(7) << 46 |
                                       uint64_t(0x3ff) << 52;

} // namespace

/* bits   of a descriptor, k contiguous
 * 0-13   address >> 4
 * 16-29  leading offset >> 4: from 8 k to the next, without a swizzle
 * 32-45  stride >> 4: from 8 rows to the next
 * 49-51  where in the pattern of a swizzle the operand begins
 * 62-63  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes */
std::vector<uint32_t> wgmma_units(uint64_t descriptor, int rows,
                                  const char *what)
{
    static const uint32_t spans[] = {0, 128, 64, 32};

    if (descriptor & descriptor_unused)
        fail("bad-descriptor", "%s: 0x%llx has unused bits set", what,
             static_cast<unsigned long long>(descriptor));
    return operand_units({descriptor,
                          shared_of_rank(bits_of(descriptor, 0, 14) << 4,
                                         here->rank),
                          bits_of(descriptor, 16, 14) << 4,
                          bits_of(descriptor, 32, 14) << 4,
                          spans[bits_of(descriptor, 62, 2)],
                          bits_of(descriptor, 49, 3)},
                         rows, what);
}

float wgmma_truncate(double sum)
{
    float nearest = static_cast<float>(sum);
    uint32_t bits = bits_of_float(nearest);

    if (nearest != nearest)
        return float_of_bits(0x7fffffff);
    if (static_cast<double>(nearest) * (nearest < 0 ? -1 : 1) >
        sum * (sum < 0 ? -1 : 1))
        return float_of_bits(bits - 1);
    return nearest;
}

void wgmma_multiply(float (*value)(uint16_t), const uint16_t *a,
                    const uint16_t *b, int n, float *d)
{
    std::vector<double> columns(static_cast<size_t>(n * wgmma_k));
    std::vector<double> sums(static_cast<size_t>(n));

    /* A row of `columns` is one k, so that the inner loop is over memory. */
    for (int j = 0; j < n; j++)
        for (int k = 0; k < wgmma_k; k++)
            columns[static_cast<size_t>(k * n + j)] =
                static_cast<double>(value(b[j * wgmma_k + k]));
    for (int i = 0; i < wgmma_rows; i++) {
        float *row = d + i * n;
        double *sum = sums.data();

        for (int j = 0; j < n; j++)
            sum[j] = static_cast<double>(row[j]);
        for (int k = 0; k < wgmma_k; k++) {
            double x = static_cast<double>(value(a[i * wgmma_k + k]));
            const double *column = &columns[static_cast<size_t>(k * n)];

            for (int j = 0; j < n; j++)
                sum[j] += x * column[j];
        }
        for (int j = 0; j < n; j++)
            row[j] = wgmma_truncate(sum[j]);
    }
}

} // namespace emu
