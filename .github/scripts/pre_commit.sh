#!/usr/bin/env bash
# Run the pre-commit hook of this checkout in a copy of the example project.
#
#   .github/scripts/pre_commit.sh FOLDER
#
# pre-commit takes hooks from a commit, so what is not committed here is not used.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
cp -R "$root/examples/project" "$1"
cd "$1"
sed -i -e "s|repo: .*|repo: $root|" -e "s|rev: .*|rev: $(git -C "$root" rev-parse HEAD)|" .pre-commit-config.yaml
git init --quiet
git add --all
pre-commit run --all-files --verbose
