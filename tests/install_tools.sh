#!/usr/bin/env bash
# Install the programs that the tests run, where that can be done without asking; say how where it can't.
# Arguments: the programs; program:package where Debian's package has another name.
set -euo pipefail
missing=()
for tool in "$@"; do
  command -v "${tool%%:*}" >/dev/null || missing+=("${tool#*:}")
done
[ "${#missing[@]}" -eq 0 ] && exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
  root=(sudo -n)
fi
if command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
  "${root[@]}" apt-get update -qq
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  exit 0
fi
echo "not installed: ${missing[*]}. Install them with your package manager (Debian, Ubuntu: sudo apt-get install ${missing[*]})." >&2
if [ "${CI:-}" = true ]; then
  exit 1
fi
echo "The tests that need them will be skipped by name." >&2
