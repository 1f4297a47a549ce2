"""One report over several runs: each with the verdicts of its own report, the worst first, what is alike folded."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import html5lib
import pytest
from bs4 import BeautifulSoup

from repro_runner.cli import main
from repro_runner.report.contents import read_several
from repro_runner.report.page import render_reports
from repro_runner.report.several import reports_document
from repro_runner.runs import RunFolder, list_runs
from repro_runner.runs.inventory import DOCUMENTS
from tests.repro_runner.fixtures import FIXTURES
from tests.repro_runner.fixtures.sample_run import HOSTILE, PIXEL, sample_documents, write_sample_run

ENVIRONMENT = {"torch": "2.13.0", "device": "cpu"}


def a_run(home: Path, verb: str, subject: str, *documents: dict[str, Any], **environment: str) -> RunFolder:
    run = RunFolder.create(verb, home=home, subject=subject, environment={**ENVIRONMENT, **environment})
    for document in documents:
        run.write_json(f"{document['kind']}.json", document)
    return run


def numerics(*errors: float, **fields: Any) -> dict[str, Any]:
    """A comparison of as many values; what has an error differs."""
    document = sample_documents()["numerics.json"]
    leaf = document["leaves"][0]
    leaves = [
        {
            **leaf,
            "name": f"layer{number}.weight.grad",
            "passed": not error,
            "comparison": {**leaf["comparison"], "max_absolute_error": error},
        }
        for number, error in enumerate(errors)
    ]
    failed = sum(map(bool, errors))
    verdict = f"inductor differs from eager in {failed} of {len(errors)} values" if failed else "inductor equals eager"
    quiet: dict[str, Any] = {"test_varies": {}, "cause": [], "pictures": []}
    return {**document, **quiet, "leaves": leaves, "passed": not failed, "verdict": verdict, **fields}


def violations(*shapes: int, rule: str = "shape-alignment") -> dict[str, Any]:
    document = sample_documents()["violations.json"]
    found = [
        {**document["violations"][0], "rule": rule, "shape": [4, size], "message": f"dimension 1 is {size}"}
        for size in shapes
    ]
    return {**document, "violations": found}


def bench(**slower: dict[str, float]) -> dict[str, Any]:
    """Model -> backend -> how many times eager's time it takes; 0: it failed."""
    document = sample_documents()["bench.json"]
    eager, _, failed = document["rows"]
    rows = [
        {**eager, "model": model, "size": "tiny", "backend": backend, "latency": {"median": 0.001 * times}}
        if times
        else {**failed, "model": model, "size": "tiny", "backend": backend}
        for model, backends in slower.items()
        for backend, times in {"eager": 1.0, **backends}.items()
    ]
    return {**document, "rows": rows}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Five runs of four models, and one that can't be read."""
    home = tmp_path / "runs"
    monkeypatch.setenv("GRAPHBREAK_HOME", str(home))
    monkeypatch.chdir(tmp_path)
    a_run(home, "check", "good.py:make", violations())
    a_run(home, "diff", "good.py:make", numerics(0.0, 0.0))
    a_run(home, "check", "good.py:make", violations())
    a_run(home, "bench", "bert, ssm", bench(bert={"inductor": 0.5}, ssm={"inductor": 2.0, "mock": 0}))
    write_sample_run(home)
    a_run(home, "diff", "lost.py:make").write_text("run.json", "{")
    return home


def page_over(home: Path) -> BeautifulSoup:
    return BeautifulSoup(render_reports(*read_several(list_runs(home)), home), "html.parser")


def rows(soup: BeautifulSoup, selector: str) -> list[str]:
    return [" ".join(row.get_text(" ").split()) for row in soup.select(f"{selector} tbody tr")]


def test_the_passes_are_counted_by_part_and_the_models_that_have_it_not(home: Path) -> None:
    soup = page_over(home)
    assert soup.select_one("h1").get_text() == "5 runs of 4 models"  # type: ignore[union-attr]
    shown = rows(soup, "#rates")
    assert shown[:3] == ["Benchmark 2 – – – 0 of 2 1", "Device limits 1 – 2 – 2 of 3 2", "Numerics 1 – 1 – 1 of 2 2"]
    assert shown[-1] == "Graphs – – – 1 – 3"


def test_runs_stand_side_by_side_the_worst_first_and_those_alike_are_one_row(home: Path) -> None:
    soup = page_over(home)
    assert [re.sub(r"\d{4}-\S+ \S+ UTC", "WHEN", row) for row in rows(soup, "#tested")] == [
        "model.py:make_model report WHEN torch 2.13.0, cpu ✗ Device limits: failed ! Op support: doubtful "
        "! Graph breaks: doubtful ✗ Numerics: failed ✗ Guards: failed ✗ Smallest program: failed ✗ Benchmark: failed "
        "· Cost of a break: measured · Graphs: measured",
        "bert, ssm bench WHEN torch 2.13.0, cpu ✗ Benchmark: failed",
        "good.py:make 1 more like this check WHEN torch 2.13.0, cpu ✓ Device limits: passed",
        "good.py:make diff WHEN torch 2.13.0, cpu ✓ Numerics: passed",
    ]
    assert rows(soup, "#guards") == [
        "model.py:make_model ✗ 8 recompiles in 2 calls: x had 4 rows, now it has 5; torch gave up compiling "
        "Model.forward: recompile_limit (8) 8 2 6"
    ]


def test_a_model_that_fails_in_more_parts_comes_first_whichever_runs_say_so(home: Path) -> None:
    a_run(home, "check", "two.py:make", violations(3))
    a_run(home, "check", "one.py:make", violations(3, 5))
    a_run(home, "diff", "two.py:make", numerics(0.1))
    a_run(home, "check", "one.py:make", violations(3))
    shown = [" ".join(row.split()[:2]) for row in rows(page_over(home), "#tested")]
    assert shown[1:5] == ["two.py:make diff", "two.py:make check", "bert, ssm", "one.py:make check"]


def test_a_run_on_another_torch_or_device_is_not_folded(home: Path) -> None:
    a_run(home, "check", "good.py:make", violations(), device="cuda")
    assert rows(page_over(home), "#violations > .scroll")[1:] == [
        "good.py:make torch 2.13.0, cuda ✓ no violations – – –",
        "good.py:make torch 2.13.0, cpu; 1 more like this ✓ no violations – – –",
    ]


def test_violations_are_grouped_by_model_and_other_shapes_are_counted(home: Path) -> None:
    for shapes in (range(3, 16), range(3, 9), range(3, 16)):
        a_run(home, "check", "worse.py:make", violations(*shapes))
    soup = page_over(home)
    groups = [" ".join(group.select_one("summary").get_text(" ").split()) for group in soup.select("#violations .rule")]  # type: ignore[union-attr]
    assert groups == ["worse.py:make 13", "worse.py:make 6", "model.py:make_model 4"]
    assert rows(soup, "#violations .rule")[0] == (
        "shape-alignment aten.mm.default float32[4, 3] dimension 1 is 3 and 12 more like this "
        "/home/me/project/model.py:12"
    )


@pytest.mark.parametrize(
    ("errors", "shown"),
    [
        ((0.0, 0.25), "inductor differs from eager in 1 of 2 values 0.25 1 2"),
        (("inf", 0.25), "inductor differs from eager in 2 of 2 values inf 2 2"),
        (("nan",), "inductor differs from eager in 1 of 1 values nan 1 1"),
    ],
)
def test_the_largest_error_comes_first_however_large(home: Path, errors: tuple[Any, ...], shown: str) -> None:
    a_run(home, "diff", "small.py:make", numerics(1e-3, 0.0))
    a_run(home, "diff", "large.py:make", numerics(*errors))
    a_run(home, "diff", "none.py:make", numerics(passed=False, verdict="it could not run"))
    found = rows(page_over(home), "#numerics")
    order = [name for row in found for name in ("none", "large", "small", "good") if row.startswith(name)]
    assert order == ["none", "large", "small", "good"]
    assert f"large.py:make ✗ {shown}" in found


def test_pictures_of_all_runs_are_in_the_order_of_their_errors(home: Path) -> None:
    for subject, errors in (("one.py:make", (0.1, 0.4)), ("two.py:make", (0.3, 0.2))):
        pictures = [f"layer{number}.weight.grad.png" for number in range(2)]
        run = a_run(home, "diff", subject, numerics(*errors, pictures=pictures))
        for name in pictures:
            run.write_bytes(f"numerics/{name}", PIXEL)
    shown = [caption.get_text() for caption in page_over(home).select("#numerics figcaption")]
    assert shown[2:] == [
        "one.py:make: layer1.weight.grad",
        "two.py:make: layer0.weight.grad",
        "two.py:make: layer1.weight.grad",
        "one.py:make: layer0.weight.grad",
    ]
    assert shown[:2] == ["model.py:make_model: summary", "model.py:make_model: output"]


def test_models_are_measured_against_eager_backend_by_backend(home: Path) -> None:
    found = [re.sub(r"torch .* UTC", "", row).split() for row in rows(page_over(home), "#bench")]
    assert [" ".join(row) for row in found] == [
        "model.py:make_model 2 ms failed: it hung 2.50× 800 µs –",
        "ssm (tiny) 1 ms – 0.50× 2 ms failed: it hung",
        "bert (tiny) 1 ms – 2.00× 500 µs –",
    ]


def test_a_row_leads_to_the_run_s_own_page_if_it_is_there_and_else_to_its_lines_here(home: Path) -> None:
    sample = next(run for run in list_runs(home) if "-report-" in run.id)
    assert main(["report", sample.id]) == 0
    soup = page_over(home)
    links = {str(link["href"]) for link in soup.select("main a[href]")}
    assert f"{sample.id}/report.html#violations" in links
    own = BeautifulSoup((sample.path / "report.html").read_text("utf-8"), "html.parser")
    for link in links:
        file, _, part = link.partition("#")
        assert (own if file else soup).select_one(f"#{part}" if part else "h1"), link
    assert {link.partition("#")[0] for link in links} == {"", f"{sample.id}/report.html"}


def test_what_was_not_checked_is_said_once(home: Path) -> None:
    a_run(home, "diff", "parts.py:make", numerics(0.0, graphs=3))
    text = page_over(home).get_text()
    assert text.count("Ops outside of graphs") == 1
    assert "and not compared op by op. This is about model.py:make_model, parts.py:make." in text


def test_real_runs_of_an_earlier_version_are_put_side_by_side(tmp_path: Path) -> None:
    """A report, a minified program and a benchmark of one model."""
    found, unreadable = read_several(list_runs(FIXTURES / "written_before" / "graphbreak"))
    soup = BeautifulSoup(render_reports(found, unreadable, tmp_path), "html.parser")
    text = soup.get_text()
    assert "3 runs of 1 model" in text
    assert "damaged" not in text
    assert "can't be read" not in text
    parts = {str(section["id"]) for section in soup.select("section")} - {"rates", "tested", "runs"}
    assert parts == {*DOCUMENTS, "graphs"} - {"break_cost"}


@pytest.mark.parametrize("text", [str, lambda text: HOSTILE + text])
def test_the_page_is_valid_html_and_its_texts_are_texts(home: Path, text: Any) -> None:
    write_sample_run(home, text)
    soup = page_over(home)
    html5lib.HTMLParser(strict=True).parse(render_reports(*read_several(list_runs(home)), home).encode("utf-8"))
    assert soup.find_all(["script", "iframe", "form"]) == []
    ids = [str(tag["id"]) for tag in soup(id=True)]
    assert len(set(ids)) == len(ids)


# On the command line


def report(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    try:
        ended: object = main(["report", *arguments])
    except SystemExit as error:
        ended = error.code
    assert ended == code
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.mark.parametrize(
    "names", [["runs"], ["runs/*"], ["20*"], ["runs/*-check-*", "20*-bench-*", "20*-diff-*", "20*-report-*"], ["ALL"]]
)
def test_runs_are_named_by_folder_pattern_path_or_id(
    home: Path, names: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "report.json").write_text("what was written before, which a shell finds, too")
    if names == ["ALL"]:
        names = [run.id for run in list_runs(home)] + [str(path) for path in home.glob("[!.]*")]
    shown, told = report(capsys, *names, "--format", "json")
    assert shown == f"{home / 'report.json'}\n"
    assert re.fullmatch(r"\S+-diff-\w{6}: left out, not JSON \(.*\); run it again\n", told)
    document = json.loads((home / "report.json").read_bytes())
    assert (document["kind"], document["schema"]) == ("reports", 1)
    assert [run["verb"] for run in document["runs"]] == ["check", "diff", "check", "bench", "report"]
    assert document == json.loads(json.dumps(reports_document(*read_several(list_runs(home)))))


def test_the_document_has_the_verdicts_of_each_run_and_what_they_rest_on(home: Path) -> None:
    document = reports_document(*read_several(list_runs(home)))
    assert document["models"] == ["model.py:make_model", "bert (tiny)", "ssm (tiny)", "good.py:make"]
    assert document["pass_rates"]["numerics"] == {"works": 1, "doubt": 0, "breaks": 1, "plain": 0, "not_run": 2}
    assert [
        (result["subject"], result["figures"]) for result in document["results"] if result["part"] == "numerics"
    ] == [
        ("model.py:make_model", {"worst error": 0.25, "values that differ": 2, "values": 17}),
        ("good.py:make", {"worst error": 0.0, "values that differ": 0, "values": 2}),
    ]
    assert [(row["model"], row["backend"], row["against_eager"]) for row in document["bench"]][:3] == [
        ("model.py:make_model", "aot", None),
        ("ssm (tiny)", "mock", None),
        ("ssm (tiny)", "inductor", 0.5),
    ]
    assert list(document["unreadable"]) == [str(list_runs(home)[-1].path)]


def test_the_page_lies_beside_the_runs_or_where_it_is_wanted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(capsys, "runs")[0] == f"{home / 'report.html'}\n"
    sample = next(run for run in list_runs(home) if "-report-" in run.id)
    assert report(capsys, sample.id)[0] == f"{sample.path / 'report.html'}\n"
    (home.parent / "else where").mkdir()
    report(capsys, "runs", "--out", "else where/all.html")
    assert f'href="../runs/{sample.id}/report.html#guards"' in Path("else where/all.html").read_text("utf-8")


def test_a_path_with_brackets_is_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path))
    for number in range(2):
        write_sample_run(tmp_path).path.rename(tmp_path / f"mine [{number}]")
    report(capsys, str(tmp_path / "mine [0]"), str(tmp_path / "mine [1]"))
    assert "2 runs of 1 model" in (tmp_path / "report.html").read_text("utf-8")


def test_a_folder_with_one_run_gives_that_run_s_own_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path / "elsewhere"))
    run = write_sample_run(tmp_path / "runs")
    assert report(capsys, str(tmp_path / "runs"))[0] == f"{run.path / 'report.html'}\n"
    assert not (tmp_path / "elsewhere").exists()


def test_the_verdicts_come_as_markdown_too(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report(capsys, "runs", "--format", "md")
    text = (home / "report.md").read_text("utf-8")
    assert text.count("\n## ") == 4
    assert "| ✗ | Device limits | 4 violations on 3 lines of the program: shape-alignment (3), " in text
    assert "\nOps outside of graphs (at a break, or in Python between two graphs) were not checked " in text


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["runs", "none", "2019*", "empty"],
            "none: no such run; `graphbreak artifacts list` shows the runs there are\n",
        ),
        (["runs", "none", "2019*", "empty"], "2019*: no runs there; "),
        (["runs", "none", "2019*", "empty"], "empty: no runs there; "),
        (["runs", "model.py:make_model"], "with MODEL.py:FUNCTION, nothing else; examine the models one by one"),
        (["runs", "--seed", "1"], "--seed: only with MODEL.py:FUNCTION"),
        (["--format", "pdf"], "invalid choice: 'pdf' (choose from "),
        (["runs/*-lost-*"], "runs/*-lost-*: no runs there"),
        (["runs/report.md"], "runs/report.md: no such run"),
    ],
)
def test_what_can_not_be_reported_is_told_all_at_once(
    home: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home.parent / "empty").mkdir()
    (home / "report.md").write_text("what was written before")
    shown, problems = report(capsys, *arguments, code=2)
    assert shown == ""
    assert told in problems
    assert not (home / "report.html").exists()
