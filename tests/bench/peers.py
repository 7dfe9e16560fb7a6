# SPDX-License-Identifier: MIT
"""Usage: peers.py CASES [RESULTS]

Times what PyTorch and Triton do with the shapes that bench --cases wrote to
CASES, an object a line, and adds that to the peers in RESULTS, which
bench --json wrote. Same method as timing.c: CUDA graphs that rotate through
more operands than the L2 holds, medians of replays.

PyTorch multiplies bf16. Triton multiplies e2m1 (tl.dot_scaled, which decodes
in software on Hopper), but not NVFP4: one e8m0 scale for 32 values, since
Triton 3.6 does not compile e4m3 scales for 16 for sm_90."""
import json
import statistics
import sys

try:
    import torch
except ImportError:
    print("skipped: no torch")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: torch finds no GPU")
    sys.exit(77)
try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

ROTATED_BYTES = 512e6
MOST_SETS = 256
REPLAYS = 21
GRAPH_US = 4000
SCALED = 32  # values that share a scale


class Case:
    def __init__(self, shape):
        self.name, self.n, self.k = (shape[x] for x in ("case", "n", "k"))
        self.m = shape["m"]
        self.groups, self.total = len(self.m), sum(self.m)
        self.longest = max(range(self.groups), key=lambda g: self.m[g])
        ends = torch.tensor(self.m).cumsum(0).tolist()
        self.ranges = list(zip([0] + ends, ends))
        self.offsets = torch.tensor(ends, dtype=torch.int32, device="cuda")


class Torch:
    """bf16 operands; one call for all groups, or one for each."""

    def __init__(self, case, grouped):
        self.case, self.grouped = case, grouped
        self.bytes = 2 * (case.total * case.k + case.total * case.n +
                          case.groups * case.n * case.k)

    def operands(self):
        c = self.case
        make = {"device": "cuda", "dtype": torch.bfloat16}
        return (torch.randn(c.total, c.k, **make),
                torch.randn(c.groups, c.n, c.k, **make),
                torch.zeros(c.total, c.n, **make))

    def run(self, a, b, c):
        if self.grouped:
            return torch._grouped_mm(a, b.transpose(1, 2),
                                     offs=self.case.offsets)
        for g, (first, end) in enumerate(self.case.ranges):
            if end > first:
                torch.mm(a[first:end], b[g].t(), out=c[first:end])
        return c

    def wanted(self, operands, g):
        first, end = self.case.ranges[g]
        return operands[0][first:end].float() @ operands[1][g].float().t()


if triton:
    @triton.jit
    def scaled_kernel(a, sfa, b, sfb, c, tiles, n, k, M: tl.constexpr,
                      N: tl.constexpr, K: tl.constexpr):
        """A row of `tiles` is a group and its first and last rows here."""
        tile = tiles + 3 * tl.program_id(0)
        group = tl.load(tile).to(tl.int64)
        rows = (tl.load(tile + 1) + tl.arange(0, M)).to(tl.int64)[:, None]
        columns = (tl.program_id(1) * N + tl.arange(0, N)).to(tl.int64)
        row_used = rows < tl.load(tile + 2)
        pairs = tl.arange(0, K // 2)
        blocks = tl.arange(0, K // 32)[None, :]
        weights = b + group * n * (k // 2)
        scales = sfb + group * n * (k // 32)
        used = columns < n
        total = tl.zeros((M, N), tl.float32)
        for i in range(0, k // K):
            x = tl.load(a + rows * (k // 2) + i * (K // 2) + pairs[None, :],
                        mask=row_used, other=0)
            y = tl.load(weights + columns[None, :] * (k // 2) + i * (K // 2)
                        + pairs[:, None], mask=used[None, :], other=0)
            sx = tl.load(sfa + rows * (k // 32) + i * (K // 32) + blocks,
                         mask=row_used, other=0)
            sy = tl.load(scales + columns[:, None] * (k // 32) + i * (K // 32)
                         + blocks, mask=used[:, None], other=0)
            total = tl.dot_scaled(x, sx, "e2m1", y, sy, "e2m1", total)
        tl.store(c + rows * n + columns[None, :], total.to(tl.float16),
                 mask=row_used & used[None, :])


class Triton:
    """Tiles of one configuration."""

    CONFIGURATIONS = ((16, 128, 4), (64, 128, 4), (128, 128, 8), (64, 256, 8))

    def __init__(self, case, configuration):
        self.case = case
        self.m, self.n, self.warps = configuration
        self.depth = 128 if case.k % 128 == 0 else 64
        self.bytes = ((case.total + case.groups * case.n) *
                      (case.k // 2 + case.k // SCALED) +
                      2 * case.total * case.n)
        rows = [(g, row, end) for g, (first, end) in enumerate(case.ranges)
                for row in range(first, end, self.m)]
        self.tiles = torch.tensor(rows, dtype=torch.int32, device="cuda")

    def operands(self):
        c = self.case

        def draw(low, high, *shape):
            return torch.randint(low, high, shape, dtype=torch.uint8,
                                 device="cuda")

        return (draw(0, 256, c.total, c.k // 2),
                draw(122, 126, c.total, c.k // SCALED),
                draw(0, 256, c.groups, c.n, c.k // 2),
                draw(122, 126, c.groups, c.n, c.k // SCALED),
                torch.zeros(c.total, c.n, device="cuda", dtype=torch.float16))

    def run(self, a, sfa, b, sfb, c):
        grid = (len(self.tiles), triton.cdiv(self.case.n, self.n))
        scaled_kernel[grid](a, sfa, b, sfb, c, self.tiles, self.case.n,
                            self.case.k, M=self.m, N=self.n, K=self.depth,
                            num_warps=self.warps, num_stages=3)
        return c

    def wanted(self, operands, g):
        a, sfa, b, sfb, _ = operands
        first, end = self.case.ranges[g]
        return (decode(a[first:end], torch.exp2(sfa[first:end].float() - 127))
                @ decode(b[g], torch.exp2(sfb[g].float() - 127)).t())


def decode(codes, scales):
    """Two e2m1 a byte, the low four bits first; scales of equal shares."""
    magnitudes = [0, .5, 1, 1.5, 2, 3, 4, 6]
    table = torch.tensor(magnitudes + [-x for x in magnitudes],
                         device=codes.device)
    values = table[torch.stack((codes & 15, codes >> 4), -1).long()]
    values = values.flatten(-2)
    shared = values.shape[-1] // scales.shape[-1]
    return values * scales.repeat_interleave(shared, -1)


def check(peer, operands):
    """The largest group, to what rounding explains."""
    g = peer.case.longest
    first, end = peer.case.ranges[g]
    got = peer.run(*operands)[first:end].float()
    want = peer.wanted(operands, g)
    error = (got - want).abs() / (want.abs() + want.square().mean().sqrt())
    if not error.max().item() < 1 / 32:
        raise ValueError(f"wrong by {error.max().item():.3g}")


def median_us(peer):
    sets = min(MOST_SETS, int(ROTATED_BYTES / peer.bytes) + 2)
    operands = [peer.operands() for _ in range(sets)]
    check(peer, operands[0])
    stream = torch.cuda.Stream()

    def capture(rounds):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(rounds):
                for one in operands:
                    peer.run(*one)
        return graph

    def replay(graph, rounds):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record(stream)
        graph.replay()
        end.record(stream)
        end.synchronize()
        return start.elapsed_time(end) * 1e3 / (rounds * sets)

    with torch.cuda.stream(stream):
        peer.run(*operands[0])
        stream.synchronize()
    graph = capture(1)
    with torch.cuda.stream(stream):
        replay(graph, 1)
        rounds = int(GRAPH_US / sets / replay(graph, 1)) + 1
    graph = capture(rounds)
    with torch.cuda.stream(stream):
        replay(graph, rounds)
        return statistics.median(replay(graph, rounds)
                                 for _ in range(REPLAYS))


def peers_of(case):
    """Names, and the ways of which the fastest counts."""
    yield "torch_per_group_bf16", [Torch(case, False)]
    yield "torch_grouped_mm_bf16", [Torch(case, True)]
    if triton:
        yield "triton_e2m1_scale_32", [Triton(case, configuration)
                                       for configuration
                                       in Triton.CONFIGURATIONS]


def measure(name, ways):
    best = None
    for way in ways:
        try:
            us = median_us(way)
            best = min(us, best or us)
        except Exception as error:
            print(f"{way.case.name}, {name}: {str(error)[:200]}",
                  file=sys.stderr)
        torch.cuda.empty_cache()
    return best


def main(peers_of):
    with open(sys.argv[1], encoding="utf-8") as file:
        cases = [Case(shape) for shape in json.load(file)]
    for case in cases:
        for name, ways in peers_of(case):
            us = measure(name, ways)
            if us is None:
                continue
            print(json.dumps({"case": case.name, "peer": name,
                              "us": round(us, 2)}), flush=True)
            if len(sys.argv) > 2:
                add(sys.argv[2], case.name, name, us)


def add(path, case, name, us):
    """At once, so that what is measured is not lost."""
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    for result in results["cases"]:
        if result["case"] == case:
            result["peers"][name] = round(us, 2)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)


if __name__ == "__main__":
    main(peers_of)
