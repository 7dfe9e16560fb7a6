# SPDX-License-Identifier: MIT
"""Usage: JITGEMM_LIBMARLIN=LIBRARY marlin.py CASES [RESULTS]

Times vLLM's Marlin kernel for experts, bf16 activations with NVFP4 weights,
as peers.py times its peers, whose arguments and output these are. RESULTS are
those of bench --a bf16 --c bf16. LIBRARY is _moe_C_stable_libtorch.abi3.so
out of a wheel of vLLM made for the installed PyTorch (0.26.0 for 2.11). The
wheel has PTX for Hopper, which the driver compiles at the first call."""
import os
import sys

from peers import decode, main, torch

E2M1 = 2 | 1 << 8 | 1 << 16 | 1 << 49  # how vLLM numbers the type
E4M3 = torch.float8_e4m3fn
BLOCKS = (8, 16, 32, 48, 64)


def pack_codes(codes):
    """n x k / 2 bytes to k / 16 x 2 n words, in the order of Marlin's tiles of
    64 n and 16 k: a lane (l, q) has a word for each 16 n (j), whose codes are
    those of two n (c) and two neighbours (b) in either half (h) of the k."""
    n, k = codes.shape[0], 2 * codes.shape[1]
    fours = torch.stack((codes & 15, codes >> 4), -1)
    # n is (tile, j, c, l), and k is (tile, h, q, b).
    tiles = fours.view(n // 64, 4, 2, 8, k // 16, 2, 4, 2)
    tiles = tiles.permute(4, 0, 3, 6, 1, 7, 2, 5)
    both = tiles[..., 0] | tiles[..., 1] << 4
    return both.reshape(k // 16, 8 * n).view(torch.int32)


def pack_scales(scales):
    """n x k / 16 bytes of e4m3, at least 2 ** -6, to k / 16 x n bytes: times
    2 ** 7, as the upper half of an f16 without its sign."""
    n, blocks = scales.shape
    bits = (scales.view(E4M3).half() * 128).view(torch.int16)
    upper = (bits >> 7 & 255).to(torch.uint8)
    # n is (tile, three bits, the lane's l).
    tiles = upper.t().reshape(blocks, n // 64, 2, 2, 2, 8)
    return tiles.permute(0, 1, 5, 2, 4, 3).reshape(blocks, n)


class Marlin:
    """One call for all groups, in blocks of so many rows. What the kernel is
    told of the rows is made ahead, as the table of a plan is."""

    def __init__(self, case, block):
        self.case, self.block = case, block
        used = sum(m > 0 for m in case.m)
        self.bytes = (2 * case.total * (case.k + case.n) +
                      used * case.n * (case.k // 2 + case.k // 16))
        rows, experts = [], []
        for g, (first, end) in enumerate(case.ranges):
            blocks = -(-(end - first) // block)
            rows += list(range(first, end))
            rows += [case.total] * (blocks * block - (end - first))
            experts += [g] * blocks
        multiprocessors = torch.cuda.get_device_properties(
            0).multi_processor_count

        def on_device(values, dtype=torch.int32):
            return torch.tensor(values, dtype=dtype, device="cuda")

        self.rows, self.experts = on_device(rows), on_device(experts)
        self.count = on_device([len(rows)])
        self.weights = on_device([1] * case.total, torch.float32)
        self.locks = on_device([0] * (4 * multiprocessors))

    def operands(self):
        """The packed ones, and last the longest group's weights before."""
        c = self.case
        codes = torch.randint(0, 256, (c.groups, c.n, c.k // 2),
                              dtype=torch.uint8, device="cuda")
        # e4m3 of 1/64 to 448, which is all that Marlin takes
        scales = torch.randint(8, 127, (c.groups, c.n, c.k // 16),
                               dtype=torch.uint8, device="cuda")
        factors = torch.rand(c.groups, device="cuda") + .5
        make = {"device": "cuda", "dtype": torch.bfloat16}
        return (torch.randn(c.total, c.k, **make),
                torch.stack([pack_codes(one) for one in codes]),
                torch.stack([pack_scales(one) for one in scales]).view(E4M3),
                # The bits of codes in a bf16 are 2 ** -126 as much.
                factors * 2. ** (126 - 7),
                torch.zeros(c.total, c.n, **make),
                codes[c.longest].clone(), scales[c.longest].clone())

    def run(self, a, b, scales, factors, c, *_):
        case = self.case
        torch.ops._moe_C.moe_wna16_marlin_gemm(
            a, c, b, None, scales, None, factors, None, None, None, self.locks,
            self.rows, self.experts, self.count, self.weights, self.block,
            1, False,  # a row is of one token, and not weighted
            E2M1, case.total, case.n, case.k,
            True, False, True, False,  # all of k; no atomics; sums in f32
            -1, -1, -1)  # tiles and blocks of its own choice
        return c

    def wanted(self, operands, g):
        first, end = self.case.ranges[g]
        codes, scales = operands[-2:]
        factor = operands[3][g] / 2. ** (126 - 7)
        weights = decode(codes, scales.view(E4M3).float() * factor)
        return operands[0][first:end].float() @ weights.t()


def peers_of(case):
    """All blocks up to the first that holds the longest group, and the next,
    which is what vLLM may take."""
    enough = sum(block < max(case.m) for block in BLOCKS) + 2
    yield "vllm_marlin_nvfp4_bf16", [Marlin(case, block)
                                     for block in BLOCKS[:enough]]


if __name__ == "__main__":
    if not os.environ.get("JITGEMM_LIBMARLIN"):
        print("skipped: JITGEMM_LIBMARLIN names no library")
        sys.exit(77)
    torch.ops.load_library(os.environ["JITGEMM_LIBMARLIN"])
    main(peers_of)
