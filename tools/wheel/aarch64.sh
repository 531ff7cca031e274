#!/bin/sh
# Tries a wheel for AArch64 under qemu: Debian's Python for arm64 and the wheel's dependencies in a folder of their own,
# where a run must leave the same bytes as here. Needs Debian's qemu-user and gcc-aarch64-linux-gnu (for libstdc++),
# and this machine's Octavo.
#
# tools/wheel/aarch64.sh dist/octavo-….whl PYTHON FOLDER
set -eu
wheel=$(realpath "$1")
python=$(realpath --no-symlinks "$2")
mkdir -p "$3"
cd "$3"
here=$PWD
rm -rf root site here there pip
mkdir -p apt/lists/partial apt/archives/partial root site
touch status
apt() {
    apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::status="$here/status" \
        -o Dir::State::Lists="$here/apt/lists" -o Dir::Cache="$here/apt" -o APT::Get::Download-Only=true "$@"
}
apt update
apt --yes --no-install-recommends install python3.11 > /dev/null
for package in apt/archives/*.deb; do dpkg-deb --extract "$package" root; done
cp -L "$(find /usr/aarch64-linux-gnu -name libstdc++.so.6 | head -1)" root/usr/lib/aarch64-linux-gnu/
"$python" -m venv pip
pip/bin/python -m pip install --quiet --disable-pip-version-check --target site --python-version 3.11 --implementation cp --only-binary=:all: \
    --abi cp311 --abi abi3 --abi none --platform manylinux_2_34_aarch64 --platform manylinux_2_28_aarch64 \
    --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 "$wheel"

run="import octavo, platform; print(platform.machine())
octavo.run(workload='stencil2d', scale=1 / 64, placement='grit', output=%s)"
# shellcheck disable=SC2059
printf "$run" "'here'" | "$python" -
# shellcheck disable=SC2059
printf "$run" "'there'" | PYTHONHOME=$here/root/usr PYTHONPATH=$here/site OPENBLAS_NUM_THREADS=1 \
    timeout 300 qemu-aarch64 -L root root/usr/bin/python3.11 -
diff --recursive --exclude=.octavo-lock here there
echo "The same bytes on both machines."
