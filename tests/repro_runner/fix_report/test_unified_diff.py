"""Applying a diff: exactly, wherever its lines stand, and with a clear line about what does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import InvalidInput
from repro_runner.fix_report.patches.source import diff_texts
from repro_runner.fix_report.unified_diff import is_diff, read_changes

TEXT = "".join(f"line_{number} = {number}\n" for number in range(1, 21))
CHANGED = TEXT.replace("line_3 = 3\n", "three = 3\nthree += 0\n").replace("line_18 = 18\n", "")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "parts.py").write_text(TEXT)
    (tmp_path / "main.py").write_text("import pkg.parts\nx = 1\n")
    return tmp_path


def apply(text: str, folder: Path) -> dict[str, tuple[str, str]]:
    found = read_changes("fix.diff", text, folder)
    return {Path(path).relative_to(folder.resolve()).as_posix(): texts for path, texts in found.items()}


def refusal(text: str, folder: Path) -> str:
    with pytest.raises(InvalidInput) as refused:
        read_changes("fix.diff", text, folder)
    return str(refused.value)


def test_a_diff_with_two_hunks_is_applied(folder: Path) -> None:
    diff = diff_texts(TEXT, CHANGED, "pkg/parts.py")
    assert diff.count("@@ -") == 2
    assert apply(diff, folder) == {"pkg/parts.py": (TEXT, CHANGED)}
    assert (folder / "pkg" / "parts.py").read_text() == TEXT


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "--- a/pkg/parts.py\n+++ b/",
            "diff --git a/pkg/parts.py b/pkg/parts.py\nindex 1..2 100644\n--- a/pkg/parts.py\n+++ b/",
        ),
        ("--- a/pkg/parts.py\n+++ b/", "--- pkg/parts.py\t2026-01-01\n+++ "),
        ("\n", "\r\n"),
        ("@@ -1,6 +1,7 @@", "@@ -9,2 +3,4 @@ def f(x):"),
        ("@@ -1,6 +1,7 @@", "@@ @@"),
    ],
    ids=["as git writes it", "without prefixes", "other line ends", "wrong numbers", "no numbers"],
)
def test_how_a_diff_is_written_does_not_matter(old: str, new: str, folder: Path) -> None:
    diff = diff_texts(TEXT, CHANGED, "pkg/parts.py")
    assert old in diff
    assert apply(diff.replace(old, new), folder) == {"pkg/parts.py": (TEXT, CHANGED)}


def test_several_files_are_changed_at_once(folder: Path) -> None:
    main = (folder / "main.py").read_text()
    diff = diff_texts(TEXT, CHANGED, "pkg/parts.py") + diff_texts(main, main + "y = 2\n", "main.py")
    assert apply(diff, folder) == {"pkg/parts.py": (TEXT, CHANGED), "main.py": (main, main + "y = 2\n")}


def test_line_ends_of_the_file_stay(folder: Path) -> None:
    (folder / "main.py").write_bytes(b"a = 1\r\nb = 2\r\n")
    (changed,) = apply("--- a/main.py\n+++ b/main.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n", folder).values()
    assert changed[1] == "a = 1\r\nb = 3\r\n"


def test_lines_without_context_go_where_their_number_says(folder: Path) -> None:
    (changed,) = apply("--- a/main.py\n+++ b/main.py\n@@ -1,0 +2,1 @@\n+y = 0\n", folder).values()
    assert changed[1] == "import pkg.parts\ny = 0\nx = 1\n"


def of_main(hunk: str, name: str = "main.py") -> str:
    return f"--- a/{name}\n+++ b/{name}\n{hunk}"


@pytest.mark.parametrize(
    ("diff", "told"),
    [
        (
            of_main("@@ -2,1 +2,1 @@\n-x = 7\n+x = 2\n"),
            "fix.diff:3: hunk 1 of main.py does not fit: line 2 is 'x = 1', the patch has 'x = 7'; make",
        ),
        (
            of_main("@@ -40,3 +40,3 @@\n line_7 = 7\n-line_8 = 0\n+x = 0\n line_9 = 9\n", "pkg/parts.py"),
            "hunk 1 of pkg/parts.py does not fit: line 8 is 'line_8 = 8', the patch has 'line_8 = 0'",
        ),
        (
            of_main("@@ -1 +1 @@\n-import pkg.parts\n+a\n@@ -1 +1 @@\n-import pkg.parts\n+b\n"),
            "hunk 2 of main.py does not fit: line 1 is 'a', the patch has 'import pkg.parts'",
        ),
        (of_main("@@ -9 +9 @@\n-a\n+b\n", "none.py"), "fix.diff:1: none.py: no such file below"),
        (of_main("@@ -9 +9 @@\n-a\n+b\n", "../out.py"), "fix.diff:1: ../out.py: leads out of"),
        ("--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n", "adds, deletes or renames a file"),
        ("--- a/main.py\n+++ b/other.py\n@@ -1 +1 @@\n-a\n+b\n", "adds, deletes or renames a file"),
        (of_main(""), "has no hunk for main.py"),
        ("@@ -1 +1 @@\n-a\n+b\n", "no line names the file"),
        (of_main("@@ -2,1 +2,1 @@\n-x = 1\n+x = 1\n"), "fix.diff: changes nothing"),
        (of_main("@@ @@\n+y = 1\n"), "hunk 1 of main.py has no line of the file"),
    ],
)
def test_what_does_not_fit_is_told(diff: str, told: str, folder: Path) -> None:
    assert told in refusal(diff, folder)


def test_a_place_that_is_not_the_only_one_is_no_place(folder: Path) -> None:
    (folder / "main.py").write_text("y = 0\nx = 1\ny = 0\nx = 1\n")
    assert "fits in 2 places; give it more lines of context" in refusal(of_main("@@ @@\n-x = 1\n+x = 2\n"), folder)


def test_everything_that_does_not_fit_is_told_at_once(folder: Path) -> None:
    wrong = "@@ -1 +1 @@\n-a\n+b\n"
    assert len(refusal(of_main(wrong) + of_main(wrong, "pkg/parts.py"), folder).splitlines()) == 2


def test_a_link_out_of_the_folder_is_refused(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.py"
    outside.write_text("a\n")
    (folder / "link.py").symlink_to(outside)
    assert "link.py: leads out of" in refusal(of_main("@@ -1 +1 @@\n-a\n+b\n", "link.py"), folder)


def test_a_program_is_no_diff() -> None:
    assert not is_diff('"""--- a/x"""\nx = a @ b\n')
    assert is_diff(diff_texts(TEXT, CHANGED, "x.py"))
