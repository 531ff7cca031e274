#!/bin/sh
# First inputs of read_trace, each behind the byte that says which file it is: the files of the smallest recorded traces,
# and the damaged ones that are kept in python/tests/corpus/trace.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/read_trace
input() { { printf "\\00$1"; cat "$2"; } > "corpus/read_trace/$3"; }
number=0
for file in instructions allocations launches; do
    for trace in nw-length-128 nbody-particles-256 matrixtranspose-width-256; do
        input $number "../traces/$trace.trace/$file.parquet" "$trace-$file"
    done
    for kept in ../python/tests/corpus/trace/*/t.trace/$file.parquet; do
        [ ! -e "$kept" ] || input $number "$kept" "kept-$(basename "$(dirname "$(dirname "$kept")")")-$file"
    done
    number=$((number + 1))
done
