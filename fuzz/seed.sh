#!/bin/sh
# First inputs of read_trace: the files of the smallest recorded traces, each behind the byte that says which it is.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/read_trace
for trace in nw-128 nbody-1024 matrixtranspose-256; do
    number=0
    for file in instructions allocations launches; do
        { printf "\\00$number"; cat "../traces/$trace.trace/$file.parquet"; } > "corpus/read_trace/$trace-$file"
        number=$((number + 1))
    done
done
