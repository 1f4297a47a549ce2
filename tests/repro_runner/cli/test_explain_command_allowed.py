"""The file of breaks that a project lives with: what its lines mean, what it refuses, what it writes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from registry.errors import InvalidInput, WriteFailed
from repro_runner.explain.allowed import Judgement, allow_list, judge_sites, read_allowed, write_allowed
from repro_runner.explain.report import Report
from repro_runner.explain.site import Site
from tests.repro_runner.fixtures.written_report import FOLDER, sample_report

SITE = sample_report().sites[1]  # GB0124


def site(file: str, line: int = 1, *gb_ids: str) -> Site:
    ids = gb_ids or ("GB0124",)
    return replace(SITE, file=file, line=line, gb_ids=ids, gb_types=tuple("a type" for _ in ids))


def judged(tmp_path: Path, text: str, *sites: Site) -> Judgement:
    file = tmp_path / "breaks.allow"
    file.write_text(text, "utf-8")
    return judge_sites(Report(sites=sites), read_allowed(file), folder=Path(FOLDER))


@pytest.mark.parametrize(
    ("entry", "file"),
    [
        ("GB0124", "/srv/project/model.py"),
        ("gb0124", "model.py"),
        ("src/model.py", "/srv/project/src/model.py"),
        ("./model.py", "model.py"),
        ("model.py", "/elsewhere/model.py"),
        ("vendor/**", "/srv/project/vendor/deep/er.py"),
        ("*/transformers/*", "/usr/lib/site-packages/transformers/models/led.py"),
        ("/usr/lib/*", "/usr/lib/other.py"),
        ("GB0124 src/*", "src/model.py"),
        ("GB0124 src/* x1  # known", "src/model.py"),
        ("'with space.py'", "/srv/project/with space.py"),
        ("./gb0124", "gb0124"),
        ("[[]x].py", "[x].py"),
    ],
)
def test_a_line_allows_what_it_names(entry: str, file: str, tmp_path: Path) -> None:
    found = judged(tmp_path, f"# of the team\n\n{entry}\n", site(file))
    assert (found.new, found.notes) == ((), ())


@pytest.mark.parametrize(
    ("entry", "file"),
    [
        ("GB0170", "model.py"),
        ("GB0170 model.py", "model.py"),
        ("GB0124 other.py", "model.py"),
        ("./model.py", "/srv/project/src/model.py"),
        ("src/model.py", "/elsewhere/src/model.py"),
        ("vendor/**", "/srv/project/src/vendor.py"),
    ],
)
def test_a_line_allows_nothing_else_and_is_said_to_be_of_no_use(entry: str, file: str, tmp_path: Path) -> None:
    found = judged(tmp_path, entry, site(file))
    assert len(found.new) == 1
    assert found.notes == (f"{tmp_path}/breaks.allow:1: `{entry}` is no longer needed: remove it",)


@pytest.mark.parametrize("entry", ["GB0025", "GB7000"])
def test_a_break_that_surfaced_as_another_goes_by_both_ids(entry: str, tmp_path: Path) -> None:
    assert judged(tmp_path, entry, site("a.py", 1, "GB0025", "GB7000")).new == ()


def test_a_number_holds_the_count_from_growing(tmp_path: Path) -> None:
    sites = [site("a.py", line) for line in (1, 2, 3)]
    found = judged(tmp_path, "GB0124 a.py x2", *sites)
    assert found.new == (sites[2],)
    assert found.notes == (f"{tmp_path}/breaks.allow:1: `GB0124 a.py x2` matches 3 sites, and allows 2",)


def test_a_number_that_is_too_high_by_now_is_said_to_be(tmp_path: Path) -> None:
    found = judged(tmp_path, "GB0124 a.py x3", site("a.py"))
    assert found.new == ()
    assert found.notes == (f"{tmp_path}/breaks.allow:1: `GB0124 a.py x3` stands for 1 site by now: write x1",)


def test_a_site_that_finds_an_entry_full_goes_to_the_next(tmp_path: Path) -> None:
    sites = [site("a.py", line) for line in (1, 2)]
    assert judged(tmp_path, "GB0124 x1\na.py\n", *sites).new == ()


def test_every_line_that_is_no_entry_is_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "breaks.allow"
    file.write_text("GB0124\nGB12\nGB0124 a.py b.py\nx2\n'open\nGB0124 x0\n", "utf-8")
    with pytest.raises(InvalidInput) as refused:
        read_allowed(file)
    found = [str(problem).removeprefix(f"{file}:") for problem in refused.value.problems]
    assert [line.partition(":")[0] for line in found] == ["2", "3", "4", "5", "6"]
    assert "`GB12` is not an id such as GB0124; a file of that name is ./GB12" in found[0]
    assert "an entry is an id (GB0124), a file pattern (vendor/**, or src/model.py::forward" in found[1]
    assert found[4].endswith("`GB0124 x0` allows nothing: remove it")


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_one_line(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "breaks.allow"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"breaks\.allow: .*`--write-allow"):
        read_allowed(file)


def test_what_is_written_allows_just_what_there_is(tmp_path: Path) -> None:
    sites = (
        site("/srv/project/src/model.py", 1),
        site("/srv/project/src/model.py", 2),
        site("train.py", 9, "GB0025", "GB7000"),
        site("/srv/project/odd [name] #1.py", 3),
        site("/usr/lib/python3/site-packages/other/deep.py", 4),
    )
    file = tmp_path / "breaks.allow"
    write_allowed(file, allow_list(Report(sites=sites), folder=Path(FOLDER)))
    assert [line for line in file.read_text("utf-8").splitlines() if not line.startswith("#")] == [
        "GB0025 ./train.py::shift x1",
        "GB0124 './odd [[]name] #1.py::shift' x1",
        "GB0124 */other/deep.py::shift x1",
        "GB0124 src/model.py::shift x2",
    ]
    entries = read_allowed(file)
    judgement = judge_sites(Report(sites=sites), entries, folder=Path(FOLDER))
    assert (judgement.new, judgement.notes) == ((), ())
    more = Report(sites=(*sites, site("/srv/project/src/model.py", 3)))
    assert len(judge_sites(more, entries, folder=Path(FOLDER)).new) == 1


def test_no_file_is_written_over(tmp_path: Path) -> None:
    file = tmp_path / "breaks.allow"
    file.write_text("GB0124\n", "utf-8")
    with pytest.raises(WriteFailed, match="name another file with --write-allow"):
        write_allowed(file, "")
    assert file.read_text("utf-8") == "GB0124\n"


def test_a_function_can_be_named(tmp_path: Path) -> None:
    known = replace(SITE, file="src/model.py", function="forward")
    other = replace(known, function="backward", line=9)
    found = judged(tmp_path, "GB0124 src/model.py::forward", known, other)
    assert (found.new, found.notes) == ((other,), ())


def commented(folder: Path, code: str, *lines: int) -> Judgement:
    """The judgement on breaks at these lines of a file with this code."""
    file = folder / "model.py"
    file.write_text(code, "utf-8")
    sites = tuple(replace(SITE, file=str(file), line=line) for line in lines)
    return judge_sites(Report(sites=sites), (), folder=folder)


def test_a_comment_allows_the_break_of_its_line_or_of_the_next(tmp_path: Path) -> None:
    code = """\
x.item()  # graphbreak: allow GB0124 because it is done once
# graphbreak: allow gb0170, GB0124 because somebody reads it
x.item()
text = "# graphbreak: allow GB0124 because this is no comment"
"""
    found = commented(tmp_path, code, 1, 3, 4)
    assert [site.line for site in found.new] == [4]
    (note,) = found.notes
    assert note.startswith(f"{tmp_path}/model.py:2: ") and note.endswith("is no longer needed: remove it"), "GB0170"


@pytest.mark.parametrize(
    "comment", ["allow GB0124", "allow GB0124 because", "allow GB12 because of that", "allow because of that", "ignore"]
)
def test_a_comment_without_an_id_or_a_reason_allows_nothing_and_is_named(comment: str, tmp_path: Path) -> None:
    found = commented(tmp_path, f"x.item()  # graphbreak: {comment}\n", 1)
    assert len(found.new) == 1
    (note,) = found.notes
    assert note == (
        f"{tmp_path}/model.py:1: `# graphbreak: {comment}` allows nothing: write `# graphbreak: allow GB0124 because …`"
    )


def test_a_stale_comment_in_a_module_without_a_break_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "helper.py").write_text("pass  # graphbreak: allow GB0124 because of old times\n", "utf-8")
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "theirs.py").write_text("pass  # graphbreak: allow GB0124 because of x\n", "utf-8")
    for name, file in (("helper_of_ours", "helper.py"), ("helper_of_theirs", "site-packages/theirs.py")):
        module = ModuleType(name)
        module.__file__ = str(tmp_path / file)
        monkeypatch.setitem(sys.modules, name, module)
    (note,) = commented(tmp_path, "pass\n").notes
    assert note.startswith(f"{tmp_path}/helper.py:1: `# graphbreak: allow GB0124 because of old times` is no longer")
