#!/usr/bin/env bash
# Run the program once, for annotations, SARIF, a badge and the job's summary. The exit code is that of `explain`.
set -euo pipefail

if [[ -n $SCRIPT && -n $MODULE ]]; then
  echo "::error::script and module are both given; leave one out"
  exit 2
fi
out=$(mktemp -d "$RUNNER_TEMP/graphbreak-XXXXXX")
mapfile -t words < <(printf '%s' "$OPTIONS" | grep . || true)
[[ $FAIL_ON_BREAK == true ]] && words+=(--fail-on-break)
[[ -n $ALLOW ]] && words+=(--allow "$ALLOW")
[[ -n $MODULE ]] && words+=(-m "$MODULE")
[[ -n $SCRIPT ]] && words+=("$SCRIPT")
mapfile -t arguments < <(printf '%s' "$ARGUMENTS" | grep . || true)

# Run as `python -m`, so that it is this Python's own, whatever else is called graphbreak.
code=0
python -m repro_runner explain --format github --also "sarif=$out/breaks.sarif" --also "badge=$out/badge.json" \
  --also "md=$out/summary.md" --also "json=$out/breaks.json" "${words[@]}" "${arguments[@]}" || code=$?
[[ -f $out/breaks.json ]] || exit "$code" # nothing was run; the lines above say why

cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
{
  echo "sarif=$out/breaks.sarif"
  echo "badge=$out/badge.json"
  python -c 'import json, sys; print("breaks=%d" % len(json.load(open(sys.argv[1]))["sites"]))' "$out/breaks.json"
} >>"$GITHUB_OUTPUT"
exit "$code"
