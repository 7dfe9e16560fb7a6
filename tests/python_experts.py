# SPDX-License-Identifier: MIT
"""examples/jitgemm.py on a GPU or the emulated device: experts of which one
has no row, against sums in Python. Usage: python_experts.py LIBCUDA"""
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


def value(code):
    return math.copysign(E2M1[code & 7], -1 if code & 8 else 1)


def packed(codes):
    return bytes(low | high << 4 for low, high in zip(codes[::2], codes[1::2]))


def main():
    random.seed(2026)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    must("cuInit", 0)
    must("cuDeviceGet", ctypes.byref(device), 0)
    must("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    must("cuCtxSetCurrent", context)
    offsets = [sum(ROWS[:g]) for g in range(EXPERTS + 1)]
    a = [random.randrange(16) for _ in range(offsets[-1] * K)]
    b = [random.randrange(16) for _ in range(EXPERTS * N * K)]
    alpha = [0.5, 7.0, -0.25]
    tiles = sum((rows + 127) // 128 for rows in ROWS) + EXPERTS
    one = 0x38  # e4m3
    arguments = {
        "a": Memory(packed(a)), "b": Memory(packed(b)),
        "sfa": Memory([one] * (512 * tiles)),
        "sfb": Memory([one] * (512 * EXPERTS)),
        "c": Memory([0xff] * (4 * offsets[-1] * N)),
        "alpha": Memory(struct.pack("3f", *alpha)),
        "rows": Memory(struct.pack("4i", *offsets))}

    library = jitgemm.Context()
    plan = jitgemm.Experts(library, EXPERTS, N, K, offsets[-1],
                           c_type=jitgemm.F32, sm_limit=1)
    workspace = Memory([0xff] * (plan.workspace_bytes + 256))
    place = (workspace.data_ptr() + 255) // 256 * 256
    plan.run(workspace=place, **arguments)
    must("cuCtxSynchronize")
    got = struct.unpack("%df" % (offsets[-1] * N), arguments["c"].read())
    for g in range(EXPERTS):
        for row in range(offsets[g], offsets[g + 1]):
            for column in range(N):
                want = alpha[g] * sum(
                    value(a[row * K + i]) * value(b[(g * N + column) * K + i])
                    for i in range(K))
                assert got[row * N + column] == want, (row, column, want)
    try:
        jitgemm.Experts(library, EXPERTS, N, K, offsets[-1], sm_limit=-1)
        raise AssertionError("takes less than no multiprocessor")
    except jitgemm.Error as error:
        assert error.argument == "problem.sm_limit", error.argument
    try:
        plan.run(workspace=place + 1, **arguments)
        raise AssertionError("takes a workspace at an odd address")
    except jitgemm.Error as error:
        assert error.argument == "arguments.workspace", error.argument
    plan.close()
    library.close()
    print("%d elements of C are exact" % len(got))


main()
