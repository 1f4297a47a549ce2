"""refresh.sh against a real bare repository, with a second writer who pushes at the worst moment.

The stand-ins for `generate_site.py` and for the person who edits a note are the two functions `generate` and
`edit_note`; the script and the git hook start them as programs, by way of this file's last lines.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.scheduling import sampled
from tests.workflows.repository import BOT, Repository, git, write_program

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".github/scripts/refresh.sh"
TRIES = 3

START, END = b"<!-- ADDITIONAL INFORMATION START -->", b"<!-- ADDITIONAL INFORMATION END -->"
NOTE = re.compile(re.escape(START) + b"(.*?)" + re.escape(END), re.DOTALL)
# Bytes that a text tool would change: Windows line ends, trailing blanks, a lone return, no line end before the marker.
EDIT = "\r\nseen on my own model \t\r\n\r  naïve ✓  ".encode()

PAGES = ("docs/gb/GB0001.md", "docs/gb/GB0002.md")
SNAPSHOT, ETAG, RELEASE = Path("registry/snapshot/registry.txt"), Path("registry/snapshot/etag"), "registry/releases/"
DASHBOARD = Path("docs/dashboard.md")


def generate(arguments: list[str], control: Path) -> int:
    """Do what generate_site.py does: pull, rewrite everything outside the notes, leave a malformed page alone."""
    with (control / "calls").open("a") as calls:
        print(*arguments, file=calls)
    if "--source snapshot" not in " ".join(arguments):
        SNAPSHOT.write_bytes((control / "upstream").read_bytes())
        ETAG.write_text(f"etag of {SNAPSHOT.read_text()}")
        if "--pull-releases" in arguments:
            Path(RELEASE, "2.15.0.json").write_text("{}\n")
    notes = malformed = 0
    for page in map(Path, PAGES):
        if found := NOTE.search(page.read_bytes()):
            page.write_bytes(b"# " + SNAPSHOT.read_bytes() + found[0] + b"\n")
            notes += found[1].strip() != b""
        else:
            malformed += 1
    DASHBOARD.write_text(f"notes: {notes}\n")
    if (control / "push-while-generating").exists():
        (control / "push-while-generating").unlink()
        edit_note(control)
    return int((control / "status").read_text()) if (control / "status").exists() else min(malformed, 1)


def edit_note(control: Path) -> None:
    """Add a line to the note of GB0001 and push it, as a person in a clone of their own."""
    clone = control / "person"
    git(clone, "pull", "--quiet", "--ff-only")
    page = clone / PAGES[0]
    page.write_bytes(NOTE.sub(lambda note: START + note[1] + EDIT + END, page.read_bytes()))
    if (control / "newer-snapshot").exists():
        (clone / SNAPSHOT).write_text("newer wording\n")
        (clone / ETAG).write_text("etag of newer wording\n")
    git(clone, "commit", "--quiet", "--all", "--message", "a person's edit")
    git(clone, "push", "--quiet")


def edit_note_while_races_are_left(control: Path) -> None:
    left = control / "races"
    if left.exists() and (races := int(left.read_text())):
        left.write_text(str(races - 1))
        edit_note(control)


@dataclass(frozen=True)
class World(Repository):
    """What refresh.sh works in."""

    def refresh(self, *arguments: str, github_output: bool = True) -> subprocess.CompletedProcess[str]:
        output = {"GITHUB_OUTPUT": str(self.control / "output")} if github_output else {}
        return self.run([str(SCRIPT), *arguments], TRIES=str(TRIES), **output)

    def on_tip(self, path: str | Path) -> bytes:
        command = ["git", "cat-file", "blob", f"main:{path}"]
        return subprocess.run(command, cwd=self.bare, capture_output=True, check=True).stdout

    def note_on_tip(self, page: str = PAGES[0]) -> bytes:
        found = NOTE.search(self.on_tip(page))
        assert found
        return found[1]

    def authors(self) -> list[str]:
        """Return who wrote each commit since the first, oldest first."""
        return git(self.bare, "log", "--reverse", "--format=%an <%ae>", "main").splitlines()[1:]

    def calls(self) -> list[str]:
        return (self.control / "calls").read_text().splitlines()

    def pushes(self) -> list[tuple[str, str]]:
        """Return (before, after) of main for each update that the bare repository took since it was filled."""
        log = (self.bare / "logs/refs/heads/main").read_text().splitlines()
        return [(line.split()[0], line.split()[1]) for line in log[1:]]

    def assert_history_only_grew(self) -> None:
        assert git(self.bare, "rev-list", "--merges", "main") == ""
        for before, after in self.pushes():
            git(self.bare, "merge-base", "--is-ancestor", before, after)

    def changed(self) -> str:
        return (self.control / "output").read_text()


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(control=tmp_path)
    person = world.person
    for folder in ("docs/gb", SNAPSHOT.parent, RELEASE):
        (person / folder).mkdir(parents=True)
    for page in PAGES:
        (person / page).write_bytes(b"# wording\n" + START + b"\n" + END + b"\n")
    (person / DASHBOARD).write_text("notes: 0\n")
    (person / SNAPSHOT).write_text("wording\n")
    (person / ETAG).write_text("etag of wording\n")
    (person / RELEASE / "2.14.0.json").write_text("{}\n")
    world.push_start()
    stand_in = f'PYTHONPATH="{ROOT}" exec "{sys.executable}" "{__file__}"'
    write_program(tmp_path / "bin/fake-generate", f'{stand_in} generate "{tmp_path}" "$@"')
    write_program(world.runner / ".git/hooks/pre-push", f'{stand_in} edit "{tmp_path}"')
    world.set("upstream", "wording\n")
    return world


def between_commit_and_push(world: World) -> None:
    world.set("races", "1")


def while_generating(world: World) -> None:
    world.set("push-while-generating")


each_moment = pytest.mark.parametrize("moment", [between_commit_and_push, while_generating])


def test_nothing_new_makes_no_commit_and_no_push(world: World) -> None:
    before = world.tip()
    done = world.refresh()
    assert (done.returncode, done.stdout, world.changed()) == (0, "changed=false\n", "changed=false\n")
    assert git(world.runner, "rev-parse", "HEAD") == before
    assert world.pushes() == []


def test_a_change_is_one_commit_by_the_bot_with_generated_files_only(world: World) -> None:
    world.set("upstream", "new wording\n")
    (world.runner / "stray.txt").write_text("left by some tool")
    done = world.refresh("--source", "upstream", "--pull-releases")
    assert done.returncode == 0, done.stderr
    assert world.changed() == "changed=true\n"
    assert world.authors() == [BOT]
    assert git(world.bare, "show", "--name-only", "--format=", "main").splitlines() == sorted(
        [*PAGES, str(SNAPSHOT), str(ETAG), RELEASE + "2.15.0.json"]
    )
    assert world.calls() == ["--source upstream --pull-releases"]


def test_outside_github_the_result_is_on_standard_output(world: World) -> None:
    world.set("upstream", "new wording\n")
    assert world.refresh(github_output=False).stdout == "changed=true\n"


@each_moment
def test_a_note_pushed_at_the_same_moment_survives_byte_for_byte(world: World, moment: Callable[[World], None]) -> None:
    world.set("upstream", "new wording\n")
    moment(world)
    done = world.refresh("--source", "upstream", "--pull-releases")
    assert done.returncode == 0, done.stderr
    assert world.changed() == "changed=true\n"
    assert world.note_on_tip() == b"\n" + EDIT
    assert world.on_tip(PAGES[0]).startswith(b"# new wording\n")
    assert world.authors() == ["A Person <person@example.org>", BOT]
    world.assert_history_only_grew()


@each_moment
def test_after_a_lost_race_all_is_as_if_generated_on_the_tip_and_nothing_is_pulled_twice(
    world: World, moment: Callable[[World], None]
) -> None:
    world.set("upstream", "new wording\n")
    moment(world)
    world.refresh("--source", "upstream", "--pull-releases")
    assert world.calls() == ["--source upstream --pull-releases", "--source snapshot"]
    # The count depends on the note: a rebase of our text would still say 0.
    assert world.on_tip(DASHBOARD) == b"notes: 1\n"
    assert world.on_tip(SNAPSHOT) == b"new wording\n"
    assert world.on_tip(ETAG) == b"etag of new wording\n"
    assert world.on_tip(RELEASE + "2.15.0.json") == b"{}\n"


def test_a_snapshot_that_another_run_pushed_first_is_kept_whole(world: World) -> None:
    world.set("upstream", "new wording\n")
    world.set("newer-snapshot")
    world.set("races", "1")
    done = world.refresh()
    assert done.returncode == 0, done.stderr
    assert world.on_tip(SNAPSHOT) == b"newer wording\n"
    assert world.on_tip(ETAG) == b"etag of newer wording\n"
    assert world.on_tip(PAGES[1]).startswith(b"# newer wording\n")
    assert world.note_on_tip() == b"\n" + EDIT


def test_one_race_short_of_the_limit_still_gets_through(world: World) -> None:
    world.set("upstream", "new wording\n")
    world.set("races", str(TRIES - 1))
    assert world.refresh().returncode == 0
    assert world.note_on_tip() == b"\n" + EDIT * (TRIES - 1)
    assert world.on_tip(PAGES[0]).startswith(b"# new wording\n")
    assert world.authors().count(BOT) == 1
    world.assert_history_only_grew()


def test_losing_every_race_is_a_clear_failure_that_loses_nothing(world: World) -> None:
    world.set("upstream", "new wording\n")
    world.set("races", str(TRIES + 5))
    done = world.refresh()
    assert done.returncode == 8
    assert f"gave up after {TRIES} tries; nothing was pushed and nothing is lost" in done.stderr
    assert world.changed() == "changed=false\n"
    assert world.authors() == ["A Person <person@example.org>"] * TRIES
    assert world.note_on_tip() == b"\n" + EDIT * TRIES
    world.assert_history_only_grew()

    world.set("races", "0")
    git(world.runner, "reset", "--hard", "--quiet", "origin/main")
    assert world.refresh().returncode == 0
    assert world.note_on_tip() == b"\n" + EDIT * TRIES
    assert world.on_tip(PAGES[0]).startswith(b"# new wording\n")


@pytest.mark.parametrize("races", [0, 1])
def test_a_malformed_page_stays_as_it_is_the_rest_is_pushed_and_the_job_fails(world: World, races: int) -> None:
    person = world.control / "person"
    (person / PAGES[1]).write_bytes(b"no markers\r\n")
    git(person, "commit", "--quiet", "--all", "--message", "break a page")
    git(person, "push", "--quiet")
    git(world.runner, "pull", "--quiet")
    world.set("upstream", "new wording\n")
    world.set("races", str(races))
    done = world.refresh()
    assert done.returncode == 1
    assert world.changed() == "changed=true\n"
    assert world.on_tip(PAGES[0]).startswith(b"# new wording\n")
    assert world.on_tip(PAGES[1]) == b"no markers\r\n"

    before = world.tip()
    assert world.refresh().returncode == 1, "it fails until somebody mends the page"
    assert world.changed().splitlines()[-1] == "changed=false"
    assert world.tip() == before


@pytest.mark.parametrize("status", [2, 3, 4, 137])
def test_when_generating_fails_nothing_is_committed(world: World, status: int) -> None:
    world.set("upstream", "half-written\n")
    world.set("status", str(status))
    before = world.tip()
    done = world.refresh()
    assert (done.returncode, world.changed()) == (status, "changed=false\n")
    assert f"ended with {status}; nothing is committed" in done.stderr
    assert world.tip() == before == git(world.runner, "rev-parse", "HEAD")


@pytest.mark.parametrize("races", [0, 1])
def test_a_push_that_the_server_refuses_is_tried_again_without_generating_again(world: World, races: int) -> None:
    refuse = 'git log -1 --format=%an "$after" | grep -q bot && echo protected branch >&2 && exit 1'
    write_program(world.bare / "hooks/pre-receive", f"read -r before after ref; {refuse}; exit 0")
    world.set("upstream", "new wording\n")
    world.set("races", str(races))
    done = world.refresh()
    assert (done.returncode, world.changed()) == (8, "changed=false\n")
    assert done.stderr.count("protected branch") == TRIES
    assert world.authors() == ["A Person <person@example.org>"] * races
    assert len(world.calls()) == 1 + races


@pytest.mark.parametrize("races", [0, 1])
def test_a_push_that_arrived_counts_even_if_its_answer_was_lost(world: World, races: int) -> None:
    real = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True, check=True).stdout.strip()
    # Somebody may also push on top before we look.
    edit = f'PYTHONPATH="{ROOT}" "{sys.executable}" "{__file__}" edit "{world.control}"'
    write_program(world.control / "bin/git", f'"{real}" "$@" || exit', f'case "$1" in push) {edit}; exit 1;; esac')
    (world.runner / ".git/hooks/pre-push").unlink()
    world.set("upstream", "new wording\n")
    world.set("races", str(races))
    done = world.refresh()
    assert (done.returncode, world.changed()) == (0, "changed=true\n"), done.stderr
    assert world.authors() == [BOT, *["A Person <person@example.org>"] * races]


@pytest.mark.parametrize("path", sampled([PAGES[0], "docs/gb/GB0003.md", "generate_site.py"]))
def test_uncommitted_work_is_refused_not_reset_away(world: World, path: str) -> None:
    if path == "generate_site.py":
        (world.runner / path).write_text("")
        git(world.runner, "add", path)
    (world.runner / path).write_text("my work")
    done = world.refresh()
    assert (done.returncode, world.changed()) == (9, "changed=false\n")
    assert "uncommitted changes; commit or stash them first" in done.stderr
    assert (world.runner / path).read_text() == "my work"


if __name__ == "__main__":
    role, folder, *rest = sys.argv[1:]
    if role == "generate":
        sys.exit(generate(rest, Path(folder)))
    edit_note_while_races_are_left(Path(folder))
