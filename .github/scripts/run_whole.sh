#!/usr/bin/env bash
# Run programs until each of them has a record in FILE.
#
#   .github/scripts/run_whole.sh FILE [argument of graphbreak run ...]
#
# `graphbreak run` ends with 1 if some program failed or stopped breaking, which is evidence like any other, and also if
# some were not run at all. Looking again tells: what has a record is left out, so FILE is whole once that ends with 0.
set -euo pipefail

for _ in 1 2 3; do
  graphbreak run "${@:2}" --out "$1" --resume && exit
done
echo "$1 is incomplete" >&2
exit 1
