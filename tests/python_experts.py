# SPDX-License-Identifier: MIT
"""examples/jitgemm.py on a GPU or the emulated device: tokens to experts, of
which one has no row, and back, against sums in Python. All numbers are such
that nothing is rounded. Usage: python_experts.py LIBCUDA"""
import ctypes
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, "examples"))
import jitgemm  # noqa: E402

E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
EXPERTS, N, K, ROWS = 3, 16, 64, [2, 0, 5]
TOKENS, TOP_K = 4, 2
TOKEN = [3, 0, 1, 3, 2, 0, 1]  # of each row
ONE = 0x38  # e4m3
GATE = 32.0  # silu(32) is 32 in f32

cuda = ctypes.CDLL(sys.argv[1])


def must(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    assert result == 0, (name, result)


class Memory:
    """Device memory with a data_ptr(), as a tensor has it."""

    def __init__(self, content):
        self.address = ctypes.c_uint64()
        self.bytes = len(content)
        must("cuMemAlloc_v2", ctypes.byref(self.address),
             ctypes.c_size_t(self.bytes))
        must("cuMemcpyHtoD_v2", self.address, bytes(content),
             ctypes.c_size_t(self.bytes))

    def data_ptr(self):
        return self.address.value

    def read(self):
        content = ctypes.create_string_buffer(self.bytes)
        must("cuMemcpyDtoH_v2", content, self.address,
             ctypes.c_size_t(self.bytes))
        return content.raw


class Array:
    """The same memory as CuPy's and Numba's arrays show it."""

    def __init__(self, memory):
        self.__cuda_array_interface__ = {
            "shape": (memory.bytes,), "typestr": "|u1", "version": 3,
            "data": (memory.data_ptr(), False)}


def value(code):
    return math.copysign(E2M1[code & 7], -1 if code & 8 else 1)


def packed(codes):
    return bytes(low | high << 4 for low, high in zip(codes[::2], codes[1::2]))


def array(type, values):
    return Memory(struct.pack("%d%s" % (len(values), type), *values))


def poison(count):
    return Memory([0xff] * count)


def quantize(library, offsets, x, conversion, **arguments):
    """Values and scales of one row of x, or its SwiGLU, for each token."""
    made = {"values": poison(offsets[-1] * K // 2),
            "scales": poison(jitgemm.scale_bytes(jitgemm.TIGHT, offsets[-1],
                                                 EXPERTS, K))}
    conversion = jitgemm.Conversion(library, **conversion)
    conversion.run(K, offsets[-1], groups=EXPERTS, x=array("e", x),
                   rows=array("i", offsets), **made, **arguments)
    must("cuCtxSynchronize")
    conversion.close()
    return made


def test_cast(library, offsets, x, rows):
    """Likewise, of 16 bits: gathered f16 to bf16, and as interleaved gates and
    ups, of which that of gpt-oss adds 1 to an up; a gate of 8 is 7."""
    bf16 = b"".join(struct.pack("<f", v)[2:] for row in rows for v in row)
    gates = [y for row in rows for v in row for y in (GATE, v / GATE)]
    glu = [y for row in rows for v in row for y in (8.0, v - 1)]
    for content, more, arguments in (
            (x, {"gather": True}, {"gather": array("i", TOKEN),
                                   "x_rows": TOKENS}),
            (gates, {"activation": jitgemm.SWIGLU_INTERLEAVED}, {}),
            (glu, {"activation": jitgemm.SWIGLU_OAI_INTERLEAVED}, {})):
        out = poison(len(bf16))
        conversion = jitgemm.Conversion(library, cast=True,
                                        c_type=jitgemm.BF16, **more)
        conversion.run(K, offsets[-1], groups=EXPERTS, x=array("e", content),
                       rows=array("i", offsets), values=out, **arguments)
        must("cuCtxSynchronize")
        conversion.close()
        if content is not glu:
            assert out.read() == bf16
            continue
        # An up of v - 1, of which -7 is the least that there is.
        got = struct.unpack("<%df" % (len(bf16) // 2), b"".join(
            bytes(2) + out.read()[i:i + 2] for i in range(0, len(bf16), 2)))
        for y, v in zip(got, (v for row in rows for v in row)):
            want = 7 / (1 + math.exp(-1.702 * 7)) * v
            assert abs(y - want) <= abs(want) / 256, (y, want)


def test_quantize(library, offsets, codes):
    """Tokens to the rows of experts; and rows of gates and ups whose product
    is the same."""
    x = [value(code) for code in codes]
    rows = [x[token * K:(token + 1) * K] for token in TOKEN]
    padded = [y for i in range(TOKENS)
              for y in x[i * K:(i + 1) * K] + [math.nan] * 8]
    sorted_ = quantize(library, offsets, padded, {"gather": True}, ldx=K + 8,
                       gather=array("i", TOKEN), x_rows=TOKENS)
    activated = quantize(
        library, offsets,
        [y for row in rows for y in [GATE] * K + [v / GATE for v in row]],
        {"activation": jitgemm.SWIGLU})
    assert sorted_["values"].read() == activated["values"].read()
    assert sorted_["scales"].read() == activated["scales"].read()
    assert sorted_["scales"].bytes == 512 * EXPERTS
    got = [value(byte >> shift & 15) for byte in sorted_["values"].read()
           for shift in (0, 4)]
    assert got == [v for row in rows for v in row]
    test_cast(library, offsets, x, rows)
    return rows, sorted_


def spread(rows, row, step):
    """Rows of so many bytes, so many bytes apart."""
    return b"".join(rows[i:i + row] + bytes([0x77]) * (step - row)
                    for i in range(0, len(rows), row))


def test_product(library, offsets, rows, scale, operands, row_c, **options):
    """C has one row more, which is to become 0."""
    b = [random.randrange(16) for _ in range(EXPERTS * N * K)]
    alpha = [0.5, 4.0, -0.25]
    c = poison(row_c * (offsets[-1] + 1))
    arguments = dict(operands, b=Memory(packed(b)), c=c,
                     alpha=array("f", alpha), rows=array("i", offsets))
    plan = jitgemm.Experts(library, EXPERTS, N, K, offsets[-1] + 1,
                           c_type=jitgemm.F32, row_c=row_c, **options)
    workspace = poison(plan.workspace_bytes + 256)
    place = (workspace.data_ptr() + 255) // 256 * 256
    plan.run(workspace=place, **arguments)
    must("cuCtxSynchronize")
    got = [struct.unpack_from("%df" % N, c.read(), row * row_c)
           for row in range(offsets[-1] + 1)]
    assert got.pop() == (0,) * N
    for g in range(EXPERTS):
        for row in range(offsets[g], offsets[g + 1]):
            for column in range(N):
                want = alpha[g] * scale * sum(
                    rows[row][i] * value(b[(g * N + column) * K + i])
                    for i in range(K))
                assert got[row][column] == want, (row, column, want)
    for change, argument in (({"workspace": place + 1}, "workspace"),
                             ({"workspace": place, "b": None}, "b")):
        try:
            plan.run(**dict(arguments, **change))
            raise AssertionError("takes a bad " + argument)
        except jitgemm.Error as error:
            assert error.argument == "arguments." + argument, error.argument
    plan.close()
    return c, got


def test_products(library, offsets, rows, a):
    """NVFP4; bf16 with MXFP4, rows with gaps between them."""
    bf16 = b"".join(struct.pack("<f", x)[2:] for row in rows for x in row)
    row_a = 2 * K + 16
    test_product(library, offsets, rows, 4,
                 {"a": Memory(spread(bf16, 2 * K, row_a)),
                  "sfb": Memory([129] * (512 * EXPERTS))}, 4 * N + 32,
                 row_a=row_a, flags=jitgemm.ZERO_TAIL,
                 a_type=jitgemm.INPUT_BF16, b_type=jitgemm.MXFP4)
    return test_product(library, offsets, rows, 1,
                        {"a": a["values"], "sfa": a["scales"],
                         "sfb": Memory([ONE] * (512 * EXPERTS))}, 4 * N,
                        flags=jitgemm.DEPENDENT_LAUNCH | jitgemm.ZERO_TAIL,
                        sm_limit=1)


def test_combine(library, rows, c, products):
    """Rows back to tokens: the last has one row."""
    weights = [0.5, 2.0, 0.25, 1.0, 4.0, 8.0, 0.125, 1.0]
    row = [1, 5, 2, 6, 4, -1, 0, 3]
    out = poison(4 * TOKENS * N)
    combine = jitgemm.Conversion(library, combine=True, x_type=jitgemm.F32,
                                 c_type=jitgemm.F32,
                                 flags=jitgemm.DEPENDENT_LAUNCH)
    combine.run(N, TOKENS, top_k=TOP_K, x=Array(c), values=Array(out),
                scale=array("f", weights), gather=array("i", row),
                x_rows=rows)
    must("cuCtxSynchronize")
    combine.close()
    got = struct.unpack("%df" % (TOKENS * N), out.read())
    for i in range(TOKENS * N):
        pairs = range(i // N * TOP_K, (i // N + 1) * TOP_K)
        want = sum(weights[j] * products[row[j]][i % N]
                   for j in pairs if row[j] >= 0)
        assert got[i] == want, (i, got[i], want)


def test_errors(library):
    try:
        jitgemm.Experts(library, EXPERTS, N, K, 7, sm_limit=-1)
        raise AssertionError("takes less than no multiprocessor")
    except jitgemm.Error as error:
        assert error.argument == "problem.sm_limit", error.argument
    try:
        jitgemm.Conversion(library, place=9)
        raise AssertionError("takes a place that does not exist")
    except jitgemm.Error as error:
        assert error.argument == "options.place", error.argument
    try:
        jitgemm.Conversion(library).run(K, 1, y=None)
        raise AssertionError("takes an argument that does not exist")
    except TypeError as error:
        assert str(error) == "unknown: y", error


def main():
    random.seed(2026)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    must("cuInit", 0)
    must("cuDeviceGet", ctypes.byref(device), 0)
    must("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    must("cuCtxSetCurrent", context)
    offsets = [sum(ROWS[:g]) for g in range(EXPERTS + 1)]
    # A 6 in each block, so that all scales are 1.
    codes = [random.randrange(16) if i % 16 else random.choice([7, 15])
             for i in range(TOKENS * K)]
    library = jitgemm.Context()
    rows, a = test_quantize(library, offsets, codes)
    c, products = test_products(library, offsets, rows, a)
    test_combine(library, offsets[-1], c, products)
    test_errors(library)
    library.close()
    print("%d rows of C are exact" % len(products))


main()
