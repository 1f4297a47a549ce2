"""The report of a run: every part from its document, everything escaped, nothing fetched, the site's own look."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path
from typing import Any

import html5lib
import pytest
from bs4 import BeautifulSoup

from registry.errors import InvalidInput
from registry.stylesheet import read_stylesheet
from repro_runner.cli import main
from repro_runner.report import join_documents, read_contents
from repro_runner.report.page import render_report, render_reports
from repro_runner.runs import RunFolder, find_run
from repro_runner.runs.inventory import DOCUMENTS
from tests.checkout import on_small_disk
from tests.conftest import ROOT
from tests.repro_runner.fixtures.sample_run import DRAWING, HOSTILE, PIXEL, sample_documents, write_sample_run

SECTIONS = [*DOCUMENTS, "graphs"]


def hostile(text: str) -> str:
    return HOSTILE + text


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> BeautifulSoup:
    """The page of a run in which nothing is damaged."""
    return page(write_sample_run(tmp_path_factory.mktemp("home")))


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return write_sample_run(tmp_path)


def page(run: RunFolder) -> BeautifulSoup:
    return BeautifulSoup(rendered(run), "html.parser")


def rendered(run: RunFolder) -> str:
    return render_report(read_contents(run))


def sections(text: str) -> set[str]:
    return set(re.findall(r'<section id="(\w+)"', text))


def text_of(soup: BeautifulSoup, selector: str) -> str:
    found = soup.select_one(selector)
    assert found is not None, selector
    return " ".join(found.get_text(" ").split())


VERDICTS = """\
✗ Device limits 4 violations on 3 lines of the program: shape-alignment (3), unsupported-op (1)
! Op support npu refuses 1 of 3 kinds of op, 1 in all; falling back costs 5 transfers more
! Graph breaks 2 breaks: GB0170, GBL-12ab34
✗ Numerics faulty differs from eager in 2 of 17 values. In graph 1 of 1 (9 ops) the first op that differs is gelu
✗ Guards 8 recompiles in 2 calls: x had 4 rows, now it has 5; torch gave up compiling Model.forward: recompile_limit (8)
✗ Smallest program 2 of 36 operations are enough: aten.mm.default float32[4, 3]: dimension 1 is 3 (shape-alignment)
✗ Benchmark inductor is 2.50 times as fast as eager on model.py:make_model; 1 row failed
· Cost of a break each break adds 200 µs
· Graphs 1 graph, 14 ops forward and backward; at most 80.0 KiB at once in one of them
"""


def test_the_verdict_of_each_part_stands_at_the_top_in_one_line_and_leads_to_it(sample: BeautifulSoup) -> None:
    links = sample.select(".verdicts a")
    assert [" ".join(link.get_text(" ").split()) for link in links] == VERDICTS.splitlines()
    assert [str(link["href"]) for link in links] == [f"#{kind}" for kind in SECTIONS]
    assert all(sample.select_one(str(link["href"])) for link in links)


@pytest.mark.parametrize(
    ("section", "shown"),
    [
        (
            "#violations",
            "/home/me/project/model.py:12 aten.mm.default float32[4, 3] dimension 1 is 3: not a multiple of 16",
        ),
        ("#violations", "forward, 2 times"),
        ("#violations", "float32[s77, 3]"),
        ("#op_support", "1 ops fall back to the host 2 partitions 7 transfers, 6.0 KiB 2 if it had every op, 1.5 KiB"),
        ("#op_support", "unsupported-op the device has no aten.erf.default"),
        ("#op_support", "0 backward 2 3 1 4 3 2 1.1 KiB"),
        ("#breaks", "GB0170 Data-dependent branching /home/me/project/model.py:21 if x.sum() > 0:"),
        ("#breaks", "Use `torch.cond` to express dynamic control flow."),
        ("#breaks", "/home/me/project/train.py:40 in main model(x)"),
        ("#numerics", "output.logits float32[4, 3] differs 0.25 0.021 inf 0.072 8388608 1 8.333 %"),
        ("#numerics", "'a' instead of 'b'"),
        ("#numerics", "faulty itself varies from one run to the next: output.logits"),
        ("#guards", "tried, and it helps: let dimension 0 of x vary (before the first call)"),
        ("#guards", "torch._dynamo.mark_dynamic(x, 0)"),
        ("#guards", "2 about the state of torch."),
        ("#guards", "torch then gave up, and runs the function without compiling it: recompile_limit (8)"),
        ("#minified", "Run in a process of its own, it fails in the same way."),
        ("#minified", "x = torch.ones(3)"),
        ("#bench", "inductor 800 µs 720 µs – 960 µs 2.50× 5000/s 21.5 s / – 11.8 MiB 12.5% 50.0% 1 / 0 – equal"),
        ("#bench", "aot failed: it hung"),
        ("#break_cost", "16 17 4.2 ms 2 ms 4.20× 200 µs"),
        (
            "#graphs",
            "0 forward 14 7 aten.mm.default 3, aten.t.default 2, aten.add.Tensor 1 4 2 4.0 KiB 80.0 KiB float32",
        ),
        ("#graphs", 'def forward(self, x: "f32[4, 8]"):'),
        ("#graphs", "forward: output_code.py import torch"),
        ("#environment", "torch 2.13.0 Python 3.11"),
        ("#environment", "device file npu.yml"),
    ],
)
def test_a_part_shows_what_its_document_says(sample: BeautifulSoup, section: str, shown: str) -> None:
    assert "".join(shown.split()) in "".join(text_of(sample, section).split())


def test_the_program_s_own_line_is_quoted_if_the_file_is_as_it_was(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import torch\n    y = x @ w  # here\n")
    document = sample_documents()["violations.json"]
    for violation in document["violations"]:
        violation["source"] = f"{program}:2"
    run = RunFolder.create("check", home=tmp_path / "home")
    written = run.write_json("violations.json", document)
    assert text_of(page(run), "#violations .code-line code") == "y = x @ w # here"
    os.utime(program, (written.stat().st_mtime + 1,) * 2)
    assert page(run).select("#violations .code-line code") == []


def test_findings_that_differ_in_their_shapes_alone_are_folded_and_the_most_frequent_comes_first(
    run: RunFolder,
) -> None:
    document = sample_documents()["violations.json"]
    first = document["violations"][0]

    def violation(size: int, **other: Any) -> dict[str, Any]:
        return {**first, "shape": [4, size], "message": f"dimension 1 is {size}: not a multiple of 16", **other}

    found = [violation(3), *[violation(5)] * 3, violation(7), violation(7, dtype="float16")]
    found += [violation(9, source="/home/me/project/model.py:2")]
    run.write_json("violations.json", {**document, "violations": found})
    lines = page(run).select("#violations .at-line")
    assert [line.select_one(".location").get_text() for line in lines] == [  # type: ignore[union-attr]
        "/home/me/project/model.py:12",
        "/home/me/project/model.py:2",
    ]
    shown = [" ".join(each.get_text(" ").split()) for each in lines[0].select(".at-line > .findings > li")]
    assert shown == [
        "aten.mm.default float32[4, 5] dimension 1 is 5: not a multiple of 16 forward, 3 times 2 more like this "
        "aten.mm.default float32[4, 3] dimension 1 is 3: not a multiple of 16 forward "
        "aten.mm.default float32[4, 7] dimension 1 is 7: not a multiple of 16 forward",
        "aten.mm.default float16[4, 7] dimension 1 is 7: not a multiple of 16 forward",
    ]


def test_an_op_s_reasons_that_differ_in_numbers_alone_are_one(run: RunFolder) -> None:
    document = sample_documents()["op_support.json"]
    document["ops"][0]["reasons"] = [
        {"rule": "shape-alignment", "message": f"dimension 1 is {size}", "count": size} for size in (9, 5, 3)
    ]
    run.write_json("op_support.json", document)
    assert "shape-alignment dimension 1 is 9 (9 times) and 8 more like this" in text_of(page(run), "#op_support")


def test_values_and_pictures_come_in_the_order_of_their_errors_and_layers_alike_are_one_row(run: RunFolder) -> None:
    document = sample_documents()["numerics.json"]
    good, *_, bad, words = document["leaves"]

    def leaf(name: str, error: object) -> dict[str, Any]:
        return {**bad, "name": name, "comparison": {**bad["comparison"], "max_absolute_error": error}}

    errors = {"layers.0.up": 0.1, "layers.1.up": 0.3, "layers.10.up": 0.2, "head": "nan", "layers.1.down": 0.25}
    leaves = [good, *(leaf(name, error) for name, error in errors.items()), words]
    pictures = [f"{name}.png" for name in sorted(errors)]
    run.write_json("numerics.json", {**document, "leaves": leaves, "pictures": [*pictures, "summary.png"]})
    for name in pictures:
        run.write_bytes(f"numerics/{name}", PIXEL)
    soup = page(run)
    table, more = soup.select("#numerics table")
    names = [" ".join(row.get_text(" ").split()) for row in table.select("tbody th")]
    assert names == ["head", "output.note", "layers.1.up and 2 more like this", "layers.1.down", "output[0]"]
    assert [row.get_text() for row in more.select("tbody th")] == ["layers.10.up", "layers.0.up"]
    assert [caption.get_text() for caption in soup.select("#numerics figcaption")] == [
        *("summary", "head", "layers.1.up", "layers.1.down", "layers.10.up", "layers.0.up"),
    ]


def test_a_picture_that_is_too_large_is_named(run: RunFolder) -> None:
    run.write_bytes("numerics/output.png", PIXEL + b" " * 400_000)
    soup = page(run)
    assert "too large to be shown here: it is in the run's folder, as numerics/output.png" in text_of(soup, "#numerics")
    assert len(soup.select("#numerics img")) == 1


def test_recompiles_and_breaks_come_the_worst_first(run: RunFolder) -> None:
    documents = sample_documents()
    recompile = documents["guards.json"]["recompiles"][0]
    recompiles = [{**recompile, "function": name, "count": count} for name, count in (("rare", 1), ("often", 9))]
    run.write_json("guards.json", {**documents["guards.json"], "recompiles": recompiles})
    first = documents["breaks.json"]["breaks"][0]
    breaks = [{**first, "source": f"m.py:{count}", "kind": kind, "count": count} for kind, count in KINDS]
    run.write_json("breaks.json", {**documents["breaks.json"], "breaks": breaks})
    soup = page(run)
    assert [title.get_text().split()[0] for title in soup.select("#guards article h3")] == ["often", "rare"]
    shown = [article.select(".small")[0].get_text() for article in soup.select("#breaks article")]
    assert [text.partition(";")[0] for text in shown] == ["fatal", "resumed, 7 times", "resumed, 2 times"]


KINDS = (("resumed", 2), ("fatal", 1), ("resumed", 7))

CHECKED = "checked against the device's limits"
COMPARED = "compared op by op"


@pytest.mark.parametrize(
    ("without", "told"),
    [
        ((), f"were not {CHECKED}, and not {COMPARED}."),
        (("violations.json",), f"were not {COMPARED}."),
        (("numerics.json",), f"were not {CHECKED}."),
        (("violations.json", "numerics.json"), ""),
        (("breaks.json",), ""),
    ],
)
def test_a_model_with_breaks_is_told_once_what_was_not_checked(
    run: RunFolder, without: tuple[str, ...], told: str
) -> None:
    for file in without:
        (run.path / file).unlink()
    text = page(run).get_text()
    assert text.count("Ops outside of graphs (at a break, or in Python between two graphs)") == bool(told)
    assert told in text


@pytest.mark.parametrize("where", ["/dev/zero:1", "/etc/passwd:1", "x.py:0", "x.py:99999999999999999999", ":", ""])
def test_a_source_that_is_no_line_of_a_program_is_only_named(tmp_path: Path, where: str) -> None:
    document = sample_documents()["violations.json"]
    document["violations"][0]["source"] = where
    run = RunFolder.create("check", home=tmp_path)
    run.write_json("violations.json", document)
    assert page(run).select("#violations .code-line code") == []


def test_a_break_is_linked_to_its_page_and_to_no_other_address(run: RunFolder) -> None:
    site = "https://meta-pytorch.github.io/compile-graph-break-site"
    assert [str(link["href"]) for link in page(run).select("#breaks a")] == [f"{site}/gb/gb0170.html"]
    document = sample_documents()["breaks.json"]
    document["breaks"][0] |= {"gb_id": "javascript:alert(1)", "link": "javascript:alert(1)"}
    run.write_json("breaks.json", document)
    assert page(run).select("#breaks a") == []


def test_an_id_of_more_than_four_digits_has_its_link_too(run: RunFolder) -> None:
    document = sample_documents()["breaks.json"]
    document["breaks"][0] |= {"gb_id": "GB12345"}
    run.write_json("breaks.json", document)
    (link,) = page(run).select("#breaks a")
    assert str(link["href"]) == "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb12345.html"


def test_a_line_that_broke_again_when_it_was_compiled_again_is_one_break(run: RunFolder) -> None:
    document = sample_documents()["breaks.json"]
    document["breaks"] = [document["breaks"][0], {**document["breaks"][0], "message": "with another tensor"}]
    run.write_json("breaks.json", document)
    soup = page(run)
    assert text_of(soup, ".verdicts [href='#breaks']") == "! Graph breaks 1 break: GB0170"
    assert "resumed, 4 times" in text_of(soup, "#breaks article")
    assert len(soup.select("#breaks article")) == 1


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/home/me/venv/lib/site-packages/somebodys/model.py", "…/somebodys/model.py"),
        ("FOLDER/way/model.py", "way/model.py"),
        ("/home/me/elsewhere/model.py", "/home/me/elsewhere/model.py"),
    ],
)
def test_paths_in_a_verdict_are_short(run: RunFolder, path: str, shown: str) -> None:
    document = sample_documents()["numerics.json"]
    path = path.replace("FOLDER", str(run.path.parent.parent))
    document["cause"] = [f"In graph 1 the first op that is computed wrongly is gelu (op 3, {path}:15)"]
    run.write_json("numerics.json", document)
    assert text_of(page(run), ".verdicts [href='#numerics']").endswith(f"gelu (op 3, {shown}:15)")


@pytest.mark.parametrize("kind", SECTIONS)
def test_a_part_appears_only_if_its_document_is_there(run: RunFolder, kind: str) -> None:
    (run.path / (DOCUMENTS.get(kind) or "graphs/0000/graph.json")).unlink()
    text = rendered(run)
    assert sections(text) == {*SECTIONS, "environment"} - {kind}
    assert "Not in this run:" in text


@pytest.mark.parametrize("kind", SECTIONS)
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "its document can't be read: not JSON"),
        ('{"kind": "other", "schema": 1}', "its document can't be read: not a document of kind"),
        (
            '{"kind": "%s", "schema": 7}',
            "written by a newer version (schema 7; this one reads up to 1); update this one",
        ),
        ('{"kind": "%s", "schema": 1}', "its document is damaged (KeyError"),
    ],
)
def test_a_damaged_document_is_named_and_the_other_parts_are_shown(
    run: RunFolder, kind: str, content: str, told: str
) -> None:
    file = DOCUMENTS.get(kind) or "graphs/0000/graph.json"
    run.write_text(file, content.replace("%s", kind if kind in DOCUMENTS else "graph"))
    text = rendered(run)
    assert told.removeprefix("its document ") in html.unescape(text)
    assert sections(text) >= {*SECTIONS, "environment"} - {kind}


def _spoilt(value: Any) -> list[Any]:
    """The document with one thing in it of another type, for each thing in it."""
    if isinstance(value, dict):
        return [{**value, key: each} for key, inner in value.items() for each in _spoilt(inner)]
    if isinstance(value, list) and value:
        return [[each, *value[1:]] for each in _spoilt(value[0])] + [None, [None]]
    return [[], {"a": []}] if isinstance(value, str) else ["text", None]


@pytest.mark.parametrize("file", sample_documents())
def test_whatever_is_wrong_inside_a_document_the_report_is_written(tmp_path: Path, file: str) -> None:
    run = RunFolder.create("report", home=tmp_path)
    document = sample_documents()[file]
    kept = {"kind": document["kind"], "schema": 1}
    spoilt = [{**each, **kept} for each in _spoilt(document)]
    assert len(spoilt) > 10
    for each in spoilt:
        run.write_json(file, each)
        contents = read_contents(run)
        assert "</html>" in render_report(contents)
        assert "</html>" in render_reports([contents], {}, tmp_path)
        join_documents(contents)


def test_a_part_that_failed_says_so(run: RunFolder) -> None:
    (run.path / "numerics.json").unlink()
    run.write_json("failures.json", {"kind": "failures", "schema": 1, "failures": {"numerics": "it hung"}})
    soup = page(run)
    assert text_of(soup, ".verdicts [href='#numerics']") == "✗ Numerics failed: it hung"
    assert text_of(soup, "#numerics .warning") == "failed: it hung"


def test_a_run_that_holds_nothing_is_a_page_all_the_same(tmp_path: Path) -> None:
    soup = page(RunFolder.create("check", home=tmp_path))
    assert "This run holds nothing to report." in soup.get_text()
    assert "Device limits, Op support, Graph breaks, Graphs ( graphbreak check )" in text_of(soup, "main")


def test_a_failure_that_could_not_be_minified_is_told(run: RunFolder) -> None:
    document = {**sample_documents()["minified.json"], "failure": None, "unknown": ["numeric: it hung"]}
    run.write_json("minified.json", document)
    told = "something fails, and was not minified: numeric: it hung"
    assert text_of(page(run), ".verdicts [href='#minified']") == f"! Smallest program {told}"


@pytest.mark.parametrize(
    ("median", "passed", "told"),
    [
        (0.001, True, "· Benchmark inductor is 2.00 times as fast as eager on model.py:make_model"),
        (
            0.003,
            True,
            "· Benchmark nothing is faster than eager; inductor takes 1.50 times as long on model.py:make_model",
        ),
        (
            0.002,
            False,
            "✗ Benchmark inductor is 1.00 times as fast as eager on model.py:make_model; numbers differ from "
            "eager's in 1 row",
        ),
    ],
)
def test_the_best_backend_is_told_against_eager(run: RunFolder, median: float, passed: bool, told: str) -> None:
    document = sample_documents()["bench.json"]
    eager, inductor, _ = document["rows"]
    inductor["latency"]["median"], inductor["numerics"]["passed"] = median, passed
    run.write_json("bench.json", {**document, "rows": [eager, inductor]})
    assert text_of(page(run), ".verdicts [href='#bench']") == told


def test_without_findings_every_verdict_is_good(tmp_path: Path) -> None:
    run = RunFolder.create("report", home=tmp_path, subject="model.py:make_model")
    documents = sample_documents()
    documents["violations.json"]["violations"] = []
    documents["breaks.json"]["breaks"] = []
    documents["op_support.json"]["ops"] = documents["op_support.json"]["ops"][1:]
    documents["guards.json"]["recompiles"] = []
    documents["minified.json"]["failure"] = None
    documents["numerics.json"] |= {"passed": True, "verdict": "inductor equals eager in 2 values", "test_varies": {}}
    for name in ("violations", "breaks", "op_support", "guards", "minified", "numerics"):
        run.write_json(f"{name}.json", documents[f"{name}.json"])
    assert {str(each["class"][0]) for each in page(run).select(".verdicts li")} == {"works"}


@pytest.mark.parametrize("text", [str, hostile])
def test_the_page_is_valid_html(tmp_path: Path, text: Any) -> None:
    """Strictly: a control character, a stray tag or a quote too many is an error."""
    written = rendered(write_sample_run(tmp_path, text))
    html5lib.HTMLParser(strict=True).parse(written.encode("utf-8"))


def test_hostile_text_is_text(tmp_path: Path) -> None:
    written = rendered(write_sample_run(tmp_path, hostile))
    soup = BeautifulSoup(written, "html5lib")
    assert soup.find_all(["script", "iframe", "object", "embed", "link", "base", "form"]) == []
    assert [tag for tag in soup(True) if any(name.startswith("on") for name in tag.attrs)] == []
    assert len(soup.find_all("style")) == 1
    assert {str(tag["src"]).partition(",")[0] for tag in soup.find_all("img")} <= {
        "data:image/png;base64",
        "data:image/svg+xml;base64",
    }
    assert {
        str(tag["href"]).partition("/compile-")[0] for tag in soup("a") if not str(tag["href"]).startswith("#")
    } == {"https://meta-pytorch.github.io"}
    text = soup.get_text()
    assert "<script>document.title='owned'</script><img src=x onerror=alert(1)>" in text
    assert "{{ 7*7 }} {% raw %} &amp; \\x1b[31m \\x00 \\u202e \\ud800 \\U0001fffe" in text
    assert re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", written) is None


def test_the_page_forbids_everything_but_its_own_style_and_pictures(run: RunFolder) -> None:
    policy = page(run).select_one("meta[http-equiv=Content-Security-Policy]")
    assert policy is not None
    rules = dict(rule.strip().partition(" ")[::2] for rule in str(policy["content"]).split(";"))
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", rules.pop("style-src"))
    assert rules == {"default-src": "'none'", "img-src": "data:", "form-action": "'none'", "base-uri": "'none'"}


def test_the_same_run_gives_the_same_bytes(run: RunFolder) -> None:
    assert rendered(run) == rendered(run)


def test_a_page_is_the_same_from_every_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    run = write_sample_run(project / ".graphbreak", lambda text: text.replace("/home/me/project", str(project)))
    (project / "model.py").write_text("x = 1\n" * 30)
    os.utime(project / "model.py", (0, 0))
    document = run.read_json("violations.json")
    document["violations"][0]["source"] = "model.py:3"
    run.write_json("violations.json", document)
    monkeypatch.chdir(project)
    pages = [rendered(run), rendered(find_run(f"../project/.graphbreak/{run.id}"))]
    monkeypatch.chdir(tmp_path)
    pages += [rendered(run), rendered(RunFolder(run.path.relative_to(tmp_path)))]
    assert set(pages) == {pages[0]}
    soup = BeautifulSoup(pages[0], "html.parser")
    shown = {place.get_text() for place in soup.select("#violations .location")}
    assert shown == {"model.py:3", "model.py:12", "model.py:7", "model.py:15"}
    assert str(project) not in soup.get_text()


def test_the_site_and_the_report_have_their_look_from_one_file(run: RunFolder) -> None:
    look = (ROOT / "registry" / "look.css").read_text("utf-8")
    assert read_stylesheet() == look
    assert (ROOT / "docs" / "assets" / "css" / "look.css").read_text("utf-8") == look
    style = page(run).style
    assert style is not None
    assert str(style.string).startswith(look)
    layout = (ROOT / "docs" / "_layouts" / "default.html").read_text("utf-8")
    assert layout.index("/assets/css/look.css") < layout.index("/assets/css/style.css")


@pytest.mark.parametrize(
    "sheet", ["docs/assets/css/style.css", "docs/assets/css/lists.css", "repro_runner/report/templates/report.css"]
)
def test_no_other_stylesheet_has_colours_of_its_own(sheet: str) -> None:
    text = (ROOT / sheet).read_text("utf-8")
    assert (
        re.findall(r"#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch)a?\(|^\s*--[\w-]+:", text, re.MULTILINE | re.IGNORECASE) == []
    )
    defined = set(re.findall(r"(--[\w-]+):", read_stylesheet()))
    assert set(re.findall(r"var\((--[\w-]+)", text)) <= defined


def test_files_that_are_too_large_stay_in_the_run_s_folder(run: RunFolder) -> None:
    run.write_text("graphs/0000/forward.txt", "x" * 500_000)
    run.write_text("graphs/0000/forward.svg", DRAWING + " " * 500_000)
    soup = page(run)
    told = text_of(soup, "#graphs")
    assert "Too large to be shown here (488.3 KiB): it is in the run's folder, as graphs/0000/forward.txt" in told
    assert "The drawing is too large to be shown here: it is in the run's folder, as graphs/0000/forward.svg" in told
    assert len(soup.select(".drawing img")) == 2


@pytest.mark.slow
def test_many_files_do_not_make_a_page_that_no_browser_opens(run: RunFolder) -> None:
    for number in range(1, 40):
        run.write_json(
            f"graphs/{number:04d}/graph.json", {**sample_documents()["graphs/0000/graph.json"], "index": number}
        )
        run.write_text(f"graphs/{number:04d}/forward.txt", "x" * 390_000)
    assert 5_000_000 < len(rendered(run)) < 12_000_000


def test_nothing_outside_the_run_s_folder_is_shown(run: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\nsecret")
    (tmp_path / "secret.txt").write_text("secret")
    documents = sample_documents()
    documents["numerics.json"]["pictures"] = ["../../secret.png", str(tmp_path / "secret.png"), "link.png"]
    documents["minified.json"]["script"] = "../secret.txt"
    documents["graphs/0000/graph.json"]["inductor"] = {
        "../../..": ["secret.txt"],
        "forward": ["../../../../secret.txt"],
    }
    for name, document in documents.items():
        run.write_json(name, document)
    (run.path / "numerics" / "link.png").symlink_to(tmp_path / "secret.png")
    (run.path / "graphs" / "0000" / "forward.txt").unlink()
    (run.path / "graphs" / "0000" / "forward.txt").symlink_to(tmp_path / "secret.txt")
    soup = page(run)
    assert [pre for pre in soup("pre") if "secret" in pre.get_text()] == []
    assert soup.select("#numerics img") == []


def test_the_joined_document_holds_every_document(run: RunFolder) -> None:
    joined: dict[str, Any] = {**join_documents(read_contents(run))}
    assert (joined["kind"], joined["schema"]) == ("report", 1)
    assert joined["run"]["id"] == run.id
    assert joined["run"]["subject"] == "model.py:make_model"
    assert not joined["run"].keys() & {"pid", "host"}
    documents = sample_documents()
    graph = documents.pop("graphs/0000/graph.json")
    assert joined["graphs"] == [graph]
    assert {kind: joined[kind] for kind in DOCUMENTS} == {document["kind"]: document for document in documents.values()}


# On the command line


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRAPHBREAK_HOME", str(tmp_path))
    return tmp_path


def test_a_run_s_report_is_written_into_its_folder_and_its_path_is_printed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_sample_run(home)
    for arguments in ([], [run.id], [run.id[:20]], [str(run.path)]):
        assert main(["report", *arguments]) == 0
        assert capsys.readouterr().out == f"{run.path / 'report.html'}\n"
    assert (run.path / "report.html").read_text("utf-8") == rendered(run)
    assert main(["report", "--format", "json"]) == 0
    assert capsys.readouterr().out == f"{run.path / 'report.json'}\n"
    assert json.loads((run.path / "report.json").read_bytes()) == join_documents(read_contents(run))


def test_a_report_of_hostile_text_can_be_written_as_html_and_as_json(home: Path) -> None:
    run = write_sample_run(home, hostile)
    assert main(["report"]) == main(["report", "--format", "json"]) == 0
    assert json.loads((run.path / "report.json").read_bytes())["run"]["subject"] == hostile("model.py:make_model")


def test_a_report_can_be_written_elsewhere(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_sample_run(home)
    assert main(["report", "--out", str(home / "mine.html")]) == 0
    assert capsys.readouterr().out == f"{home / 'mine.html'}\n"
    assert main(["report", "--out", str(home / "none" / "mine.html")]) == 2
    assert "mine.html: No such file or directory; name another file with --out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nothing"], "nothing: no such run; `graphbreak artifacts list` shows the runs there are"),
        (["--bench"], "--bench: only with MODEL.py:FUNCTION; a run is shown as it is"),
        (["--seed", "1", "--device", "cuda"], "--device, --seed: only with MODEL.py:FUNCTION"),
    ],
)
def test_bad_arguments_are_told(
    home: Path, arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_sample_run(home)
    try:
        code: object = main(["report", *arguments])
    except SystemExit as ended:
        code = ended.code
    assert code == 2
    assert told in capsys.readouterr().err


def test_a_run_whose_manifest_can_not_be_read_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_sample_run(home)
    run.write_text("run.json", '{"kind": "run", "schema": 9}')
    assert main(["report"]) == 2
    assert "run.json: written by a newer version (schema 9" in capsys.readouterr().err
    with pytest.raises(InvalidInput):
        read_contents(run)


def test_a_full_disk_is_one_clear_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_sample_run(home)
    with on_small_disk(home, kilobytes=160):
        (home / "filler").write_bytes(b"x" * 40_000)
        assert main(["report", run.id]) == 2
        assert "report.html: No space left on device; make room, or set GRAPHBREAK_HOME" in capsys.readouterr().err
        assert not (run.path / "report.html").exists()
