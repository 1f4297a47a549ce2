"""evidence.sh against a real bare repository, with the real `graphbreak merge`.

Stand-ins: `gh` records its arguments and knows whether a pull request is open; the generator writes one page that
depends on the evidence. The last test has the real generator.
"""

import html
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from registry.evidence_file import parse_document
from tests.checkout import generate_here, make_checkout, page_of
from tests.conftest import ROOT
from tests.repro_runner.cli.test_merge_command import PROGRAM, write_evidence
from tests.workflows.repository import BOT, Repository, git, write_program

pytestmark = pytest.mark.slow

SCRIPT = ROOT / ".github/scripts/evidence.sh"
FILE, BRANCH = "registry/evidence/torch-2.13.0-cpu.json", "evidence/torch-2.13.0-cpu"
PAGE = "docs/dashboard.md"
IDS = ("GB0001", "GB0002")
TRIES = 3

# GitHub closes a pull request when its branch goes, and refuses a second one for the same branch.
GH = r"""
cd "$CONTROL"
echo "$@" >>gh-calls
for word; do case "$word" in body=@*) cp "${word#body=@}" body ;; esac; done
open() { [ -e pull-request ] && git -C bare.git show-ref --quiet "refs/heads/$BRANCH"; }
case "$3" in
GET) if open; then echo 7; fi; race look ;;
POST) if [ -e gh-refuses ] || open; then echo 'HTTP 422' >&2; exit 4; fi; touch pull-request ;;
PATCH) open ;;
*) exit 64 ;;
esac
"""
GENERATE = r"""
echo "$@" >>"$CONTROL/generate-calls"
sha256sum registry/evidence/*.json >docs/dashboard.md
exit "$(cat "$CONTROL/status" 2>/dev/null || echo 0)"
"""
# Another run, which pushes its evidence to our branch: after our look at it, or when our push has already begun.
RACE = r"""
unset $(env | grep -o '^GIT_[A-Z_]*')
left=$(cat "$CONTROL/races-$1" 2>/dev/null || echo 0)
[ "$left" -gt 0 ] || exit 0
echo $((left - 1)) >"$CONTROL/races-$1"
cd "$CONTROL/person"
git fetch --quiet
git switch --quiet --detach origin/main
cp "$CONTROL/other.json" "$FILE"
git add --all
git -c user.email="$BOT_EMAIL" commit --quiet --message "another run, $left left"
git push --quiet --force origin "HEAD:refs/heads/$BRANCH"
touch "$CONTROL/pull-request"
"""


@dataclass(frozen=True)
class World(Repository):
    """What evidence.sh works in."""

    def shards(self, *verdicts: str | None, date: str = "2026-01-05", python: str = "3.11") -> None:
        """shard-1.json with GB0001, shard-2.json with GB0002; None is a shard that was lost."""
        for number, (gb_id, verdict) in enumerate(zip(IDS, verdicts, strict=True), 1):
            shard = self.control / "shards" / f"shard-{number}.json"
            shard.unlink(missing_ok=True)
            if verdict:
                write_evidence(shard, {gb_id: verdict}, date=date, python=python)

    def publish(self, **environment: str) -> subprocess.CompletedProcess[str]:
        ours = {"GITHUB_REPOSITORY": "owner/name", "SHARDS": "2", "TRIES": str(TRIES), "CONTROL": str(self.control)}
        ours |= {"BRANCH": BRANCH, "FILE": FILE, "BOT_EMAIL": BOT.partition("<")[2].rstrip(">")}
        # `graphbreak` and `python` are those of this environment.
        ours["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return self.run([str(SCRIPT), str(self.control / "shards")], **ours | environment)

    def branches(self) -> list[str]:
        return git(self.bare, "for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def on_branch(self, path: str = FILE, branch: str = BRANCH) -> str:
        return git(self.bare, "cat-file", "blob", f"{branch}:{path}") + "\n"

    def verdicts(self) -> dict[str, str]:
        """Return what the branch says of each id."""
        records = parse_document(self.on_branch(), FILE)["records"]
        return {gb_id: record["runs"]["eager"]["verdict"] for gb_id, record in records.items()}

    def asked(self) -> list[str]:
        """Return method and address of each call of gh."""
        return [" ".join(line.split()[2:4]) for line in self.calls("gh-calls")]

    def calls(self, name: str) -> list[str]:
        path = self.control / name
        return path.read_text().splitlines() if path.exists() else []

    def body(self) -> str:
        return (self.control / "body").read_text()

    def commit_on_main(self, path: str, text: str) -> None:
        git(self.person, "switch", "--quiet", "main")
        (self.person / path).write_text(text)
        git(self.person, "add", "--all")
        git(self.person, "commit", "--quiet", "--message", f"a person's {path}")
        git(self.person, "push", "--quiet", "origin", "main")

    def merge_pull_request(self) -> None:
        """Press the button; the branch is left behind."""
        git(self.person, "fetch", "--quiet")
        git(self.person, "switch", "--quiet", "main")
        git(self.person, "merge", "--quiet", "--squash", f"origin/{BRANCH}")
        git(self.person, "commit", "--quiet", "--message", "merged")
        git(self.person, "push", "--quiet", "origin", "main")
        (self.control / "pull-request").unlink()

    def assert_one_commit_on_the_tip(self) -> None:
        assert git(self.bare, "rev-parse", f"{BRANCH}^") == self.tip()
        assert git(self.bare, "log", "-1", "--format=%an <%ae>", BRANCH) == BOT
        assert git(self.bare, "rev-list", "--count", f"main..{BRANCH}") == "1"


def make_world(control: Path) -> World:
    """Programs and evidence on main, and the stand-ins."""
    world = World(control)
    for gb_id in IDS:
        (world.person / "registry/repros").mkdir(parents=True, exist_ok=True)
        (world.person / f"registry/repros/{gb_id}.py").write_text(PROGRAM)
    (world.person / "registry/evidence").mkdir()
    write_evidence(world.person / FILE, dict.fromkeys(IDS, "verified"), date="2025-12-29")
    world.push_start()
    (control / "shards").mkdir()
    write_program(control / "bin/gh", GH)
    write_program(control / "bin/fake-generate", GENERATE)
    write_program(control / "bin/race", RACE)
    write_program(world.runner / ".git/hooks/pre-push", "race push")
    return world


@pytest.fixture
def world(tmp_path: Path) -> World:
    (tmp_path / "person/docs").mkdir(parents=True)
    (tmp_path / "person" / PAGE).write_text("as generated from the evidence on main\n")
    return make_world(tmp_path)


def test_a_change_is_one_commit_by_the_bot_and_one_pull_request(world: World) -> None:
    before = world.tip()
    world.shards("verified", "stopped")
    (world.runner / "stray.txt").write_text("left by some tool")
    done = world.publish()
    assert done.returncode == 0, done.stderr
    assert world.tip() == before
    world.assert_one_commit_on_the_tip()
    assert git(world.bare, "diff", "--name-only", "main", BRANCH).splitlines() == [PAGE, FILE]
    assert world.verdicts() == {"GB0001": "verified", "GB0002": "stopped"}
    assert world.calls("generate-calls") == ["--source snapshot"]
    look, create = world.calls("gh-calls")
    # With the owner, or a stranger's pull request from a branch of the same name would be taken for ours.
    assert f"GET repos/owner/name/pulls -f state=open -f base=main -f head=owner:{BRANCH} " in look
    assert create.startswith("api --method POST repos/owner/name/pulls ")
    assert create.endswith(f"-f head={BRANCH} -f base=main")
    assert "title=Evidence for torch-2.13.0-cpu" in create


def test_the_pull_request_says_what_changed_and_how_to_start_the_tests(world: World) -> None:
    world.shards("verified", "stopped")
    world.publish()
    lines = world.body().splitlines()
    assert lines[lines.index("```text") + 1 : lines.index("```")] == [
        "torch 2.13.0, Python 3.11, cpu",
        "before: 6 verified",
        "after:  3 stopped, 3 verified",
        "verified -> stopped: GB0002",
    ]
    assert "starts no tests by itself" in world.body()
    assert "Missing of" not in world.body()


def test_a_release_newer_than_any_file_gets_a_file_and_a_branch_of_its_own(world: World) -> None:
    for number, gb_id in enumerate(IDS, 1):
        write_evidence(world.control / f"shards/shard-{number}.json", {gb_id: "verified"}, torch="2.99.0")
    done = world.publish()
    assert done.returncode == 0, done.stderr
    assert world.branches() == ["evidence/torch-2.99.0-cpu", "main"]
    changed = git(world.bare, "diff", "--name-status", "main", "evidence/torch-2.99.0-cpu").splitlines()
    assert changed == [f"M\t{PAGE}", "A\tregistry/evidence/torch-2.99.0-cpu.json"]


def test_nothing_new_makes_no_branch_and_no_pull_request(world: World) -> None:
    world.shards("verified", "verified")
    done = world.publish()
    assert done.returncode == 0, done.stderr
    assert "main has all of it" in done.stderr
    assert world.branches() == ["main"]
    assert world.asked() == ["GET repos/owner/name/pulls"]
    assert world.calls("generate-calls") == []


def test_the_same_evidence_a_week_later_leaves_an_open_pull_request_alone(world: World) -> None:
    world.shards("verified", "stopped")
    world.publish()
    before = world.tip(BRANCH)
    world.shards("verified", "stopped", date="2026-01-12")
    done = world.publish()
    assert done.returncode == 0, done.stderr
    assert "pull request 7 has all of it" in done.stderr
    assert world.tip(BRANCH) == before
    assert world.asked()[2:] == ["GET repos/owner/name/pulls"]


def test_other_evidence_replaces_what_waits_and_stands_on_the_new_tip(world: World) -> None:
    world.shards("verified", "stopped")
    world.publish()
    world.commit_on_main("docs/note.md", "edited meanwhile\n")
    world.shards("failed", "verified")
    done = world.publish()
    assert done.returncode == 0, done.stderr
    world.assert_one_commit_on_the_tip()
    assert world.verdicts() == {"GB0001": "failed", "GB0002": "verified"}
    assert world.on_branch("docs/note.md") == "edited meanwhile\n"
    assert world.asked()[2:] == ["GET repos/owner/name/pulls", "PATCH repos/owner/name/pulls/7"]
    assert "verified -> failed: GB0001\n" in world.body()
    assert "GB0002" not in world.body()


def test_a_lost_shard_fails_the_job_and_costs_no_evidence_that_waits(world: World) -> None:
    world.shards("verified", "stopped")
    world.publish()
    world.shards("failed", None)
    done = world.publish()
    assert done.returncode == 1
    assert "missing of 2 shards: 2" in done.stderr
    assert world.verdicts() == {"GB0001": "failed", "GB0002": "stopped"}
    assert "Missing of 2 shards: 2." in world.body()
    assert "not in this run: GB0002\n" in world.body()


def test_a_lost_shard_fails_the_job_though_nothing_else_is_new(world: World) -> None:
    world.shards("verified", None)
    assert world.publish().returncode == 1
    assert world.branches() == ["main"]


def test_no_shard_at_all_is_a_failure_that_asks_nobody(world: World) -> None:
    done = world.publish()
    assert (done.returncode, world.asked()) == (1, [])
    assert "no shard arrived" in done.stderr


def test_a_pull_request_that_a_later_run_takes_back_is_closed(world: World) -> None:
    world.shards("verified", "stopped")
    world.publish()
    world.shards("verified", "verified", date="2026-01-12")
    done = world.publish()
    assert done.returncode == 0, done.stderr
    assert "closes pull request 7" in done.stderr
    assert world.branches() == ["main"]


def test_after_a_merge_the_branch_that_is_left_behind_counts_no_more(world: World) -> None:
    world.shards("verified", "stopped")
    world.publish()
    world.merge_pull_request()
    assert world.publish().returncode == 0, "main has it now"
    world.shards("failed", None)
    world.commit_on_main(FILE, write_evidence(world.control / "x", dict.fromkeys(IDS, "reproduced")).read_text())
    assert world.publish().returncode == 1
    assert world.verdicts() == {"GB0001": "failed", "GB0002": "reproduced"}
    assert world.asked()[-1] == "POST repos/owner/name/pulls"
    world.assert_one_commit_on_the_tip()


def test_somebody_elses_commit_on_the_branch_is_never_pushed_over(world: World) -> None:
    world.shards("verified", "stopped")
    world.publish()
    git(world.person, "fetch", "--quiet")
    git(world.person, "switch", "--quiet", BRANCH)
    git(world.person, "commit", "--quiet", "--allow-empty", "--message", "a person's correction")
    git(world.person, "push", "--quiet", "origin", BRANCH)
    before = world.tip(BRANCH)
    for verdict in ("failed", "verified"):
        world.shards(verdict, "verified")
        done = world.publish()
        assert done.returncode == 7
        assert f"somebody else's commit is on {BRANCH}" in done.stderr
        assert world.tip(BRANCH) == before


each_moment = pytest.mark.parametrize("moment", ["look", "push"])


@each_moment
@pytest.mark.parametrize("races", [1, TRIES - 1])
def test_after_a_lost_race_the_evidence_of_both_runs_is_in_one_commit(world: World, races: int, moment: str) -> None:
    write_evidence(world.control / "other.json", {"GB0001": "verified", "GB0002": "stopped"})
    world.set(f"races-{moment}", str(races))
    world.shards("failed", None)
    done = world.publish()
    assert done.returncode == 1, done.stderr
    assert f"could not push to {BRANCH} (try {races} of {TRIES})" in done.stderr
    assert world.verdicts() == {"GB0001": "failed", "GB0002": "stopped"}
    world.assert_one_commit_on_the_tip()
    assert world.asked()[-1] == "PATCH repos/owner/name/pulls/7"


@each_moment
def test_a_branch_that_another_run_has_just_filled_is_not_deleted(world: World, moment: str) -> None:
    world.shards("verified", "stopped")
    world.publish()
    write_evidence(world.control / "other.json", {"GB0001": "reproduced", "GB0002": "stopped"})
    world.set(f"races-{moment}", "99")
    world.shards("verified", "verified")
    assert world.publish().returncode == 8
    assert world.verdicts() == {"GB0001": "reproduced", "GB0002": "stopped"}


@each_moment
def test_losing_every_race_is_a_clear_failure(world: World, moment: str) -> None:
    write_evidence(world.control / "other.json", {"GB0001": "verified", "GB0002": "stopped"})
    world.set(f"races-{moment}", str(TRIES))
    world.shards("failed", "verified")
    done = world.publish()
    assert done.returncode == 8
    assert f"gave up after {TRIES} tries" in done.stderr
    assert world.verdicts() == {"GB0001": "verified", "GB0002": "stopped"}
    assert set(world.asked()) == {"GET repos/owner/name/pulls"}


def test_when_gh_is_refused_the_job_fails_and_the_next_run_opens_the_pull_request(world: World) -> None:
    world.shards("verified", "stopped")
    world.set("gh-refuses")
    assert world.publish().returncode == 4
    (world.control / "gh-refuses").unlink()
    done = world.publish()
    assert done.returncode == 0, done.stderr
    assert world.asked()[-1] == "POST repos/owner/name/pulls"
    world.assert_one_commit_on_the_tip()


def test_evidence_that_does_not_fit_the_file_is_not_pushed(world: World) -> None:
    world.shards("verified", "stopped", python="3.12")
    done = world.publish()
    assert done.returncode == 2
    assert "made in 2.13.0 3.12 cpu, but" in done.stderr
    assert world.branches() == ["main"]


def test_a_malformed_page_fails_the_job_but_the_rest_is_offered(world: World) -> None:
    world.shards("verified", "stopped")
    world.set("status", "1")
    assert world.publish().returncode == 1
    world.assert_one_commit_on_the_tip()
    assert world.asked()[-1] == "POST repos/owner/name/pulls"


@pytest.mark.parametrize("status", [2, 4, 137])
def test_when_generating_fails_nothing_is_pushed(world: World, status: int) -> None:
    world.shards("verified", "stopped")
    world.set("status", str(status))
    done = world.publish()
    assert done.returncode == status
    assert f"ended with {status}; nothing is pushed" in done.stderr
    assert (world.branches(), world.asked()) == (["main"], ["GET repos/owner/name/pulls"])


@pytest.mark.parametrize("path", [PAGE, "docs/new.md", FILE])
def test_uncommitted_work_is_refused(world: World, path: str) -> None:
    world.shards("verified", "stopped")
    (world.runner / path).write_text("my work")
    done = world.publish()
    assert done.returncode == 9
    assert "uncommitted changes; commit or stash them first" in done.stderr
    assert (world.runner / path).read_text() == "my work"
    assert world.asked() == []


def test_with_the_real_generator_the_branch_has_the_pages_that_its_evidence_gives(tmp_path: Path) -> None:
    make_checkout(tmp_path / "person")
    (tmp_path / "person/.gitignore").write_text(".cache/\n")
    (tmp_path / "person/.gitattributes").write_bytes((ROOT / ".gitattributes").read_bytes())
    world = make_world(tmp_path)
    assert generate_here(world.person, "--source", "snapshot").code == 0
    world.commit_on_main(".gitignore", ".cache/\n_site/\n")
    for number, gb_id in enumerate(IDS, 1):
        write_evidence(tmp_path / f"shards/shard-{number}.json", {gb_id: "verified"}, torch="2.99.0")
    done = world.publish(GENERATE=f"{sys.executable} {ROOT / 'generate_site.py'} --root {world.runner}")
    assert done.returncode == 0, done.stderr
    git(world.person, "fetch", "--quiet")
    git(world.person, "switch", "--quiet", "--detach", "origin/evidence/torch-2.99.0-cpu")
    assert generate_here(world.person, "--check").code == 0
    assert "2.99.0" in html.unescape(page_of(world.person, "GB0001").read_text("utf-8"))
