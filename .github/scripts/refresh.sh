#!/usr/bin/env bash
# Regenerate, commit, push. When somebody else pushed first, start again from what they pushed.
#
#   .github/scripts/refresh.sh [argument of the generate command ...]
#
# Everything committed here is generated, so a lost race is not merged as text: go to the remote tip, lay the freshly
# pulled data over it and generate again. The pages then hold the notes that are on the tip, and nothing is ever forced.
#
# Environment: REMOTE (origin), BRANCH (the current one), GENERATE (python generate_site.py), TRIES (5), JITTER (3, seconds)
# Output:      changed=true|false, also into $GITHUB_OUTPUT; true means that a commit of this run is on the remote
# Exit status: 0; 1 some page is malformed (the others are pushed); any other status of GENERATE (nothing is committed);
#              8 could not push; 9 uncommitted changes (GENERATE uses the numbers below)
set -euo pipefail

generated=(docs registry/snapshot registry/releases)

say() { echo "refresh: $*" >&2; }

finish() { # CHANGED STATUS
  echo "changed=$1" | tee -a "${GITHUB_OUTPUT:-/dev/null}"
  exit "$2"
}

# Leaves 0 or 1 in $status. After anything else the tree is not to be trusted, so that nothing is committed.
regenerate() {
  status=0
  "${generate[@]}" "$@" || status=$?
  if ((status > 1)); then
    say "${generate[*]} ended with $status; nothing is committed"
    finish false "$status"
  fi
}

commit() {
  git add --all -- "${generated[@]}"
  if git diff --cached --quiet; then
    say 'nothing to commit'
    finish false "$status"
  fi
  git -c user.name='github-actions[bot]' -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
    commit --quiet --message 'Refresh the generated site'
}

# True when our commit is on the remote: also when the push did arrive and only its answer was lost.
push() {
  git push --quiet "$remote" "HEAD:refs/heads/$branch" && return 0
  sleep "$((RANDOM % (jitter * try + 1)))"
  git fetch --quiet "$remote" "refs/heads/$branch" || return 1
  tip=$(git rev-parse FETCH_HEAD)
  git merge-base --is-ancestor HEAD "$tip"
}

# Go to the remote tip and keep what this run pulled, except where the tip has something newer than we started from:
# another run was quicker. The snapshot is taken whole or not at all, since its ETag belongs to its registry.
go_to_tip() {
  local ours pulled data
  ours=$(git rev-parse HEAD)
  mapfile -t pulled < <(git diff --name-only "$base" "$ours" -- registry/releases)
  git reset --quiet --hard "$tip"
  for data in registry/snapshot "${pulled[@]}"; do
    if git diff --quiet "$base" "$tip" -- "$data"; then
      git restore --source="$ours" --staged --worktree -- "$data"
    fi
  done
  base=$tip
}

main() {
  cd "$(git rev-parse --show-toplevel)"
  remote=${REMOTE:-origin}
  branch=${BRANCH:-$(git symbolic-ref --short HEAD)}
  tries=${TRIES:-5}
  jitter=${JITTER:-3}
  read -r -a generate <<<"${GENERATE:-python generate_site.py}"

  # A lost race resets the tree: on a developer's machine that must not cost anybody their work.
  if [[ -n $(git status --porcelain --untracked-files=no; git status --porcelain -- "${generated[@]}") ]]; then
    say 'there are uncommitted changes; commit or stash them first'
    finish false 9
  fi

  base=$(git rev-parse HEAD)
  tip=$base
  regenerate "$@"
  commit
  for ((try = 1; try <= tries; try++)); do
    if push; then
      say "pushed $(git rev-parse --short HEAD) to $branch"
      finish true "$status"
    elif [[ $tip == "$base" ]]; then
      say "push failed, though nobody is seen to have pushed first (try $try of $tries)"
    else
      say "somebody pushed first (try $try of $tries)"
      go_to_tip
      regenerate --source snapshot
      commit
    fi
  done
  say "gave up after $tries tries; nothing was pushed and nothing is lost: the next run starts from the tip"
  finish false 8
}

# One call on the last line: bash has read the whole script before a reset can replace this file.
main "$@"
