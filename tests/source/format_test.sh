#!/usr/bin/env bash
# Every C++ file is as clang-format 14 writes it (other versions differ in small things, so only that one judges).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for formatter in clang-format-14 clang-format; do
  "$formatter" --version 2>/dev/null | grep -q 'version 14\.' && break
  formatter=
done
if [ -z "$formatter" ]; then
  echo "skipped: clang-format 14 is not installed"
  exit 77
fi
find emulator gpu tests tutorials -name '*.[ch]pp' -print0 | xargs -0 "$formatter" --dry-run --Werror
