"""Taxonomy, repros and evidence: what is read, and what is refused."""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from registry.checks import check_all, check_pages_have_an_id, warn_uncategorised
from registry.datafile import DATA, write_whole
from registry.dependencies import Statements
from registry.errors import InvalidInput
from registry.evidence import read_evidence
from registry.findings import read_findings, read_scripts
from registry.merge import merge_registry
from registry.model import VERIFIER, Environment, Evidence, Finding, Release, Unreached
from registry.releases import read_releases
from registry.repros import kind_of_fix, parse_repro, read_repros
from registry.snapshot import read_snapshot
from registry.taxonomy import read_taxonomy
from registry.unreached import read_unreached
from tests.conftest import ROOT
from tests.samples import knowledge, release, revision

GOOD = "categories:\n- {key: a, title: A, why: w, way_out: o, ids: [GB0001]}\n"
REPRO = '''"""Lead
sentence."""
NO_FIX = "why"
REACH = "config"
def broken(x): ...
def fixed(x): "When."
def isolated_call(x): ...
'''
ENVIRONMENT = {"torch": "2.13.0", "python": "3.11", "device": "cpu"}


def taxonomy(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "taxonomy.yml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[", "not YAML"),
        (GOOD + "- {key: b, title: B, why: w, way_out: o, title: C}\n", "taxonomy.yml:3: .*'title' is there twice"),
        ("categories: 3", "needs a list"),
        ("- a", "needs a list"),
        (
            GOOD + "- {key: b, title: B, why: w, way_out: o, ids: [GB0001]}\n",
            "taxonomy.yml:3: GB0001 is in 'a' and in 'b'",
        ),
        (GOOD + "- {key: a, title: B, why: w, way_out: o}\n", "'a' is there twice"),
        (GOOD + "- {key: b, title: B, why: '', way_out: o}\n", "needs a text `why`"),
        (GOOD + "- {key: b, title: B, why: w, way_out: o, ids: [gb1]}\n", "'gb1' is not an id"),
        (GOOD + "- text\n", "must be a mapping"),
    ],
)
def test_a_wrong_taxonomy_is_refused_with_what_to_do(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        read_taxonomy(taxonomy(tmp_path, text))


def test_all_problems_of_a_taxonomy_are_listed_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as error:
        read_taxonomy(taxonomy(tmp_path, "categories:\n- {key: a}\n- {key: a}\n"))
    assert len(error.value.problems) == 7


def test_every_committed_id_has_exactly_one_category_and_there_are_12_to_18() -> None:
    snapshot = read_snapshot(ROOT / "registry" / "snapshot")
    categories = read_taxonomy(ROOT / "registry" / "taxonomy.yml")
    known = knowledge(snapshot.wordings, releases=read_releases(ROOT / "registry" / "releases"), categories=categories)
    registry = merge_registry(known)
    assert len(registry) == 593
    assert list(warn_uncategorised(registry)) == []
    assert check_all(registry, known) == ()
    assert 12 <= len(categories) <= 18


def test_a_repro_is_parsed_and_never_run() -> None:
    repro = parse_repro(REPRO + "raise SystemExit\n", "GB0001")
    assert (repro.lead, repro.fixes, repro.isolated) == ("Lead sentence.", {"fixed": "rewrite"}, ("isolated_call",))
    assert (repro.no_fix, repro.reach) == ("why", "config")


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def broken(x):\n" + "    x = x + 1\n" * 24, "`broken` has 25 lines"),
        ("def broken(x): ...\ndef fixed_cond(x): ...\n", "`fixed_cond` needs a docstring"),
        ("def fixed(x): ...\n", "needs a function `broken`"),
    ],
)
def test_a_repro_is_short_and_says_when_to_choose_a_fix(source: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_repro(f'"""Lead."""\n{source}', "GB0001")


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def fixed(): return torch.where()", "rewrite"),
        ("FLAGS = {'fixed': {'capture_scalar_outputs': True}}\ndef fixed(): pass", "flag"),
        ("FLAGS = {'fixed_other': {}}\ndef fixed(): pass", "rewrite"),
        ("op = torch.library.custom_op('a::b', f)\ndef helper(): op()\ndef fixed(): helper()", "custom op"),
        ("@torch.compiler.allow_in_graph\ndef helper(): pass\ndef fixed(): helper()", "custom op"),
        ("op = torch.library.custom_op('a::b', f)\ndef broken(): op()\ndef fixed(): pass", "rewrite"),
    ],
)
def test_a_fix_is_of_one_kind(source: str, kind: str) -> None:
    module = ast.parse(source)
    assert kind_of_fix(module, Statements(module, source), "fixed") == kind


def test_unreadable_repros_are_listed_all_at_once(tmp_path: Path) -> None:
    for name, text in {"GB0001.py": "def (", "GB0002.py": "x = 1", "GB0003.py": '"""L."""', "mine.py": REPRO}.items():
        (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(InvalidInput) as error:
        read_repros(tmp_path)
    assert [problem.where for problem in error.value.problems] == [
        "registry/repros/GB0001.py:1",
        "registry/repros/GB0002.py:1",
        "registry/repros/GB0003.py:1",
        "registry/repros/mine.py:1",
    ]


LIMITED = REPRO + 'LIMITS = {\n    "fixed": {"nan": "It is lost.", "other side": "It raises."},\n}\n'


def test_where_a_fix_does_not_hold_is_read_and_its_wording_does_not_make_it_another_program() -> None:
    repro = parse_repro(LIMITED, "GB0001")
    assert repro.limits == {"fixed": {"nan": "It is lost.", "other side": "It raises."}}
    assert repro.limits_of("fixed") == (
        "Not for NaN: It is lost.",
        "Not for inputs that take the other branch: It raises.",
    )
    assert repro.limits_of("fixed_cond") == ()
    assert repro.sha256 == parse_repro(LIMITED.replace("It is lost.", "It goes."), "GB0001").sha256
    assert repro.sha256 != parse_repro(LIMITED.replace('"nan"', '"inf"'), "GB0001").sha256  # another claim


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('"fixed_cond": {"nan": "It is lost."},', "LIMITS speaks of 'fixed_cond', which is no fix of this file"),
        ('"isolated_call": {"nan": "It is lost."},', "LIMITS speaks of 'isolated_call', which is no fix of this file"),
        (
            '"fixed": {"infinity": "It is lost."},',
            "LIMITS of 'fixed' knows no kind of inputs 'infinity'; one of:",
        ),
        ('"fixed": {"nan": " "},', "LIMITS of 'fixed' needs a sentence for 'nan'"),
        ('"fixed": {"nan": 3},', "LIMITS of 'fixed' needs a sentence for 'nan'"),
        ('"fixed": {},', "LIMITS needs a dictionary for 'fixed'"),
        ('"fixed": "not for NaN",', "LIMITS needs a dictionary for 'fixed'"),
        ('"fixed": dict(nan="It is lost."),', "LIMITS needs a dictionary for 'fixed'"),
    ],
)
def test_limits_that_say_nothing_or_of_nothing_are_refused_at_their_line(
    tmp_path: Path, line: str, problem: str
) -> None:
    (tmp_path / "GB0001.py").write_text(f"{REPRO}LIMITS = {{\n    {line}\n}}\n", "utf-8")
    with pytest.raises(InvalidInput) as error:
        read_repros(tmp_path)
    (found,) = error.value.problems
    assert str(found).startswith(f"registry/repros/GB0001.py:9: {problem}")


def test_evidence_is_read_per_environment(tmp_path: Path) -> None:
    runs = {"eager": {"verdict": "verified", "message": "said", "verifier": VERIFIER}, "inductor": {}}
    content = {
        "kind": "evidence",
        "schema": 1,
        "environment": ENVIRONMENT,
        "records": {"GB0001": {"repro_sha256": "x", "runs": runs}},
    }
    (tmp_path / "torch-2.13.0-cpu.json").write_text(json.dumps(content), "utf-8")
    (found,) = read_evidence(tmp_path)["GB0001"]
    assert (found.environment.torch, found.verdicts, found.message) == ("2.13.0", {"eager": "verified"}, "said")


def test_what_an_earlier_verifier_verified_counts_as_reproduced(tmp_path: Path) -> None:
    fix = {"compiles": True, "breaks": 0, "equal": True}
    record = {"repro_sha256": "x", "runs": {"eager": {"verdict": "verified", "fixes": {"fixed": fix}}}}
    content = {"kind": "evidence", "schema": 1, "environment": ENVIRONMENT, "records": {"GB0001": record}}
    (tmp_path / "torch-2.13.0-cpu.json").write_text(json.dumps(content), "utf-8")
    (found,) = read_evidence(tmp_path)["GB0001"]
    assert (found.verdicts, found.fixes, found.gradients) == ({"eager": "reproduced"}, {"fixed": True}, {"fixed": ""})


def test_a_fix_may_hold_under_eager_and_fail_with_another_backend(tmp_path: Path) -> None:
    held = {"compiles": True, "breaks": 0, "equal": True, "gradient": "equal", "holds": True}
    untrained, raises = {**held, "gradient": "differs", "holds": False}, {"compiles": False, "holds": False}
    fixes = {
        "eager": {"fixed": held, "fixed_flag": held, "fixed_other": raises},
        "inductor": {"fixed": untrained, "fixed_flag": held, "fixed_other": raises},
        "mock": {"fixed": raises, "fixed_flag": held, "fixed_other": held},
    }
    runs = {name: {"verdict": "verified", "verifier": VERIFIER, "fixes": of} for name, of in fixes.items()}
    records = {"GB0001": {"repro_sha256": "x", "runs": runs}}
    content = {"kind": "evidence", "schema": 2, "environment": ENVIRONMENT, "records": records}
    (tmp_path / "torch-2.13.0-cpu.json").write_text(json.dumps(content), "utf-8")
    (found,) = read_evidence(tmp_path)["GB0001"]
    assert found.fails_with == {"fixed": {"inductor": "in training", "mock": "always"}}


def test_evidence_comes_oldest_release_first(tmp_path: Path) -> None:
    record = {"GB0001": {"repro_sha256": "x", "runs": {"eager": {"verdict": "verified"}}}}
    for torch in ("2.11.0", "2.8.0"):
        content = {"kind": "evidence", "schema": 1, "environment": {**ENVIRONMENT, "torch": torch}, "records": record}
        (tmp_path / f"torch-{torch}-cpu.json").write_text(json.dumps(content), "utf-8")
    assert [one.environment.torch for one in read_evidence(tmp_path)["GB0001"]] == ["2.8.0", "2.11.0"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"kind": "captured", "schema": 1}, "kind is 'captured', not 'evidence'"),
        ({"kind": "evidence", "schema": 4}, "schema 4 is newer than 3"),
        ({"kind": "evidence", "schema": 1}, "no evidence in this file"),
        ([], "no evidence in this file"),
    ],
)
def test_evidence_of_another_kind_or_a_newer_schema_is_refused(tmp_path: Path, content: object, reason: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(InvalidInput, match=reason):
        read_evidence(tmp_path)


def test_data_for_ids_that_nobody_knows_is_reported() -> None:
    repro = parse_repro(REPRO, "GB0999")
    known = knowledge({"GB0002": [revision("t")]}, repros={"GB0999": repro}, evidence={"GB0998": ()})
    registry = merge_registry(known)
    known_ids = [str(problem) for problem in check_all(registry, known) if "no such graph break" in problem.message]
    assert known_ids == [
        "registry/repros/GB0999.py:1: no such graph break; rename or delete this file",
        "registry/evidence:1: GB0998: no such graph break; delete its records",
        "registry/taxonomy.yml:1: GB0001: no such graph break; remove it",
    ]
    assert [
        problem.where for problem in check_pages_have_an_id(registry, {"GB0002": "GB0002.md", "GB0997": "gb0997.md"})
    ] == ["docs/gb/gb0997.md:1"]
    assert [problem.message for problem in warn_uncategorised(registry)] == [
        "GB0002 (t) has no category; add it to one"
    ]


def problems_of(**more: object) -> list[str]:
    known = knowledge({"GB0001": [revision("t")]}, **more)
    return [str(problem) for problem in check_all(merge_registry(known), known)]


def test_a_repro_needs_a_fix_or_a_reason() -> None:
    bare = '"""Lead."""\ndef broken(x): ...\n'
    assert problems_of(repros={"GB0001": parse_repro(bare, "GB0001")}) == [
        "registry/repros/GB0001.py:1: no function `fixed...`; add one, or say why not in NO_FIX"
    ]
    assert problems_of(repros={"GB0001": parse_repro(bare + 'NO_FIX = "why"\n', "GB0001")}) == []


@pytest.mark.parametrize(
    ("found", "is_needed"), [(("equal",), False), (("equal", "excused"), True), (("no result has a gradient",), True)]
)
def test_a_reason_for_gradients_is_needed_on_some_release(found: tuple[str, ...], is_needed: bool) -> None:
    source = '"""Lead."""\ndef broken(x): ...\ndef fixed(x):\n    "When."\nGRADIENT = {"fixed": "They differ."}\n'
    repro = parse_repro(source, "GB0001")
    runs = tuple(
        Evidence(
            environment=Environment(torch=f"2.{number}.0", python="3.11", device="cpu"),
            repro_sha256=repro.sha256,
            verdicts={"eager": "verified"},
            gradients={"fixed": gradient},
        )
        for number, gradient in enumerate(found, 13)
    )
    problems = problems_of(repros={"GB0001": repro}, evidence={"GB0001": runs})
    said = "GRADIENT says why those of fixed differ, but they are those of eager; remove it"
    assert problems == ([] if is_needed else [f"registry/repros/GB0001.py:1: {said}"])


def test_a_contrived_program_names_the_break_that_people_meet() -> None:
    plain, contrived = '"""Lead."""\ndef broken(x): ...\nNO_FIX = "why"\n', 'REACH = "contrived"\n'
    for source in (plain + contrived, plain + 'NEIGHBOUR = "GB0002"\n'):
        with pytest.raises(ValueError, match="in NEIGHBOUR"):
            parse_repro(source, "GB0001")
    one = parse_repro(plain + contrived + 'NEIGHBOUR = "GB0002"\n', "GB0001")
    assert one.sha256 == parse_repro(plain, "GB0001").sha256
    said = "registry/repros/GB0001.py:1: NEIGHBOUR GB0002 has no program that people write; name another id"
    assert problems_of(repros={"GB0001": one}) == [said]
    also = parse_repro(plain + contrived + 'NEIGHBOUR = "GB0003"\n', "GB0002")
    assert said in problems_of(repros={"GB0001": one, "GB0002": also})
    assert said not in problems_of(repros={"GB0001": one, "GB0002": parse_repro(plain, "GB0002")})


def test_programs_come_in_the_order_that_their_id_gives() -> None:
    source = '"""Lead."""\ndef broken(x): ...\nNO_FIX = "why"\nTITLE = "t"\n'
    first = parse_repro(source + 'ORDER = ["GB0001_often", "GB0001"]\n', "GB0001")
    assert first.sha256 == parse_repro(source, "GB0001").sha256, "the order says nothing of what was run"
    repros = {name: parse_repro(source, name) for name in ("GB0001_among", "GB0001_often")} | {"GB0001": first}
    (gb,) = merge_registry(knowledge({"GB0001": [revision("t")]}, repros=repros))
    assert [one.repro.name for one in gb.programs_for("2.13.0")] == ["GB0001_often", "GB0001", "GB0001_among"]
    seen = Evidence(
        environment=Environment(torch="2.13.0", python="3.11", device="cpu"),
        repro_sha256=repros["GB0001_among"].sha256,
        verdicts={"eager": "verified"},
    )
    known = knowledge({"GB0001": [revision("t")]}, repros=repros, evidence={"GB0001_among": (seen,)})
    (gb,) = merge_registry(known)
    assert gb.programs_for("2.13.0")[0].repro.name == "GB0001_among", "what breaks in the release comes before"


def test_an_order_names_programs_of_its_id_in_the_first_of_them() -> None:
    source = '"""Lead."""\ndef broken(x): ...\nNO_FIX = "why"\nTITLE = "t"\n'
    wrong = parse_repro(source + 'ORDER = ["GB0001_gone"]\n', "GB0001")
    assert problems_of(repros={"GB0001": wrong}) == [
        "registry/repros/GB0001.py:1: ORDER has 'GB0001_gone'; it stands in GBNNNN.py and names programs of that id"
    ]
    other = parse_repro(source + 'ORDER = ["GB0001"]\n', "GB0001_other")
    (said,) = problems_of(repros={"GB0001": parse_repro(source, "GB0001"), "GB0001_other": other})
    assert said.startswith("registry/repros/GB0001_other.py:1: ORDER has 'GB0001'")


def test_a_stale_exemption_is_itself_a_problem() -> None:
    reason = Unreached(category="dead code", evidence="e")
    live = [release("2.13.0", {"GB0001": [revision("t")]}), release("2.15.0", {"GB0001": [revision("t")]})]
    repro = parse_repro(REPRO, "GB0001")
    seen = Evidence(
        environment=Environment(torch="2.13.0", python="3.11", device="cpu"),
        repro_sha256=repro.sha256,
        verdicts={"eager": "verified"},
    )
    where = "registry/unreached.yml:1: GB0001"

    def found(reason: Unreached, *evidence: Evidence, releases: Sequence[Release] = live) -> list[str]:
        proof = {"repros": {"GB0001": repro}, "evidence": {"GB0001": evidence}} if evidence else {}
        return problems_of(unreached={"GB0001": reason}, releases=releases, **proof)

    assert found(reason) == []
    assert found(reason, releases=()) == [f"{where} is emitted by no such release; remove it here"]
    assert found(replace(reason, releases=">=2.16")) == [f"{where} is emitted by no such release; remove it here"]
    (problem,) = found(reason, seen)
    assert problem.startswith(f"{where} has a program that causes it on torch 2.13.0; ")
    (problem,) = found(reason, replace(seen, verdicts={"eager": "stopped"}))
    assert problem == f"{where} has a program; say of which `releases` this is true"
    assert found(replace(reason, releases=">=2.14"), seen) == []


def test_evidence_of_another_version_of_a_repro_is_a_problem() -> None:
    repro = parse_repro(REPRO, "GB0001")
    environment = Environment(torch="2.13.0", python="3.11", device="cpu")
    for sha256, expected in ((repro.sha256, []), ("other", ["run in another version"])):
        evidence = Evidence(environment=environment, repro_sha256=sha256, verdicts={"eager": "verified"})
        found = problems_of(repros={"GB0001": repro}, evidence={"GB0001": (evidence,)})
        assert len(found) == len(expected)
        assert all(text in line for text, line in zip(expected, found, strict=True))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[", "not YAML"),
        ("- GB0001", "needs `GB0042:"),
        ("GB0001: {category: dead code}", "needs a `category` and `evidence`"),
        ("GB0001: {category: not found, evidence: e}", "'not found' is no category"),
    ],
)
def test_a_wrong_exemption_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "unreached.yml").write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match=reason):
        read_unreached(tmp_path / "unreached.yml")


def test_no_file_of_exemptions_exempts_nothing(tmp_path: Path) -> None:
    assert read_unreached(tmp_path / "unreached.yml") == {}


FINDING = "- {id: GB0001, kind: hint does not help, finding: f, evidence: e}\n"


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("{", ["not YAML"]),
        ("GB0001: x", ["needs a list"]),
        ("- GB0001", ["'GB0001' is no finding"]),
        (
            "- {id: GB0001, kind: other, finding: f}\n- {kind: odd, finding: f, evidence: e}",
            ["GB0001: needs a text `evidence`", "an entry: needs a text `id`", "'odd' is no kind"],
        ),
    ],
)
def test_wrong_findings_are_refused_all_at_once(tmp_path: Path, text: str, reasons: list[str]) -> None:
    path = tmp_path / "upstream_findings.yml"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput) as error:
        read_findings(path, {})
    assert len(error.value.problems) == len(reasons)
    assert all(reason in str(error.value) for reason in reasons)


def test_what_is_silently_wrong_needs_a_script_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "upstream_findings.yml"
    silent = FINDING.replace("hint does not help", "silently wrong result")
    path.write_text(silent + silent.replace("}", ", script: GB0001_gone}"), "utf-8")
    with pytest.raises(InvalidInput) as error:
        read_findings(path, {})
    assert [problem.message for problem in error.value.problems] == [
        "GB0001: needs a `script` that shows it, the name of one in finding_scripts/",
        "GB0001: there is no script 'GB0001_gone' in finding_scripts/",
    ]


def test_a_script_needs_a_docstring_and_an_assert_at_its_end(tmp_path: Path) -> None:
    for name, text in (("a", "x = 1\n"), ("b", '"""T.\n\nText."""\nx = 1\n'), ("c", "def\n")):
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    with pytest.raises(InvalidInput) as error:
        read_scripts(tmp_path)
    assert [problem.message.partition(" ")[0] for problem in error.value.problems] == ["needs", "needs", "invalid"]


def test_every_script_belongs_to_a_finding_and_was_run_as_it_is() -> None:
    scripts = read_scripts(DATA / "finding_scripts")
    findings = [one for one in read_findings(DATA / "upstream_findings.yml", scripts) if one.script]
    assert sorted(one.script.name for one in findings if one.script) == sorted(scripts)
    for name, script in scripts.items():
        assert "cpu" in [run.environment.device for run in script.runs], f"{name}: run it again"
        assert any(run.is_wrong for run in script.runs), f"{name}: torch is wrong in no release"


def test_findings_are_read_and_must_be_about_an_id(tmp_path: Path) -> None:
    path = tmp_path / "upstream_findings.yml"
    assert read_findings(path, {}) == ()
    path.write_text(FINDING, "utf-8")
    one = Finding(gb_id="GB0001", kind="hint does not help", finding="f", evidence="e")
    assert read_findings(path, {}) == (one,)
    assert problems_of(findings=(one,)) == []
    assert problems_of(findings=(replace(one, gb_id="GB4711"),)) == [
        "registry/upstream_findings.yml:1: GB4711: no such graph break; remove it"
    ]


def test_what_is_not_a_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"through")
    assert os.read(reading, 100) == b"through"
    os.close(reading)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
