# SPDX-License-Identifier: MIT
"""Times what Hopper users run today on the benchmark's shapes: f16 or bf16
weights, one cuBLAS call a group, and torch._grouped_mm. An object a line.

Same method as bench.c: CUDA graphs that rotate through more operands than the
L2 holds, medians of replays."""
import json
import statistics
import sys

try:
    import torch
except ImportError:
    print("skipped: no torch")
    sys.exit(77)

CASES = {
    "gm1": ([80, 176, 128, 72, 64, 248, 96, 160], 4096, 7168),
    "gm2": ([40, 76, 168, 72, 164, 148, 196, 160], 7168, 2048),
    "gm3": ([192, 320], 3072, 4096),
    "gm4": ([128, 384], 4096, 1536),
    "decode": ([8] * 32, 4096, 7168),
    "prefill_up": ([512] * 16, 4096, 7168),
    "prefill_down": ([512] * 16, 7168, 2048),
    "dense_8192": ([8192], 8192, 8192),
    "dense_4096": ([4096], 4096, 4096),
}
ROTATED_BYTES = 512e6


def per_group(a, b, c, ends):
    first = 0
    for g, end in enumerate(ends):
        torch.mm(a[first:end], b[g].t(), out=c[first:end])
        first = end


def median_us(calls):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls:
            call()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for call in calls:
                call()
        times = []
        for _ in range(21):
            start, end = (torch.cuda.Event(enable_timing=True)
                          for _ in range(2))
            start.record(stream)
            graph.replay()
            end.record(stream)
            end.synchronize()
            times.append(start.elapsed_time(end) * 1e3 / len(calls))
    return statistics.median(times)


def main():
    for name, (m, n, k) in CASES.items():
        total = sum(m)
        size = 2 * (total * k + len(m) * n * k + total * n)
        sets = min(8, int(ROTATED_BYTES / size) + 2)
        ends = torch.tensor(m).cumsum(0).tolist()
        offsets = torch.tensor(ends, dtype=torch.int32, device="cuda")
        calls = {"cublas_per_group": [], "torch_grouped_mm": []}
        for _ in range(sets):
            a = torch.randn(total, k, device="cuda").bfloat16()
            b = torch.randn(len(m), n, k, device="cuda").bfloat16()
            c = torch.empty(total, n, device="cuda", dtype=torch.bfloat16)
            calls["cublas_per_group"].append(
                lambda a=a, b=b, c=c: per_group(a, b, c, ends))
            calls["torch_grouped_mm"].append(
                lambda a=a, b=b: torch._grouped_mm(a, b.transpose(1, 2),
                                                   offs=offsets))
        for peer, peer_calls in calls.items():
            us = median_us(peer_calls * max(1, 16 // sets))
            print(json.dumps({"case": name, "peer": peer,
                              "us": round(us, 2)}), flush=True)
        del calls


main()
