#!/bin/sh
# Typical work, which `make wheel` watches an instrumented build do: multi-GPU placement, replayed traces with caches
# that serve in order, several page sizes. What is missing is laid out as if it were never done.
set -eu
python -m pip install --quiet 'octavo[pictures]'  # Of what is installed here: studies draw.
out=target/typical

octavo reproduce grit --scale 0.03125 --output $out/grit --force --quiet
octavo validate mgpusim --traces traces --output $out/mgpusim --force --quiet
for sizing in base large mosaic; do
    octavo run --workload trd+nearestneighbor --scale 0.25 --node mosaic-30sm --placement first-touch \
        --set memory.sizing=$sizing --set memory.allocator=cocoa --output $out/$sizing --force --quiet
done
