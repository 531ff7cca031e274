#!/bin/sh
# Installs the runtime: sh install.sh BUILT PREFIX, where BUILT holds liboctavo.so and liboctavo.a, and the interposer
# if that was built, too.
set -eu
built=$1 prefix=$2
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../../Cargo.toml" | head -n 1)
mkdir -p "$prefix/lib/pkgconfig" "$prefix/include"
prefix=$(cd "$prefix" && pwd)
install -m 755 "$built/liboctavo.so" "$prefix/lib/liboctavo.so.1"
ln -sf liboctavo.so.1 "$prefix/lib/liboctavo.so"
if [ -f "$built/liboctavo_interpose.so" ]; then
    install -m 755 "$built/liboctavo_interpose.so" "$prefix/lib/liboctavo_interpose.so"
fi
install -m 644 "$built/liboctavo.a" "$prefix/lib/liboctavo.a"
install -m 644 "$here/include/octavo.h" "$here/include/octavo.hpp" "$here/include/octavo_tier.h" "$prefix/include"
sed -e "s|@PREFIX@|$prefix|" -e "s|@VERSION@|$version|" "$here/octavo.pc.in" > "$prefix/lib/pkgconfig/octavo.pc"
