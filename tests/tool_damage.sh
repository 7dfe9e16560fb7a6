#!/bin/sh
# SPDX-License-Identifier: MIT
# A pack or an entry that is damaged, foreign or not to be trusted is told,
# with status 3, and is not copied; the rest is.
set -eu
. "$JG_SRCDIR/tests/with_tool.sh"
cd "$work"
make_pack good.jgp 0.1.0 one two
size=$(wc -c <good.jgp)
index=$((16 + 2 * 72 + 32))

# Usage: refused REASON; of p.jgp, for each verb that reads it.
refused() {
    for verb in --list --verify --verify=rebuild; do
        run 3 $verb p.jgp
        has err "p.jgp: $1\$"
    done
    run 3 --import p.jgp --cache-dir "$work/cache"
    has err "p.jgp: $1\$"
    [ ! -e cache ] || fail "something was imported"
    run 3 --merge m.jgp good.jgp p.jgp
    has err "p.jgp: $1\$"
    [ ! -e m.jgp ] || fail "something was merged"
    run 3 --diff 0 1 p.jgp
    cp good.jgp p.jgp
}

cp good.jgp p.jgp
put_byte p.jgp 20 0
refused 'index damaged: wrong SHA-256'
put_byte p.jgp 0 0
refused 'not a pack'
put_byte p.jgp 8 2 # of a later version of the library
refused 'pack of an unknown format'
head -c $((size - 1)) good.jgp >p.jgp
refused 'sizes in the index do not add up'
head -c 100 good.jgp >p.jgp
refused 'pack too short for its index'
: >p.jgp
refused 'not a pack'
chmod 666 p.jgp
refused 'wrong owner, or writable by others'
chmod 644 p.jgp
if [ "$(id -u)" -eq 0 ]; then
    chown 1 p.jgp
    refused 'wrong owner, or writable by others'
    rm p.jgp
fi
rm -f p.jgp
ln -s good.jgp p.jgp
for verb in --list --import; do
    run 3 $verb p.jgp --cache-dir "$work/cache"
    has err 'p.jgp: not a regular file'
done
rm p.jgp

# One entry of two.
cp good.jgp p.jgp
put_byte p.jgp $((index + 50)) 377
for verb in --list --verify; do
    run 3 $verb p.jgp
    has out '^bad  .*  [0-9a-f]\{32\}$'
    has out '^good '
    has out '^2 entries of .* 1 good, 1 bad$'
    has err '^jitgemm-warm: [0-9a-f]\{32\}: wrong SHA-256$'
done
bad=$(sed -n 's/^bad *//p' out)
run 3 --verify --json p.jgp
check_json
has out "\"key\":\"$bad\",\"arch\":\"\",\"state\":\"bad\",\"why\":\"wrong SHA"
run 3 --diff "$bad" "$bad" p.jgp
run 3 --import p.jgp --cache-dir "$work/cache"
run 0 --verify --cache-dir "$work/cache"
has out '^1 entry of .* 1 good, 0 bad$'
run 3 --merge m.jgp p.jgp good.jgp
cmp m.jgp good.jgp || fail "the good entry did not take its place"

# The cache's own.
file=$(find cache -name '*.jgc')
put_byte "$file" 50 377
run 3 --verify --cache-dir "$work/cache"
has err ': wrong checksum$'
[ -e "$file" ] || fail "--verify removed the entry"
chmod 777 cache
run 3 --verify --cache-dir "$work/cache"
has err 'wrong owner, or writable by others'
