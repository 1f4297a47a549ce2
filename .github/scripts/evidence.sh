#!/usr/bin/env bash
# Merge the shards of a run into registry/evidence/, regenerate the pages, and offer both as one pull request.
#
#   .github/scripts/evidence.sh FOLDER    (with shard-1.json, shard-2.json, ...)
#
# A torch release has one pull request, from the branch evidence/torch-VERSION-DEVICE: a single commit on the tip of
# main, made anew by every run and pushed with a lease, so that evidence does not stack up. What waits there is not lost:
# where the shards have no run of a program, the branch's stays. When the shards agree with main after all, the branch
# goes, and its pull request with it. A branch on which somebody else has committed is left alone.
#
# Environment: SHARDS (how many there must be), GITHUB_REPOSITORY (owner/name), GH_TOKEN (for gh); REMOTE (origin),
#              BASE (main), GENERATE (python generate_site.py), MERGE (graphbreak merge), TRIES (5), JITTER (3, seconds)
# Exit status: 0; 1 a shard is missing or some page is malformed (the rest is in the pull request); any other status of
#              MERGE or GENERATE (nothing is pushed); 7 somebody else's commit is on the branch; 8 could not push;
#              9 uncommitted changes; any status of git or gh when it can't reach GitHub or is not allowed to
set -euo pipefail

bot='41898282+github-actions[bot]@users.noreply.github.com'

say() { echo "evidence: $*" >&2; }

finish() { # STATUS WORD...
  say "${@:2}"
  exit "$1"
}

find_shards() { # FOLDER
  local number
  shards=() missing=()
  for ((number = 1; number <= SHARDS; number++)); do
    if [[ -f $1/shard-$number.json ]]; then
      shards+=("$1/shard-$number.json")
    else
      missing+=("$number")
    fi
  done
  ((${#missing[@]} == 0)) || say "missing of $SHARDS shards: ${missing[*]}"
  ((${#shards[@]} > 0)) || finish 1 'no shard arrived; nothing to do'
}

# Prints the tip of a branch on the remote, or nothing where there is none.
fetch() { # BRANCH
  local found
  found=$(git ls-remote "$remote" "refs/heads/$1") || return
  [[ -z $found ]] || { git fetch --quiet "$remote" "refs/heads/$1" && git rev-parse FETCH_HEAD; }
}

# The state on GitHub: $tip of main, $old tip of our branch or empty, number of our $pull_request or empty.
look() {
  tip=$(fetch "$base")
  old=$(fetch "$branch")
  if [[ -n $old && $(git log -1 --format=%ae "$old") != "$bot" ]]; then
    finish 7 "somebody else's commit is on $branch: merge or close its pull request, delete the branch, run again"
  fi
  # With the owner: a stranger's fork may have a branch of the same name.
  pull_request=$(gh api --method GET "repos/$GITHUB_REPOSITORY/pulls" -f state=open -f base="$base" \
    -f head="${GITHUB_REPOSITORY%%/*}:$branch" --jq '.[].number')
}

# One commit on the tip, or none when no record is another than on main.
build() {
  local waiting=() generated=0
  git switch --quiet --detach "$tip"
  # A branch without a pull request was merged or turned down: what it holds counts no more.
  if [[ -n $old && -n $pull_request ]]; then
    git cat-file blob "$old:$file" >"$work/waiting.json"
    waiting=(--waiting "$work/waiting.json")
  fi
  "${merge[@]}" "${shards[@]}" --into registry/evidence "${waiting[@]}" >"$work/report"
  cat "$work/report"
  git add --all -- registry/evidence
  if git diff --cached --quiet; then
    return
  fi
  "${generate[@]}" --source snapshot || generated=$?
  ((generated <= 1)) || finish "$generated" "${generate[*]} ended with $generated; nothing is pushed"
  ((generated == 0)) || status=1
  git add --all -- docs
  git -c user.name='github-actions[bot]' -c user.email="$bot" commit --quiet --message "$title"
}

# Only if the branch is still as we saw it. Without a commit it is deleted.
push() { # [COMMIT]
  git push --quiet --force-with-lease="refs/heads/$branch:$old" "$remote" "${1:-}:refs/heads/$branch"
}

body() {
  echo "What the programs in \`registry/repros/\` did on $name, and the pages that follow from it."
  printf '\n```text\n%s\n```\n\n' "$(cat "$work/report")"
  if ((${#missing[@]})); then
    printf 'Missing of %s shards: %s. Run the workflow again before merging.\n\n' "$SHARDS" "${missing[*]}"
  fi
  cat <<'END'
A pull request that a workflow opened starts no tests by itself: approve them if GitHub asks for it here, otherwise close
and reopen it. Every run makes this branch anew; it stops if it finds somebody else's commit on it.
END
}

publish() {
  body >"$work/body"
  if [[ -n $pull_request ]]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/pulls/$pull_request" --jq .html_url \
      -f title="$title" -F body=@"$work/body"
  else
    gh api --method POST "repos/$GITHUB_REPOSITORY/pulls" --jq .html_url \
      -f title="$title" -F body=@"$work/body" -f head="$branch" -f base="$base"
  fi
}

main() {
  local try
  cd "$(git rev-parse --show-toplevel)"
  remote=${REMOTE:-origin}
  base=${BASE:-main}
  tries=${TRIES:-5}
  jitter=${JITTER:-3}
  read -r -a generate <<<"${GENERATE:-python generate_site.py}"
  read -r -a merge <<<"${MERGE:-graphbreak merge}"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT

  # Going to the tip and adding whole folders: on a developer's machine that must not touch anybody's work.
  if [[ -n $(git status --porcelain --untracked-files=no; git status --porcelain -- registry docs) ]]; then
    finish 9 'there are uncommitted changes; commit or stash them first'
  fi

  find_shards "$1"
  status=$((${#missing[@]} > 0))
  name=$(python -c 'import json, sys; print("torch-{torch}-{device}".format(**json.load(sys.stdin)["environment"]))' \
    <"${shards[0]}")
  file=registry/evidence/$name.json
  branch=evidence/$name
  title="Evidence for $name"

  for ((try = 1; try <= tries; try++)); do
    look
    build
    if [[ $(git rev-parse HEAD) == "$tip" ]]; then
      [[ -n $old && -n $pull_request ]] || finish "$status" "$base has all of it"
      if push; then
        finish "$status" "$base has all of it; deleted $branch, which closes pull request $pull_request"
      fi
    elif [[ -n $old && -n $pull_request ]] && git diff --quiet "$old" HEAD; then
      finish "$status" "pull request $pull_request has all of it"
    elif push HEAD; then
      publish
      finish "$status" "pushed $(git rev-parse --short HEAD) to $branch"
    fi
    say "could not push to $branch (try $try of $tries)"
    sleep "$((RANDOM % (jitter * try + 1)))"
  done
  finish 8 "gave up after $tries tries; nothing was pushed. The shards are kept as artifacts of this run"
}

# One call on the last line: bash has read the whole script before it goes to another commit.
main "$@"
