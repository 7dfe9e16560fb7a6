#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Usage: plot.py RESULT.json... >roofline.svg

Draws what bench --json wrote: a dot a case, at its flops per byte of device
memory and the TFLOP/s that it ran at, under the two limits that were measured
in the first file. Each file has a colour of its own."""
import json
import math
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 960, 600
LEFT, RIGHT, TOP, BOTTOM = 70, 30, 50, 60
COLOURS = 5
LETTER, LINE = 6.2, 12  # of a label: width of a letter, height

STYLE = """
svg { background: #fff; font: 11px sans-serif }
text { fill: #222 } .grid { stroke: #ddd } .limit { stroke: #222 }
.c0 { fill: #1766b5 } .c1 { fill: #c2410c } .c2 { fill: #15803d }
.c3 { fill: #9333ea } .c4 { fill: #64748b }
@media (prefers-color-scheme: dark) {
svg { background: #14181d }
text { fill: #ddd } .grid { stroke: #333a42 } .limit { stroke: #ddd }
.c0 { fill: #62a8ea } .c1 { fill: #fb923c } .c2 { fill: #4ade80 }
.c3 { fill: #c084fc } .c4 { fill: #94a3b8 }
}"""


class Axis:
    """Logarithmic, over whole decades that hold all values."""

    def __init__(self, values, start, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.start, self.end = start, end

    def __call__(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def decades(self):
        return [10.0 ** i for i in range(self.low, self.high + 1)]


def text(x, y, words, anchor="start", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>'
            f"{escape(words)}</text>")


def line(kind, x1, y1, x2, y2):
    return (f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" '
            f'x2="{x2:.1f}" y2="{y2:.1f}"/>')


def overlap(a, b):
    return (a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and
            a[1] < b[1] + b[3] and b[1] < a[1] + a[3])


def place_label(x, y, words, taken):
    """The nearest place around the dot that is free."""
    width = LETTER * len(words)
    for distance in range(0, 20):
        shift = (distance + 1) // 2 * LINE * (-1) ** distance
        for left in (x + 7, x - 7 - width):
            box = (left, y + shift - LINE / 2, width, LINE)
            inside = LEFT < left and left + width < WIDTH - RIGHT
            if inside and not any(overlap(box, other) for other in taken):
                taken.append(box)
                return box
    return (x + 7, y - LINE / 2, width, LINE)


def draw_axes(x, y):
    for value in x.decades():
        yield line("grid", x(value), TOP, x(value), HEIGHT - BOTTOM)
        yield text(x(value), HEIGHT - BOTTOM + 16, f"{value:g}", "middle")
    for value in y.decades():
        yield line("grid", LEFT, y(value), WIDTH - RIGHT, y(value))
        yield text(LEFT - 8, y(value) + 4, f"{value:g}", "end")
    yield text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 20,
               "flops per byte of device memory", "middle")
    yield text(20, HEIGHT / 2, "TFLOP/s", "middle",
               f' transform="rotate(-90 20 {HEIGHT / 2})"')


def draw_limits(rate, bandwidth, x, y):
    """TB/s times flops per byte are TFLOP/s."""
    first, last = x.decades()[0], x.decades()[-1]
    knee = min(rate / bandwidth, last) if rate else last
    first = max(first, y.decades()[0] / bandwidth)
    yield line("limit", x(first), y(first * bandwidth), x(knee),
               y(knee * bandwidth))
    yield text(x(first) + 24, y(first * bandwidth),
               f"{bandwidth:g} TB/s")
    if rate:
        yield line("limit", x(knee), y(rate), x(last), y(rate))
        yield text(x(last), y(rate) - 8, f"{rate:g} TFLOP/s", "end")


def draw(results):
    dots = [(case["flops"] / case["bytes"], case["flops"] / case["us"] / 1e6,
             case["case"], number % COLOURS)
            for number, result in enumerate(results)
            for case in result["cases"]]
    rate, bandwidth = results[0]["rate"], results[0]["bandwidth"]
    x = Axis([dot[0] for dot in dots], LEFT, WIDTH - RIGHT)
    y = Axis([dot[1] for dot in dots] + [rate] * bool(rate),
             HEIGHT - BOTTOM, TOP)
    yield ('<svg xmlns="http://www.w3.org/2000/svg" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}">\n<style>{STYLE}\n</style>')
    for number, result in enumerate(results):
        yield text(LEFT + 300 * (number % 3), 16 + 15 * (number // 3),
                   f'{result["device"]}, {result["date"]}', "start",
                   f' class="c{number % COLOURS}"')
    yield from draw_axes(x, y)
    yield '<clipPath id="inside">' \
          f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" ' \
          f'height="{HEIGHT - TOP - BOTTOM}"/></clipPath>'
    yield '<g clip-path="url(#inside)">'
    yield from draw_limits(rate, bandwidth, x, y)
    yield "</g>"
    taken = [(x(a) - 4, y(b) - 4, 8, 8) for a, b, _, _ in dots]
    for a, b, name, colour in sorted(dots):
        box = place_label(x(a), y(b), name, taken)
        yield (f'<circle class="c{colour}" cx="{x(a):.1f}" cy="{y(b):.1f}" '
               f'r="4"><title>{escape(name)}: {b:.1f} TFLOP/s</title>'
               "</circle>")
        yield text(box[0], box[1] + LINE - 2, name)
    yield "</svg>"


def main():
    results = []
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            results.append(json.load(file))
    if not any(result["cases"] for result in results):
        sys.exit(__doc__)
    print("\n".join(draw(results)))


main()
