#!/usr/bin/env bash
# Compare what the programs did on the newest release of torch, and on the nightly, with the committed evidence. Where
# verdicts changed, an issue lists them.
#
#   .github/scripts/verdicts.sh FOLDER    (with release.json and nightly.json)
#
# Each is compared with the file of the same torch, or else with that of the newest release before it. Its issue has a
# fixed title: while it is open, every run writes its text anew, and none opens a second one. If nothing changed, GitHub
# is not asked. Closing the issue is left to a person.
#
# Environment: GITHUB_REPOSITORY (owner/name), GH_TOKEN (for gh), GITHUB_SERVER_URL and GITHUB_RUN_ID (for a link)
# Output:      evidence=true|false, also into $GITHUB_OUTPUT; true means that registry/evidence does not have what the
#              release does, so that repros.yml has something to write
# Exit status: 0; 1 something is missing, can't be compared or can't be reported (the rest is reported)
set -euo pipefail

bot='github-actions[bot]'

say() { echo "verdicts: $*" >&2; }

# Prints the name of the evidence file that a torch has, or would have.
name_of() { # FILE
  python -c 'import json, sys; print("torch-{torch}-{device}.json".format(**json.load(sys.stdin)["environment"]))' \
    <"$1" 2>/dev/null
}

# Prints the committed file to compare with.
before() { # NAME
  if [[ -e registry/evidence/$1 ]]; then
    echo "registry/evidence/$1"
  else
    printf '%s\n' registry/evidence/torch-*-"${1##*-}" "registry/evidence/$1" | sort --version-sort |
      grep --before-context 1 --line-regexp --fixed-strings "registry/evidence/$1" | head -1
  fi
}

# Prints the number of our open issue, or nothing. Anybody may open one with our title: that one is left alone.
find_issue() { # TITLE
  gh api --paginate --method GET "repos/$GITHUB_REPOSITORY/issues" -f state=open -f per_page=100 \
    --jq '.[] | "\(.number) \(.user.login) \(.title)"' |
    while read -r number author title; do
      if [[ $author == "$bot" && $title == "$1" ]]; then
        echo "$number"
      fi
    done
}

body() { # TORCH
  echo "What changed for the programs in \`registry/repros/\` on $1, compared with the committed evidence."
  printf '\n%s\n\n' "$(head -c 60000 "$work/changes")" # GitHub takes 65,536 characters
  echo "From [this run]($GITHUB_SERVER_URL/$GITHUB_REPOSITORY/actions/runs/$GITHUB_RUN_ID). While the issue is open," \
    'every run writes this text anew. Close it when there is nothing left to do.'
}

publish() { # TORCH
  local title="Verdicts changed on $1" issue
  issue=$(find_issue "$title") || return
  issue=${issue%%$'\n'*}
  body "$1" >"$work/body"
  if [[ -n $issue ]]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/$issue" --jq .html_url -F body=@"$work/body"
  else
    gh api --method POST "repos/$GITHUB_REPOSITORY/issues" --jq .html_url -f title="$title" -F body=@"$work/body"
  fi
}

# Leaves 1 in $status if something went wrong, and true in $evidence if there is some to write.
report() { # KIND TORCH FILE
  local name old
  if ! [[ -e $3 ]] || ! name=$(name_of "$3"); then
    say "$2: no evidence arrived; see the log of its job"
    status=1
    return
  fi
  old=$(before "$name")
  if ! graphbreak compare "$old" "$3" --format md >"$work/changes"; then
    say "$2: can't be compared with $old"
    status=1
    return
  fi
  cat "$work/changes"
  if [[ $1 == release && ${old##*/} != "$name" ]]; then
    evidence=true
  fi
  if [[ $(tail -1 "$work/changes") == 'nothing changed' ]]; then
    return
  fi
  [[ $1 != release ]] || evidence=true
  publish "$2" || { say "$2: the issue could not be written" && status=1; }
}

main() {
  cd "$(git rev-parse --show-toplevel)"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  status=0 evidence=false
  report release 'the newest release of torch' "$1/release.json"
  report nightly 'the nightly of torch' "$1/nightly.json"
  echo "evidence=$evidence" | tee -a "${GITHUB_OUTPUT:-/dev/null}"
  exit "$status"
}

main "$@"
