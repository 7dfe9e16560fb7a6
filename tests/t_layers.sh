#!/bin/sh
# SPDX-License-Identifier: MIT
# Which file of lib may include which, and who may open libraries or read the
# environment. HACKING.md draws the picture; this keeps it true.
set -eu
cd "${JG_SRCDIR-.}"

# level: files. A file includes lower levels, its own header and jitgemm.h.
layers='
00 clock sha256 status
01 abi buf env fork gate library pool rows stats
02 compiler_places driver file
03 lock settings
10 device entry kernel_text key problem
11 compiler cut pack store view
12 evict model place spec stock tuning
13 conversion_spec explain keep layers model_sm90 model_sm100 plan
14 conversion_job plan_text table
15 experts_job
20 cache compile
21 image makers
22 flight tuned
30 rebuild registry
40 context
41 choice maps ready
42 launch
43 bind dummy
50 conversion entries experts jitgemm nvfp4 tune
'
# file: what it may not reach, not even through other headers.
forbidden='
cache: compile compiler device driver
conversion_job: compiler driver env file
conversion_spec: compiler driver env file
cut: compiler driver env file
entry: compiler device driver
evict: device driver env
experts_job: compiler driver env file
explain: compile compiler device driver
file: device driver
key: device driver
layers: device driver env
lock: env key
makers: compile compiler device driver
pack: device driver
place: device driver
plan: compiler driver env file
plan_text: compiler driver env file
settings: device driver file
spec: compiler driver env file
stock: compile compiler device driver
store: device driver env
table: compiler driver env file
tuned: compiler driver
tuning: compiler driver env file
'

# Lines "file included form", e.g. 'lib/plan.c device "'.
grep -H '^ *# *include *[<"]' lib/*.c lib/*.h |
sed 's/: *# *include *\([<"]\)\([^.>"]*\).*/ \2 \1/' |
awk -v layers="$layers" -v forbidden="$forbidden" '
function fail(text) { print text; failed = 1 }
function reach(from, to,    edge) { # through headers; no cycles: levels
    for (edge in header)
        if (index(edge, from " ") == 1) {
            edge = substr(edge, length(from) + 2)
            if (edge == to || reach(edge, to))
                return 1
        }
    return 0
}
BEGIN {
    for (r = split(layers, row, "\n"); r > 0; r--)
        for (i = split(row[r], word, " "); i > 1; i--)
            level[word[i]] = word[1] + 1
}
$2 ~ /^(config|jitgemm)$/ || ($3 == "<" && !($2 in level)) { next }
{
    from = $1
    gsub(/^lib\/|\.[ch]$/, "", from)
    if (!(from in level))
        fail($1 ": not in the list of layers")
    else if (!($2 in level))
        fail($1 ": includes \"" $2 ".h\", not in the list of layers")
    else if (from != $2 && level[$2] >= level[from])
        fail($1 ": may not include " $2 ".h")
    else if (from != $2 && $1 ~ /\.h$/)
        header[from " " $2] = 1
    edge[from " " $2] = $1
}
END {
    if (!NR || failed)
        exit 1
    for (r = split(forbidden, row, "\n"); r > 0; r--) {
        words = split(row[r], word, /[: ]+/)
        for (e in edge) {
            split(e, end, " ")
            if (end[1] != word[1])
                continue
            for (i = 2; i <= words; i++)
                if (end[2] == word[i] || reach(end[2], word[i]))
                    fail(edge[e] ": may not reach " word[i] ".h")
        }
    }
    exit failed
}' || status=1

# Usage: only FILE PATTERN: nobody but lib/FILE may use what matches.
only() {
    found=$(grep -nE "$2" lib/*.[ch] | grep -v "^lib/$1:") || return 0
    printf 'only in lib/%s:\n%s\n' "$1" "$found"
    status=1
}
only library.c '<dlfcn\.h>|dl(open|sym) *\('
only env.c 'getenv *\('

# The tool and the examples have jitgemm.h and the headers of their folder.
for file in lib/tool/*.[ch] examples/*.[ch]; do
    [ -f "$file" ] || continue
    for name in $(sed -n 's/^ *# *include *"\(.*\)".*/\1/p' "$file"); do
        [ "${name#*/}" = "$name" ] && [ -f "${file%/*}/$name" ] && continue
        echo "$file: may not include $name"
        status=1
    done
done
exit "${status-0}"
