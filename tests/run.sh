#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test but the slow ones that this machine can run.
#
#   bash tests/run.sh                  plain: the release build and all its tests, golden data and documentation included
#   bash tests/run.sh asan tsan        the same tests under AddressSanitizer with UBSan; those that start threads under ThreadSanitizer
#   bash tests/run.sh slow             the long ones, such as all 2^32 floats through every conversion
#   bash tests/run.sh tidy             clang-tidy over every source file
#
# Slices run in the order given. Needs Debian 12 or Ubuntu 24.04 (root, or a user with sudo) the first time, no network
# after that, no GPU and no CUDA toolkit; tests that need one of them say that they skip.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tests/packages.sh

# configure PRESET OPTIONS...: with everything on, also where an earlier run built only the program.
configure() {
  local options=(-DCMAKE_DISABLE_PRECOMPILE_HEADERS=OFF)
  case $1 in release) options+=(-DFP8TWIN_BUILD_TESTS=ON -DFP8TWIN_BUILD_BENCHMARKS=ON -DFP8TWIN_BUILD_DOCS=ON -DFP8TWIN_BUILD_GPU=ON) ;; esac
  cmake --preset "$1" "${options[@]}" "${@:2}"
}

# build_and_test PRESET CTEST-OPTIONS...: keeps ctest's summary line for the end.
build_and_test() {
  local preset=$1 log status=0
  shift
  say "Building ($preset)"
  configure "$preset" && cmake --build --preset "$preset" || return
  log=$(mktemp)
  trap "rm -f '$log'" EXIT  # also where ctest is interrupted
  say "Testing ($preset)"
  ctest --preset "$preset" --parallel "$(nproc)" "$@" | tee "$log" || status=$?
  summaries+=("$slice: $(grep 'tests passed' "$log" || echo 'ctest gave no summary')")
  rm -f "$log"
  return $status
}

run_slice() {
  case $1 in
    plain) build_and_test release --label-exclude '^slow$' ;;
    asan|tsan) build_and_test "$1" ;;
    slow) build_and_test release --label-regex '^slow$' ;;
    tidy)
      command -v clang-tidy-14 clang-tidy >/dev/null || install_packages "${tidy_packages[@]}"
      configure release -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON && cmake --build --preset release --target tidy
      ;;
    *) die "unknown slice '$1'; there are plain, asan, tsan, slow, tidy" ;;
  esac
}

[ -w . ] || die "$PWD is not writable for $(id -un), and the build goes to $PWD/build: use a copy of your own"
slices=("$@")
[ $# -gt 0 ] || slices=(plain)
summaries=()
status=0
install_packages "${test_packages[@]}"
for slice in "${slices[@]}"; do
  started=$SECONDS
  run_slice "$slice" || { status=1; echo "slice $slice failed"; }
  say "$slice took $((SECONDS - started)) s"
done
printf '%s\n' "${summaries[@]}"
exit $status
