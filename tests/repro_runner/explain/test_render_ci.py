"""A report in the formats of CI: SARIF, annotations on GitHub, JUnit, GitLab's code quality."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema  # type: ignore[import-untyped]
import pytest

from repro_runner.capture.breaks import UserFrame
from repro_runner.explain.allowed import judge_sites, parse_allowed
from repro_runner.explain.render.ci import CI_FORMATS, render_ci
from repro_runner.explain.render.view import Outcome, view_outcome
from repro_runner.explain.report import Report
from repro_runner.explain.site import Program
from tests.repro_runner.fixtures import FIXTURES
from tests.repro_runner.fixtures.written_report import (
    FOLDER,
    HOSTILE,
    failed_report,
    sample_answers,
    sample_report,
)

EVERY_REPORT = [
    sample_report(),
    sample_report(lambda _: HOSTILE),
    failed_report(),
    Report(program=Program(name="a.py")),
]
IDS = ["sites", "hostile", "failed", "nothing"]


def shown(form: str, report: Report, *, allow: str = "", folder: str = FOLDER, fails: bool = False) -> str:
    judgement = judge_sites(report, parse_allowed([("allow", allow)]), folder=Path(folder))
    view = view_outcome(Outcome(report=report, judgement=judgement), sample_answers(), folder=Path(folder))
    return render_ci(form, report.sites, view, allowed=judgement.allowed, folder=Path(folder), fails=fails)


def with_site(**fields: Any) -> Report:
    """One break, at a place of one's own."""
    return Report(sites=(replace(sample_report().sites[1], **fields),))


@pytest.mark.parametrize("report", EVERY_REPORT, ids=IDS)
@pytest.mark.parametrize("fails", [True, False], ids=["fails", "warns"])
def test_sarif_keeps_to_its_schema(report: Report, fails: bool) -> None:
    schema = json.loads((FIXTURES / "sarif-2.1.0.json").read_text("utf-8"))
    document = json.loads(shown("sarif", report, fails=fails))
    jsonschema.validators.validator_for(schema)(schema).validate(document)
    (run,) = document["runs"]
    assert len(run["results"]) == len(report.sites)
    assert {one["level"] for one in run["results"]} <= {"error" if fails else "warning"}
    for one in run["results"]:
        assert run["tool"]["driver"]["rules"][one["ruleIndex"]]["id"] == one["ruleId"]
    assert run["invocations"][0]["executionSuccessful"] == (report.program.exit_code in (0, None))


def test_what_is_allowed_fails_nothing() -> None:
    report = sample_report()
    gb_id = report.sites[0].gb_id
    count = sum(gb_id in site.gb_ids for site in report.sites)
    (run,) = json.loads(shown("sarif", report, allow=gb_id, fails=True))["runs"]
    suppressed = [one for one in run["results"] if "suppressions" in one]
    assert len(suppressed) == count and {one["level"] for one in suppressed} == {"note"}
    suite = ElementTree.fromstring(shown("junit", report, allow=gb_id)).find("testsuite")
    assert suite is not None and suite.get("failures") == str(len(report.sites) - count)
    for form in ("github", "gitlab"):
        assert gb_id not in re.findall(r'title=(\w+)|"check_name": "(\w+)"', shown(form, report, allow=gb_id))


@pytest.mark.parametrize("report", EVERY_REPORT, ids=IDS)
def test_an_annotation_is_one_line_however_hostile_its_texts_are(report: Report) -> None:
    *lines, totals = shown("github", report, fails=True).splitlines()
    assert totals.startswith("::notice::")
    assert len(lines) == len(report.sites) + (report.program.exit_code not in (0, None))
    for line in lines:
        assert re.fullmatch(r"::error (file=[^,:]*,line=\d+,title=[^,:]*)?::[^\x00-\x1f]*|::error::.*", line), line


@pytest.mark.parametrize("report", EVERY_REPORT, ids=IDS)
def test_junit_can_be_read_and_counts_what_it_has(report: Report) -> None:
    text = shown("junit", report).encode("utf-8", "backslashreplace")
    suite = ElementTree.fromstring(text).find("testsuite")
    assert suite is not None
    assert suite.get("tests") == str(len(suite))
    assert suite.get("failures") == str(len(suite.findall("*/failure"))) == str(len(report.sites))
    assert suite.get("errors") == str(len(suite.findall("*/error")))


def test_gitlab_gets_what_its_widget_needs() -> None:
    report = sample_report()
    found = json.loads(shown("gitlab", report, fails=True))
    assert {key for one in found for key in one} == {"description", "check_name", "fingerprint", "severity", "location"}
    assert {one["severity"] for one in found} == {"major"}
    assert len({one["fingerprint"] for one in found}) == len(report.sites)


def badge(report: Report, allow: str = "") -> dict[str, Any]:
    return dict(json.loads(shown("badge", report, allow=allow)))


def test_a_badge_tells_new_breaks_from_allowed_ones() -> None:
    report = sample_report()
    count = len(report.sites)
    always = {"schemaVersion": 1, "label": "graph breaks"}
    assert badge(report) == {**always, "message": str(count), "color": "red"}
    assert badge(report, "**") == {**always, "message": f"{count} allowed", "color": "yellowgreen"}
    assert badge(Report()) == {**always, "message": "none", "color": "brightgreen"}


def test_the_badge_of_a_program_that_failed_is_no_good_news() -> None:
    failed = replace(failed_report(), sites=())
    assert (badge(failed)["message"], badge(failed)["isError"]) == ("not known", True)


def test_an_entry_is_the_same_after_lines_have_moved() -> None:
    before, after = (json.loads(shown("gitlab", with_site(line=line)))[0] for line in (4, 40))
    assert before["fingerprint"] == after["fingerprint"]
    assert before["location"]["lines"] != after["location"]["lines"]


def frame(file: str, line: int) -> UserFrame:
    return UserFrame(file=file, line=line, function="f", source="")


LIBRARY = "/usr/lib/python3/site-packages/other/deep.py"


@pytest.mark.parametrize(
    ("site", "path", "line"),
    [
        ({"file": "/srv/project/src/a.py", "line": 3, "stack": ()}, "src/a.py", 3),
        ({"file": LIBRARY, "line": 9, "stack": (frame("train.py", 7), frame(LIBRARY, 9))}, "train.py", 7),
        ({"file": LIBRARY, "line": 9, "stack": ()}, LIBRARY, 9),
        ({"file": "", "line": 0, "stack": (), "log": "ci.log", "log_line": 5}, "ci.log", 5),
    ],
    ids=["own", "in a library", "nothing of one's own", "a log without places"],
)
def test_an_entry_stands_beside_the_innermost_line_of_ones_own(site: dict[str, Any], path: str, line: int) -> None:
    assert json.loads(shown("gitlab", with_site(**site)))[0]["location"] == {"path": path, "lines": {"begin": line}}


def test_a_log_of_another_checkout_leads_to_this_one(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "net.py").touch()
    report = with_site(file="/builds/17/src/net.py", stack=())
    assert json.loads(shown("gitlab", report, folder=str(tmp_path)))[0]["location"]["path"] == "src/net.py"


@pytest.mark.parametrize("form", CI_FORMATS)
def test_the_same_report_gives_the_same_bytes(form: str) -> None:
    assert shown(form, sample_report()) == shown(form, sample_report())
