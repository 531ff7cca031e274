#!/bin/sh
# fuzz/keep.sh INPUT NAME: keeps an input of read_trace for the tests, which read it again ever after.
set -eu
here=$(dirname "$0")
case $(head -c 1 "$1" | od -An -tu1 | tr -d ' ') in
    0) file=instructions ;;
    1) file=allocations ;;
    2) file=launches ;;
    *) echo "$1: its first byte names no file of a trace (0, 1 or 2)" >&2; exit 1 ;;
esac
folder="$here/../python/tests/corpus/trace/$2/t.trace"
mkdir -p "$folder"
tail -c +2 "$1" > "$folder/$file.parquet"
