"""A small checkout made in a moment, the real command run on it, and disks that misbehave.

Twelve made-up ids, two releases, a taxonomy; templates and theme are the real ones. GB0012 is in no release.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType
from unittest import mock

import jinja2
import pytest

import generate_site
from registry.model import CallSite, Origin, Release, Revision
from registry.notes import END, START
from registry.releases import dump_release
from registry.snapshot import Snapshot, plan_snapshot, sha256
from registry.sources import UPSTREAM_VARIABLE
from registry.upstream import dump_registry
from tests.loopback import Exchange, Loopback, serve

ROOT = Path(__file__).resolve().parent.parent
TEMPORARY = re.compile(r"\.generate-site-\d+-.+\.tmp")
"""The name of a file that a killed run may leave behind."""

Registered = dict[str, tuple[Revision, ...]]


def copy_sources(folder: Path) -> None:
    """Copy what a package is built from: a build would leave files beside its sources."""
    tracked = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in tracked.stdout.splitlines():
        if not name.startswith(("docs/", "tests/")) and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def make_wordings(count: int = 12) -> Registered:
    """GB0001 and so on, each with one wording."""
    return {f"GB{number:04}": (_revision(number),) for number in range(1, count + 1)}


def _revision(number: int) -> Revision:
    return Revision(
        gb_type=f"Made-up break {number}",
        context=f"value {number}: {{value}}",
        explanation=f"Dynamo does not know what to do with *{number}*.",
        hints=(f"Do without {number}.", "It may be your code & not <torch>."),
    )


def reworded(wordings: Registered, *gb_ids: str, mark: str = "reworded") -> Registered:
    """The same ids, with another explanation for those named, or for all."""
    changed = {
        gb_id: (replace(wordings[gb_id][0], explanation=f"{wordings[gb_id][0].explanation} {mark}"),)
        for gb_id in gb_ids or wordings
    }
    return {**wordings, **changed}


def without(wordings: Registered, *gb_ids: str) -> Registered:
    """The same ids but for those named."""
    return {gb_id: revisions for gb_id, revisions in wordings.items() if gb_id not in gb_ids}


def registry_json(wordings: Registered) -> bytes:
    """The registry file that upstream would send."""
    return dump_registry(wordings).encode()


def make_checkout(root: Path) -> Path:
    """A checkout whose pages are up to date; made once, then copied, since every page is synced to the disk."""
    return shutil.copytree(_generated(), root)


@cache
def _generated() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="checkout-"))
    atexit.register(shutil.rmtree, folder)
    return write_pages(make_bare_checkout(folder / "checkout", make_wordings()))


def write_pages(checkout: Path) -> Path:
    """Generate from the snapshot."""
    done = generate_here(checkout, "--source", "snapshot")
    assert done.code == 0, done.stderr
    return checkout


_GENERATED = shutil.ignore_patterns(
    *("gb", "data", "categories", "index.md", "dashboard.md", "categories.md", "releases.md", "feed.xml", "llms.txt")
)


def make_bare_checkout(root: Path, wordings: Registered) -> Path:
    """A checkout that has no pages yet."""
    shutil.copytree(ROOT / "templates", root / "templates")
    shutil.copytree(ROOT / "docs", root / "docs", ignore=_GENERATED)
    write_files(root / "registry" / "snapshot", _snapshot(wordings))
    shown = without(wordings, "GB0012")
    write_files(
        root / "registry",
        {
            "releases/2.14.0.json": dump_release(_release("2.14.0", shown)),
            "releases/2.15.0.json": dump_release(_release("2.15.0", shown)),
            "taxonomy.yml": _taxonomy(list(wordings)),
        },
    )
    return root


def _snapshot(wordings: Registered) -> dict[str, str]:
    raw = registry_json(wordings)
    origin = Origin(source="release:2.15.0", retrieved="2026-01-02", sha256=sha256(raw))
    nothing = Snapshot(raw=b"", wordings={}, origin=origin, superseded={})
    return plan_snapshot(nothing, raw, wordings, origin)


def _release(torch: str, wordings: Registered) -> Release:
    sites = tuple(
        CallSite(gb_type=found[0].gb_type, gb_id=gb_id, file="torch/_dynamo/a.py", line=line, function="f")
        for line, (gb_id, found) in enumerate(wordings.items(), 10)
    )
    return Release(torch=torch, wheel=f"torch-{torch}.whl", wordings=wordings, call_sites=sites)


def _taxonomy(gb_ids: list[str]) -> str:
    halves = {"first": gb_ids[::2], "second": gb_ids[1::2]}
    categories = [
        {"key": key, "title": f"The {key} kind", "why": "It breaks.", "way_out": "Write it otherwise.", "ids": ids}
        for key, ids in halves.items()
    ]
    return json.dumps({"categories": categories}, indent=1) + "\n"  # JSON is YAML


def write_files(folder: Path, texts: Mapping[str, str]) -> None:
    """Write {path: text} below `folder`, line endings as they are."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def page_of(checkout: Path, gb_id: str) -> Path:
    """The page of an id."""
    return checkout / "docs" / "gb" / f"{gb_id}.md"


def in_block(note: bytes) -> bytes:
    """The bytes of a page from marker to marker."""
    return START.encode() + b"\n" + note + b"\n" + END.encode()


def write_note(page: Path, note: bytes) -> None:
    """Put a note into a page that has none, as an editor would: no other byte changes."""
    before = page.read_bytes()
    after = before.replace(in_block(b"\n"), in_block(note))
    assert after != before
    page.write_bytes(after)


def files(folder: Path) -> dict[str, bytes]:
    """{path: content} of every file below."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def identities(folder: Path) -> dict[str, tuple[int, int]]:
    """{path: (inode, mtime)} of everything below: they change when a file is written again with the same content."""
    found = ((path, path.lstat()) for path in folder.rglob("*"))
    return {path.relative_to(folder).as_posix(): (about.st_ino, about.st_mtime_ns) for path, about in found}


@contextmanager
def unchanged(checkout: Path) -> Iterator[None]:
    """Not one file below `checkout` is written, made or removed inside the block, .cache included."""
    before = files(checkout), identities(checkout)
    yield
    assert files(checkout) == before[0]
    assert identities(checkout) == before[1]


def temporary_files(checkout: Path) -> list[Path]:
    """What runs that were cut off left behind."""
    return [path for path in checkout.rglob(".generate-site-*") if TEMPORARY.fullmatch(path.name)]


@dataclass(frozen=True, slots=True)
class Finished:
    """How a run of the command ended."""

    code: int
    stdout: str
    stderr: str


_compile = jinja2.Environment.compile
_compiled: dict[tuple[str, str | None], CodeType] = {}


def _compile_once(
    self: jinja2.Environment, source: str, name: str | None = None, filename: str | None = None
) -> CodeType:
    """Compiling the templates takes longer than all the rest of a run on so few ids."""
    key = source, name
    if key not in _compiled:
        _compiled[key] = _compile(self, source, name, filename)
    return _compiled[key]


def generate_here(checkout: Path, *arguments: str, upstream: str | None = None) -> Finished:
    """Call the command in this process: the same code, without a third of a second of imports. Not from two threads."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        redirect_stdout(stdout),
        redirect_stderr(stderr),
        mock.patch.dict(os.environ, _environment(upstream)),
        mock.patch.object(jinja2.Environment, "compile", _compile_once),
    ):
        try:
            code = generate_site.main(["--root", str(checkout), *arguments])
        except SystemExit as stopped:
            code = int(stopped.code or 0)
    return Finished(code, stdout.getvalue(), stderr.getvalue())


def run_generate(
    checkout: Path,
    *arguments: str,
    upstream: str | None = None,
    env: Mapping[str, str] | None = None,
    python: Sequence[str] = (sys.executable, str(ROOT / "generate_site.py")),
    before_exec: Callable[[], None] | None = None,
) -> Finished:
    """Run `python generate_site.py --root CHECKOUT ...` as a process of its own."""
    done = subprocess.run(
        [*python, "--root", str(checkout), *arguments],
        env={**os.environ, **_environment(upstream), **(env or {})},
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=before_exec,
    )
    stdout, stderr = (stream.decode(errors="backslashreplace") for stream in (done.stdout, done.stderr))
    return Finished(done.returncode, stdout, stderr)


def _environment(upstream: str | None) -> dict[str, str]:
    """No test reaches pytorch's server: without an upstream of its own, a run finds a closed port."""
    return {UPSTREAM_VARIABLE: upstream or "http://127.0.0.1:9/", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


@contextmanager
def upstream_sending(raw: bytes, **headers: str) -> Iterator[Loopback]:
    """A server that has this registry; it gives an ETag, and answers 304 to who has it."""
    etag = f'"{sha256(raw)[:16]}"'

    def answer(exchange: Exchange) -> None:
        if exchange.headers.get("If-None-Match") == etag:
            exchange.send(304)
        else:
            exchange.send(200, raw, {"ETag": etag, **headers})

    with serve(answer) as server:
        yield server


# Disks. Mounting needs root (or sudo that does not ask): without it the test is skipped by name, and in CI fails.


def as_root(*command: str | Path) -> bool:
    """Run a command that only root may; say whether it worked."""
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    try:
        return not subprocess.run([*prefix, *map(str, command)], capture_output=True, check=False).returncode
    except FileNotFoundError:
        return False


@contextmanager
def mounted_read_only(folder: Path) -> Iterator[None]:
    """A folder on a disk that was mounted read-only."""
    if not as_root("mount", "--bind", folder, folder):
        pytest.skip("mounting is not allowed here")
    try:
        assert as_root("mount", "-o", "remount,bind,ro", folder)
        yield
    finally:
        as_root("umount", "--lazy", folder)


@contextmanager
def on_small_disk(folder: Path, kilobytes: int) -> Iterator[None]:
    """Put a folder and what is in it on a disk of its own."""
    content = files(folder)
    if not as_root("mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=777", "tmpfs", folder):
        pytest.skip("mounting is not allowed here")
    try:
        for name, raw in content.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(raw)
        yield
    finally:
        as_root("umount", "--lazy", folder)


def obeying_mode_bits() -> tuple[str, ...]:
    """What to put before a command so that it obeys mode bits, which root does not."""
    if os.geteuid() != 0:
        return ()
    return ("setpriv", "--inh-caps=-dac_override", "--bounding-set=-dac_override")


@contextmanager
def case_blind_disk(folder: Path) -> Iterator[Path]:
    """A disk that ignores case but keeps it, as macOS and Windows have: the first kind that this machine can mount."""
    image, mount_point = folder / "disk.img", folder / "disk"
    mount_point.mkdir()
    for make in (_mount_ext4, _mount_vfat, _mount_exfat):
        image.unlink(missing_ok=True)
        with image.open("wb") as file:
            file.truncate(32 * 1024 * 1024)
        if make(image, mount_point):
            break
    else:
        pytest.skip("no disk that ignores case can be mounted here; on Debian and Ubuntu: exfat-fuse and exfatprogs")
    try:
        blind = mount_point / "blind"
        blind.mkdir(exist_ok=True)
        as_root("chattr", "+F", blind)  # ext4 ignores case in folders that say so; the others everywhere
        (blind / "a").touch()
        assert (blind / "A").exists()
        yield blind
    finally:
        as_root("umount", mount_point)


def _mount_ext4(image: Path, mount_point: Path) -> bool:
    made = as_root("mkfs.ext4", "-q", "-O", "casefold", "-E", f"root_owner={os.getuid()}:{os.getgid()}", image)
    return made and as_root("mount", "-o", "loop", image, mount_point)


def _mount_vfat(image: Path, mount_point: Path) -> bool:
    options = f"loop,uid={os.getuid()},gid={os.getgid()},shortname=mixed"
    return as_root("mkfs.vfat", image) and as_root("mount", "-t", "vfat", "-o", options, image, mount_point)


def _mount_exfat(image: Path, mount_point: Path) -> bool:
    if not as_root("mkfs.exfat", image):
        return False
    options = f"loop,uid={os.getuid()},gid={os.getgid()}"
    if as_root("mount", "-i", "-t", "exfat", "-o", options, image, mount_point):
        return True
    if not as_root("losetup", "--find", image):
        return False
    found = subprocess.run(["losetup", "-j", image], capture_output=True, text=True, check=False).stdout
    device = found.partition(":")[0]
    done = as_root("mount.exfat-fuse", "-o", f"uid={os.getuid()},gid={os.getgid()},allow_other", device, mount_point)
    as_root("losetup", "--detach", device)  # takes effect when the disk is unmounted
    return done
