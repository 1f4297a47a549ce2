#!/usr/bin/env bash
# Install the programs that the tests run, where that can be done without asking; say how where it can't.
# Arguments: the programs; program:package where Debian's package has another name; best,other where another will do.
set -euo pipefail

# Whether one of the programs of an argument is there.
has_one_of() {
  for choice in ${1//,/ }; do
    command -v "${choice%%:*}" >/dev/null && return 0
  done
  return 1
}

wanted=() missing=()
for tool in "$@"; do
  best="${tool%%,*}"
  command -v "${best%%:*}" >/dev/null || wanted+=("$tool")
  has_one_of "$tool" || missing+=("${best#*:}")
done
[ "${#wanted[@]}" -eq 0 ] && exit 0

root=()
if [ "$(id -u)" -ne 0 ]; then
  root=(sudo -n)
fi
if command -v apt-get >/dev/null && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
  "${root[@]}" apt-get update -qq
  packages=()
  for tool in "${wanted[@]}"; do
    for choice in ${tool//,/ }; do
      if apt-cache show "${choice#*:}" >/dev/null 2>&1; then
        packages+=("${choice#*:}")
        break
      fi
      command -v "${choice%%:*}" >/dev/null && break
    done
  done
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
  exit 0
fi
[ "${#missing[@]}" -eq 0 ] && exit 0
echo "not installed: ${missing[*]}. Install them with your package manager (Debian, Ubuntu: sudo apt-get install ${missing[*]})." >&2
if [ "${CI:-}" = true ]; then
  exit 1
fi
echo "The tests that need them will be skipped by name." >&2
