#!/usr/bin/env bash
# From a bare Debian 12 or Ubuntu 24.04 to the main job: replays an FP8 GEMM recorded on an H200 through the emulator and
# counts the bits that agree.
#
#   bash tutorials/quickstart.sh
#
# Installs what is missing (root, or a user with sudo), builds the program in build/, runs it. No GPU needed. A second
# run needs no network.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/packages.sh

[ -w . ] || die "$PWD is not writable for $(id -un), and the build goes to $PWD/build: use a copy of your own"
install_packages "${build_packages[@]}"

say "Building the program (build/bin/fp8twin)"
# Where a build exists already, keep what it was configured for.
if [ ! -f build/build.ninja ]; then
  cmake --preset release -DFP8TWIN_BUILD_TESTS=OFF -DFP8TWIN_BUILD_BENCHMARKS=OFF -DFP8TWIN_BUILD_DOCS=OFF -DFP8TWIN_BUILD_GPU=OFF
fi
cmake --build build --target fp8twin

recorded=tests/golden/gemm/m200_n576_k7168_normal_bf16.safetensors
result=$(mktemp -d)
trap 'rm -rf "$result"' EXIT
# Shows the command as a reader would type it; its files are in a temporary folder.
run() {
  printf '\n$ %s\n' "build/bin/fp8twin ${*//$result\//}"
  build/bin/fp8twin "$@" | sed "s#$result/##"
}

say "A GEMM recorded on the card, and where it was recorded"
run inspect "$recorded"
say "The same operands through the emulator"
run gemm "$recorded" -o "$result/d.safetensors"
say "Bit for bit against the card"
run diff "$recorded" "$result/d.safetensors" --tensor d
say "Where the error of FP8 comes from, stage by stage, against the exact result"
run analyze "$recorded"
