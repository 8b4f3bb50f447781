#!/usr/bin/env bash
# tidy.sh BUILD-FOLDER: clang-tidy, as .clang-tidy configures it, over every file the build compiles.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tidy=$(command -v clang-tidy-14 || command -v clang-tidy) || {
  echo "clang-tidy is not installed (Debian: clang-tidy-14)" >&2
  exit 2
}
# Generated files (the headers' stand-alone test) say nothing new.
sed -n 's/^ *"file": "\(.*\)",\?$/\1/p' "$build/compile_commands.json" | grep -v "^$build/" | sort -u |
  xargs -d '\n' -P "$(nproc)" -n 1 "$tidy" -p "$build" --quiet
