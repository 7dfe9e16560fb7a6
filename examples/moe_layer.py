# SPDX-License-Identifier: MIT
"""A layer of a mixture of experts in PyTorch, its products by libjitgemm:

  tokens routed, to the experts of their largest logits
  those of each expert gathered, to NVFP4
  gates and ups, of all experts
  silu(gate) * up, to NVFP4
  down
  what the experts made of a token, weighted and added up

Nothing waits for the GPU, so all of it is in a CUDA graph, which is replayed
with other tokens, checked against float64, and timed beside the same layer by
torch's own grouped products of bf16. With --a bf16 only weights are NVFP4."""
import argparse
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
import jitgemm

# Multipliers of tokens and activations, that the largest are within the range
# of NVFP4. A checkpoint has them: 1 / input_scale, or input_global_scale.
RANGE = 6 * 448
X_SCALE, H_SCALE = RANGE / 8, RANGE / 32
# How far a token may be from float64, as part of its length. Rounding to bf16
# makes 0.005; where it puts one number on the other side of an edge between
# two codes of NVFP4, up to 0.05 in small layers; a wrong row, far more.
TOLERANCE = 0.06
CHECKS, REPLAYS = 3, 31


def stream():
    return torch.cuda.current_stream().cuda_stream


def memory(*shape):
    return torch.empty(shape, dtype=torch.uint8)


def route(logits, top_k):
    """Weights of each token's experts, and its rows; where the rows of each
    expert begin, and the tokens that they are of."""
    weight, expert = logits.softmax(-1).topk(top_k)
    weight /= weight.sum(-1, keepdim=True)
    expert, order = expert.flatten().int().sort(stable=True)
    numbers = torch.arange(len(order), dtype=torch.int32)
    row = torch.empty_like(numbers).scatter_(0, order, numbers)
    experts = torch.arange(logits.shape[1] + 1, dtype=torch.int32)
    offsets = torch.searchsorted(expert, experts, out_int32=True)
    return weight, row, offsets, (order // top_k).int()


def swiglu(c):
    gate, up = c.chunk(2, -1)
    return torch.nn.functional.silu(gate) * up


def rounded(x, scale):
    """What NVFP4 with that multiplier leaves of x, as jitgemm.h defines it."""
    x = x.float().unflatten(-1, (-1, 16))
    e4m3 = scale * (x.abs().amax(-1, keepdim=True) * (1 / 6))
    e4m3 = e4m3.clamp(2 ** -9, 448).to(torch.float8_e4m3fn).float()
    x = x * (scale / e4m3)
    step = torch.where(x.abs() < 2, 0.5, torch.where(x.abs() < 4, 1.0, 2.0))
    e2m1 = ((x / step).round() * step).clamp(-6, 6)
    return (e2m1 * e4m3 / scale).flatten(-2)


class Weights:
    """n x k of each expert, in NVFP4; and the same in bf16: the multipliers
    are powers of two, so that it has all of it."""

    def __init__(self, context, experts, n, k, a_scale):
        self.n, self.k = n, k
        self.a_scale = torch.full((experts,), a_scale)
        real = torch.randn(experts, n, k, dtype=torch.bfloat16) / k ** 0.5
        scale = (RANGE / real.abs().amax((1, 2)).float()).log2().floor().exp2()
        self.bf16 = torch.stack([rounded(*one).bfloat16()
                                 for one in zip(real, scale)])
        self.values = memory(experts, n, k // 2)
        self.scales = memory(jitgemm.scale_bytes(jitgemm.STRIDED, n, experts,
                                                 k))
        # Masked groups without counts have n rows each. The scales of a
        # checkpoint are put in order by a Conversion with x_type=jitgemm.E4M3.
        quantize = jitgemm.Conversion(
            context, x_type=jitgemm.BF16, layout=jitgemm.MASKED,
            place=jitgemm.STRIDED)
        quantize.run(k, n, groups=experts, x=real, scale=scale,
                     values=self.values, scales=self.scales, stream=stream())
        quantize.close()
        self.alpha = 1 / (scale * self.a_scale)


class Layer:
    """For so many tokens. All that is slow is done when it is made."""

    def __init__(self, context, up, down, nvfp4, tokens, top_k):
        self.up, self.down, self.nvfp4, self.top_k = up, down, nvfp4, top_k
        self.experts, self.rows = len(up.values), tokens * top_k
        self.plans = {weights: jitgemm.Experts(
            context, self.experts, weights.n, weights.k, self.rows,
            a_type=jitgemm.NVFP4 if nvfp4 else jitgemm.INPUT_BF16,
            c_type=jitgemm.BF16) for weights in (up, down)}
        kind = {} if nvfp4 else {"cast": True, "c_type": jitgemm.BF16}
        self.gather = jitgemm.Conversion(context, x_type=jitgemm.BF16,
                                         gather=True, **kind)
        self.activate = jitgemm.Conversion(context, x_type=jitgemm.BF16,
                                           activation=jitgemm.SWIGLU, **kind)
        self.combine = jitgemm.Conversion(context, x_type=jitgemm.BF16,
                                          c_type=jitgemm.BF16, combine=True)
        self.fault = torch.zeros(4, dtype=torch.int32)

    def convert(self, conversion, weights, x, offsets, **gather):
        """Rows to be multiplied with the weights, and their scales, if any."""
        k, scale, sfa = weights.k, None, None
        a = memory(self.rows, k // 2 if self.nvfp4 else 2 * k)
        if self.nvfp4:
            scale = weights.a_scale
            sfa = memory(jitgemm.scale_bytes(jitgemm.TIGHT, self.rows,
                                             self.experts, k))
        conversion.run(k, self.rows, groups=self.experts, x=x, rows=offsets,
                       scale=scale, values=a, scales=sfa, fault=self.fault,
                       stream=stream(), **gather)
        return a, sfa

    def multiply(self, weights, offsets, a, sfa):
        plan = self.plans[weights]
        c = torch.empty(self.rows, weights.n, dtype=torch.bfloat16)
        plan.run(a=a, sfa=sfa, b=weights.values, sfb=weights.scales, c=c,
                 alpha=weights.alpha, rows=offsets, fault=self.fault,
                 workspace=memory(plan.workspace_bytes), stream=stream())
        return c

    def run(self, x, logits):
        """Tensors may go once they are launched with: torch gives their memory
        to what comes later on the stream, or in the graph, only."""
        weight, row, offsets, token = route(logits, self.top_k)
        a = self.convert(self.gather, self.up, x, offsets, gather=token,
                         x_rows=len(x))
        c = self.multiply(self.up, offsets, *a)
        a = self.convert(self.activate, self.down, c, offsets)
        c = self.multiply(self.down, offsets, *a)
        out = torch.empty_like(x)
        self.combine.run(self.down.n, len(x), top_k=self.top_k, x=c,
                         scale=weight, gather=row, x_rows=self.rows,
                         values=out, fault=self.fault, stream=stream())
        return out


def torch_layer(x, logits, up, down, top_k):
    weight, row, offsets, token = route(logits, top_k)
    c = torch._grouped_mm(x.index_select(0, token), up.bf16.transpose(1, 2),
                          offs=offsets[1:])
    c = torch._grouped_mm(swiglu(c), down.bf16.transpose(1, 2),
                          offs=offsets[1:])
    c = c.index_select(0, row).unflatten(0, (len(x), top_k))
    return torch.bmm(weight.to(c.dtype).unsqueeze(1), c).squeeze(1)


def reference(x, logits, up, down, top_k, nvfp4):
    """In float64, expert by expert; but with gates and ups rounded to x's
    type, as they are stored, and with nvfp4 what is multiplied, too."""
    logit, expert = logits.double().topk(top_k)
    weight = logit.softmax(-1)
    out = torch.zeros(x.shape, dtype=torch.float64)
    for e in range(logits.shape[1]):
        token, slot = (expert == e).nonzero(as_tuple=True)
        a = x[token].double()
        a = rounded(a, up.a_scale[e]).double() if nvfp4 else a
        c = (a @ up.bf16[e].double().T).to(x.dtype)
        a = swiglu(c.double())
        a = rounded(a, down.a_scale[e]).double() if nvfp4 else a
        c = a @ down.bf16[e].double().T
        out.index_add_(0, token, c * weight[token, slot].unsqueeze(1))
    return out


def renew(x, logits):
    """Other tokens, of which other experts get many, few or none."""
    x.normal_()
    logits.normal_().add_(torch.randn(logits.shape[1]))


def capture(function, *arguments):
    """A graph of it, and the result, which every replay writes anew."""
    function(*arguments)  # torch makes what it keeps
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = function(*arguments)
    return graph, result


def distance(graph, result, inputs, *others):
    """From the reference, of the worst token of several replays."""
    worst = 0
    for _ in range(CHECKS):
        renew(*inputs)
        graph.replay()
        want = reference(*inputs, *others)
        far = (result - want).norm(dim=-1) / want.norm(dim=-1)
        worst = max(worst, far.nan_to_num(torch.inf).max().item())
    return worst


def median_us(graph, inputs):
    """Each replay finds the L2 full of something else, as one layer of many
    does; filling it takes longer than launching."""
    filler, times = memory(1 << 28), []
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(REPLAYS):
        renew(*inputs)
        filler.zero_()
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3)
    return statistics.median(times)


def measure(context, up, down, nvfp4, tokens, top_k):
    """Prints a row of the table; returns the largest distance."""
    inputs = (torch.empty(tokens, up.k, dtype=torch.bfloat16),
              torch.empty(tokens, len(up.values)))
    renew(*inputs)
    layer = Layer(context, up, down, nvfp4, tokens, top_k)
    routing, _ = capture(route, inputs[1], top_k)
    ours, result = capture(layer.run, *inputs)
    worst = distance(ours, result, inputs, up, down, top_k, nvfp4)
    if layer.fault.any():
        sys.exit(f"fault: {layer.fault.tolist()}")
    us = [median_us(graph, inputs) for graph in (routing, ours)]
    if hasattr(torch, "_grouped_mm"):
        theirs, result = capture(torch_layer, *inputs, up, down, top_k)
        worst = max(worst, distance(theirs, result, inputs, up, down, top_k,
                                    False))
        us.append(median_us(theirs, inputs))
        us.append(us[2] / us[1])
    print(f"{tokens:6}", *(f"{x:10.2f}" for x in us), flush=True)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--tokens", type=int, nargs="+",
                        default=[16, 256, 4096])
    for name, size in (("hidden", 2048), ("intermediate", 768),
                       ("experts", 128), ("top-k", 8)):
        parser.add_argument("--" + name, type=int, default=size)
    parser.add_argument("--a", choices=("nvfp4", "bf16"), default="nvfp4")
    args = parser.parse_args()
    torch.manual_seed(2026)
    torch.set_default_device("cuda")
    torch.cuda.synchronize()  # from here on torch's CUDA context is current
    context = jitgemm.Context()
    nvfp4 = args.a == "nvfp4"
    up = Weights(context, args.experts, 2 * args.intermediate, args.hidden,
                 X_SCALE if nvfp4 else 1.0)
    down = Weights(context, args.experts, args.hidden, args.intermediate,
                   H_SCALE if nvfp4 else 1.0)
    print(f"{torch.cuda.get_device_name()}, {args.experts} experts, top "
          f"{args.top_k}, {args.hidden} x {args.intermediate}, activations in "
          f"{args.a}; median microseconds:\n"
          "tokens    routing libjitgemm torch bf16      times")
    worst = max(measure(context, up, down, nvfp4, tokens, args.top_k)
                for tokens in args.tokens)
    print(f"largest distance from float64: {worst:.4f} (at most {TOLERANCE})")
    return 0 if worst < TOLERANCE else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except jitgemm.Error as error:
        if error.status != jitgemm.E_ARCH:
            raise
        print("skipped:", error)
        sys.exit(77)
