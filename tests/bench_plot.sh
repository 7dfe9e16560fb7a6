#!/bin/sh
# SPDX-License-Identifier: MIT
# The roofline of made-up results: XML with a dot for every case, where the
# axes say, and both limits.
set -eu
python3 -c 'import xml.etree' 2>/dev/null || { echo "no python3"; exit 77; }
work=$JG_BUILDDIR/tests/emu_work/plot
mkdir -p "$work"
cat >"$work/one.json" <<'END'
{"device": "one & only", "date": "2026-01-01", "rate": 500, "bandwidth": 4,
 "cases": [
  {"case": "on_a_cross", "us": 1, "flops": 1e8, "bytes": 1e6},
  {"case": "a<b", "us": 10, "flops": 5e9, "bytes": 1e6},
  {"case": "same_place", "us": 1, "flops": 1e8, "bytes": 1e6}]}
END
cat >"$work/two.json" <<'END'
{"device": "two", "date": "2026-01-02", "rate": 0, "bandwidth": 3,
 "cases": [{"case": "slow", "us": 100, "flops": 1e8, "bytes": 1e8}]}
END
python3 "$JG_SRCDIR/tests/bench/plot.py" "$work/one.json" "$work/two.json" \
    >"$work/plot.svg"
python3 "$JG_SRCDIR/tests/bench/plot.py" "$work/two.json" >"$work/two.svg"
python3 - "$work" <<'END'
import sys
import xml.etree.ElementTree as tree

SVG = "{http://www.w3.org/2000/svg}"


def read(name):
    root = tree.parse(f"{sys.argv[1]}/{name}").getroot()
    dots = {dot.find(SVG + "title").text.split(":")[0]: dot
            for dot in root.iter(SVG + "circle")}
    words = {text.text: text for text in root.iter(SVG + "text")}
    limits = [line for line in root.iter(SVG + "line")
              if line.get("class") == "limit"]
    ticks = [(text.get("x" if text.get("text-anchor") == "middle" else "y"),
              text.get("text-anchor"))
             for text in root.iter(SVG + "text") if text.text == "100"]
    return dots, words, limits, ticks


dots, words, limits, ticks = read("plot.svg")
assert set(dots) == {"on_a_cross", "a<b", "same_place", "slow"}, dots
assert set(dots) <= set(words), words
assert {"one & only, 2026-01-01", "500 TFLOP/s", "4 TB/s"} <= set(words)
assert len(limits) == 2
# 100 flops a byte at 100 TFLOP/s: where both axes say 100.
cross = dots["on_a_cross"]
assert (cross.get("cx"), "middle") in ticks
assert (f"{float(cross.get('cy')) + 4:.1f}", "end") in ticks
# A case at the rate is on its line, one below the bandwidth is not above it.
assert dots["a<b"].get("cy") == limits[1].get("y1")
assert dots["slow"].get("class") != cross.get("class")
labels = [(words[n].get("x"), words[n].get("y"))
          for n in ("on_a_cross", "same_place")]
assert labels[0] != labels[1], labels
assert len(read("two.svg")[2]) == 1
END
