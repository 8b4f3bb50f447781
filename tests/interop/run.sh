#!/usr/bin/env bash
# Usage: run.sh VENV SCRIPT [ARGUMENT...]: runs a Python script with the packages of requirements.txt.
# Makes the virtual environment VENV on first use; later uses need no network. Exit status 77, which ctest counts as
# skipped, when there is no environment and it cannot be made.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
venv=$1 script=$2
shift 2
done_mark=$venv/complete  # a copy of the requirements that are installed

make_venv() {
  rm -rf "$venv" && python3 -m venv "$venv" &&
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 -r "$here/requirements.txt" &&
    cp "$here/requirements.txt" "$done_mark"
}

mkdir -p "$(dirname "$venv")"
exec 9>"$venv.lock"
flock 9  # ctest -j starts several of us
if ! cmp -s "$here/requirements.txt" "$done_mark"; then
  if ! log=$(make_venv 2>&1); then
    echo "skipped: $venv cannot be made (python3-venv and, once, network are needed): $(tail -n 1 <<<"$log")"
    exit 77
  fi
fi
flock -u 9
exec 9>&-
exec "$venv/bin/python" -B "$script" "$@"
