"""The paste box names what Python names: the same messages, cut and read alike by Node and by registry.matching."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.advice import Advisor, advice_of
from registry.ids import linked_ids
from registry.matching import Match, Matcher
from registry.merge import merge_registry
from registry.messages import ParsedMessage, split_lines
from registry.model import Registry
from registry.templates import ANYTHING, mark_placeholders
from sitegen.answers import render_answers
from sitegen.by_release import choices
from sitegen.facets import STATUSES
from sitegen.paste import render_paste
from tests.conftest import ROOT
from tests.registry.test_advice import REASONS
from tests.registry.test_forms import COPIED, RECORDED
from tests.registry.test_matching import HEADER, ITEM, LINK, WORST, committed, filled, matcher, message
from tests.registry.test_single_lines import lines_of_wordings
from tests.samples import HOSTILE, knowledge, release, revision, site
from tests.scheduling import sampled
from tests.tools import json_of, run_node

pytestmark = pytest.mark.slow

SCRIPTS = ROOT / "templates" / "scripts"
EXAMPLE = ROOT / "templates" / "example-log.txt"
LOGS = [EXAMPLE, *sorted((ROOT / "tests" / "browser" / "fixtures").glob("*.log"))]

ASK = """
import { readFileSync } from "node:fs";
const [matching, data] = process.argv.slice(-2);
const { Matcher } = await import(matching);
const matcher = new Matcher(JSON.parse(readFileSync(data, "utf8")));
const texts = JSON.parse(readFileSync(0, "utf8"));
const ask = (text) => [matcher.matchMessage(text), [...matcher.findMessages(text)], matcher.nameText(text)];
const answers = texts.map(ask);
process.stdout.write(JSON.stringify(answers));
"""


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wordings of the committed registry, as the page would fetch them."""
    return write_data(committed(), tmp_path_factory.mktemp("wordings"))


def write_data(registry: Registry, folder: Path) -> Path:
    path = folder / "wordings.json"
    path.write_text(json_of(render_paste(registry)["assets/data/wordings.js"]), "utf-8")
    answers = render_answers(registry, advice_of(registry))["assets/data/answers.js"]
    (folder / "answers.json").write_text(json_of(answers), "utf-8")
    return path


def in_node(texts: list[str], data: Path) -> Any:
    matching = (SCRIPTS / "matching.js").as_uri()
    return json.loads(run_node(ASK, matching, str(data), stdin=json.dumps(texts)))


def in_python(texts: list[str], named_by: Matcher | None = None) -> Any:
    found = named_by or matcher()
    answers = [
        [
            _as_javascript(match) if (match := found.match_message(text)) else None,
            [_as_javascript(one) for one in found.find_messages(split_lines(text))],
            [_as_javascript(one) for one in found.name_text(text)],
        ]
        for text in texts
    ]
    return json.loads(json.dumps(answers))


def _as_javascript(match: Match) -> dict[str, Any]:
    form = match.form
    fields = form and {"gbIds": form.gb_ids, "slug": form.slug, "gone": form.gone, "releases": form.releases}
    return {
        **({"form": fields} if fields else {}),
        "gbIds": match.gb_ids,
        "how": match.how,
        "message": _message(match.message),
        "line": match.line,
        "causes": [_as_javascript(cause) for cause in match.causes],
    }


def _message(said: ParsedMessage) -> dict[str, Any]:
    return {
        "gbType": said.gb_type,
        "explanation": said.explanation,
        "hints": said.hints,
        "context": said.context,
        "link": said.link,
        "higherOrderOperator": said.higher_order_operator,
        "location": said.location,
        "function": said.function,
        "source": said.source,
        "text": said.text,
        "causes": [_message(cause) for cause in said.causes],
    }


def check_alike(texts: list[str], data: Path) -> list[list[dict[str, Any]]]:
    """Both languages answer alike; return what they found in each text."""
    found = in_python(texts)
    for text, python, node in zip(texts, found, in_node(texts, data), strict=True):
        assert node == python, text
    return [messages for _, messages, _ in found]


def ids(messages: list[dict[str, Any]]) -> set[str]:
    """All ids, those of causes too."""
    return {gb_id for one in messages for gb_id in (*one["gbIds"], *ids(one["causes"]))}


# --- what torch printed ---------------------------------------------------------------------------------------------


@cache
def captured() -> list[str]:
    """Every message in the evidence, as torch prints it at the end of a traceback."""
    texts: dict[str, None] = {}
    for path in sorted((ROOT / "registry" / "evidence").glob("*.json")):
        for record in json.loads(path.read_text("utf-8"))["records"].values():
            for run in record["runs"].values():
                texts[run.get("message", "")] = None
    return [f"torch._dynamo.exc.Unsupported: {text}" for text in texts if text]


@pytest.mark.slow
@pytest.mark.prove
def test_every_captured_message_is_named_alike_with_and_without_its_link(data: Path) -> None:
    texts = captured()
    unlinked = ["\n".join(line for line in text.split("\n") if "/gb/" not in line) for text in texts]
    found = check_alike(texts + unlinked, data)
    assert len(texts) > 400
    assert sum(1 for messages in found if ids(messages)) > 0.98 * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("part", sampled(4))
def test_every_wording_with_its_placeholders_filled_is_named_alike(data: Path, part: int) -> None:
    choose = random.Random(4)
    wordings = [dated.revision for gb in committed() for dated in gb.revisions][part::4]
    texts = [message(wording, choose, with_type=with_type) for wording in wordings for with_type in (True, False)]
    texts += [_only_filled(text, choose) for wording in wordings for text in (wording.explanation, wording.context)]
    check_alike(texts, data)


def _only_filled(text: str, choose: random.Random) -> str:
    pieces = mark_placeholders(text).split(ANYTHING)
    return "".join(piece + choose.choice(("", "x", "a b")) * (at < len(pieces) - 1) for at, piece in enumerate(pieces))


@pytest.mark.parametrize("log", sampled(LOGS, 2), ids=lambda log: log.stem)
def test_a_recorded_log_is_read_alike_however_it_reached_the_page(log: Path, data: Path) -> None:
    text = log.read_text("utf-8")
    lines = text.split("\n")
    forms = [
        text,
        "\r\n".join(lines),
        "\r".join(lines),
        "\n".join(line.strip() for line in lines),
        "\n".join(f"\x1b[33m{line}\x1b[0m" for line in lines),
        "\n".join(line.replace("[__graph_breaks]   ", "[__graph_breaks] \x1b[1m  ") for line in lines),
        "\n".join(f"E   {line}" for line in lines),
        "\n".join(f"2026-01-01T00:00:00.0000000Z {line}" for line in lines),
        "\n".join(f"[rank3]: {line}" for line in lines),
        "\n".join(f"> {line}" for line in lines),
        "\ufeff" + text,
        json.dumps(text),
    ]
    found = check_alike(forms, data)
    assert all(ids(messages) == ids(found[0]) != set() for messages in found)


@pytest.mark.slow
def test_random_cuts_and_interleavings_of_logs_are_read_alike(data: Path) -> None:
    choose = random.Random(5)
    logs = [log.read_text("utf-8") for log in LOGS]
    texts = []
    for _ in range(60):
        text = choose.choice(logs)
        start = choose.randrange(len(text))
        texts.append(text[start : start + choose.randrange(8000)])
        one, other = (choose.choice(logs).split("\n") for _ in range(2))
        texts.append("\n".join(_interleaved(one[: choose.randrange(120)], other[: choose.randrange(120)], choose)))
    assert sum(1 for messages in check_alike(texts, data) if messages) > 60


def _interleaved(one: list[str], other: list[str], choose: random.Random) -> Iterator[str]:
    queues = [list(reversed(one)), list(reversed(other))]
    while any(queues):
        queue = choose.choice([queue for queue in queues if queue])
        for _ in range(min(len(queue), choose.randrange(1, 5))):
            yield queue.pop()


# --- what anybody may paste -----------------------------------------------------------------------------------------

SPACES = "\t\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff\u200b\u180e"
PIECES = [
    *ITEM.split("\n"), *LINK.split("\n"), *HOSTILE, *WORST, *SPACES, HEADER, HEADER.replace("5873", "5874"), "", "",
    "*** While handling this graph break, another graph break occurred: ***", "from user code:", "User code traceback:",
    '  File "/a b/ü.py", line 3, in f', "Graph break in user code at /a b.py:3",
    "Graph break in user code at a\u2028b:3",
    "Graph Break Reason: x:", "Graph Break Reason: Data-dependent branching", "Higher Order Operator: torch.cond",
    "Traceback (most recent call last):", "torch._dynamo.exc.Unsupported: nobody knows", "  Reason: y", "Hint: z",
    "🙂" * 1001 + HEADER, "🙂" * 900 + HEADER, "x" * 990 + "Graph Break Reason: late", "a\rb", "\x1b[1mbold\x1b[0m",
    "a /gb/gb0124.html b /GB/GB0170.HTML c", "<img src=x onerror=alert(1)> /gb/gb0001.html", "javascript:alert(1)",
    "only in capitals: /GB/GB0170.HTML",
]  # fmt: skip


def hostile_texts() -> list[str]:
    choose = random.Random(6)
    mixed = [
        "\n".join(
            choose.choice(("", "", "  ", *SPACES, "E   ", "[rank1]: "))
            + choose.choice(PIECES)
            + choose.choice(("", *SPACES))
            for _ in range(choose.randrange(40))
        )
        for _ in range(400)
    ]
    return [*PIECES, *mixed, *(word * 3000 for word in WORST), *(f"Explanation: {word * 3000}" for word in WORST)]


@pytest.mark.prove
@pytest.mark.slow
def test_hostile_text_is_read_alike(data: Path) -> None:
    found = check_alike(hostile_texts(), data)
    assert sum(map(len, found)) > 300


def test_more_records_at_once_than_are_followed_are_read_alike(data: Path) -> None:
    lines = [
        HEADER.replace("5873", str(process)) + line
        for line in (ITEM + LINK).split("\n")
        for process in range(1000, 1070)
    ]
    (messages,) = check_alike(["\n".join(lines)], data)
    assert len(messages) >= 70


def test_a_message_longer_than_is_kept_and_one_with_many_interruptions_are_read_alike(data: Path) -> None:
    long = ITEM.replace("on two lines.", "\n".join(f"    line {number}" for number in range(2500)))
    head, tail = ITEM.split("\n\n")
    interrupted = ["\n".join([head, *["printed"] * lines, tail]) + LINK for lines in range(6, 12)]
    twice = [f"{head}\n" + "printed\n" * lines + "  Hint: h\n" + "printed\n" * lines + tail for lines in (5, 8)]
    found = check_alike([long, *interrupted, *twice], data)
    assert len(found[0][0]["message"]["text"].split("\n")) == 2001  # 2000, and the link or context that follows
    assert len({len(messages) for messages in found}) == 2


def test_types_without_an_id_and_ids_of_equal_weight_are_told_apart_alike(tmp_path: Path) -> None:
    shared = [revision("t", explanation="The very same explanation.")]
    known = knowledge(
        {"GB0001": shared, "GB0002": shared, "GB0003": shared},
        releases=[
            release("2.8.0", {"GB0001": shared, "GB0002": shared}),
            release("2.9.0", {"GB0003": shared}, [site("t", "GB0002"), site("t", "GB0003"), site("no id", None)]),
        ],
    )
    registry = merge_registry(known)
    body = "\n  Explanation: The very same explanation.\n\n  Developer debug context: c"
    texts = [f"no id{body}", f"reworded{body}", "t", "The very same explanation."]
    answers = in_python(texts, Matcher.from_registry(registry))
    assert in_node(texts, write_data(registry, tmp_path)) == answers
    assert [one["gbIds"] for one, *_ in answers] == [[], *[["GB0003", "GB0002", "GB0001"]] * 3]


@pytest.mark.slow
@settings(max_examples=8)
@given(
    texts=st.lists(st.lists(st.text(max_size=60) | st.sampled_from(PIECES), max_size=30).map("\n".join), min_size=30)
)
def test_any_text_is_read_alike(texts: list[str], data: Path) -> None:
    check_alike(texts, data)


# --- forms, single lines, posts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", sampled(COPIED))
def test_every_form_is_named_alike_however_it_was_copied(copied: str, data: Path) -> None:
    choose = random.Random(0)
    texts = [filled(form.text, choose) for form in committed().forms]
    marked = [f"torch._dynamo.exc.Unsupported: {text}" for text in texts]
    check_alike([COPIED[copied](text) for text in (texts if copied != "as it is" else [*texts, *marked])], data)


@pytest.mark.prove
def test_every_line_of_every_wording_is_looked_up_alike(data: Path) -> None:
    choose = random.Random(0)
    check_alike([filled(line, choose) for _, _, line in sorted(set(lines_of_wordings()))], data)


def test_public_posts_are_read_alike(data: Path) -> None:
    posts = [json.loads(line) for line in (ROOT / "benchmarks" / "posts.jsonl").read_text("utf-8").splitlines()]
    check_alike(["\n".join(post["lines"]) for post in posts], data)


def test_recorded_logs_of_three_releases_are_read_alike(data: Path) -> None:
    check_alike([path.read_text("utf-8") for path in sorted(RECORDED.glob("*-2.*.log"))], data)


ADVISE = """
import { readFileSync } from "node:fs";
const [script, data] = process.argv.slice(-2);
const { adviseFor } = await import(script);
const answers = JSON.parse(readFileSync(data, "utf8"));
const asked = JSON.parse(readFileSync(0, "utf8"));
const told = asked.map(([gbId, message]) => {
  const { fixes, counsels, misfit } = adviseFor(answers, gbId, message);
  return [fixes.map(({ name }) => name), counsels.map(({ text }) => text), misfit];
});
process.stdout.write(JSON.stringify(told));
"""


def test_the_fix_that_fits_is_chosen_alike(data: Path) -> None:
    registry = committed()
    advisor = Advisor(registry)
    ways_out = {category.key: category.way_out for category in registry.categories}
    samples = (
        "hash",
        "print",
        "time.time",
        "mylib.PyCapsule.kernel",
        "aten.nonzero.default",
        "vllm.ops.rotary",
        "manual_seed",
    )
    asked = [(gb_id, text) for text in captured() for gb_id in linked_ids(text)]
    named = [f"call_function BuiltinVariable({name}) trace the builtin `{name}.`" for name in samples]
    asked += [(gb_id, text) for gb_id in registry.fits for text in named]
    asked += [("GB0039", f"last reason: 0/7: {reason}") for reason in REASONS]
    expected = []
    for gb_id, said in asked:
        told = advisor.advise(gb_id, torch="", message=said)
        assert told is not None
        counsels = [one.text for one in told.counsels]
        if told.misfit and not counsels:
            counsels = [way for way in (ways_out.get(told.category.key),) if way]
        expected.append([[fix.name for fix in told.fixes], counsels, told.misfit])
    script = (SCRIPTS / "answers.js").as_uri()
    answers = str(data.with_name("answers.json"))
    assert json.loads(run_node(ADVISE, script, answers, stdin=json.dumps(asked))) == expected


# --- the report -----------------------------------------------------------------------------------------------------

REPORT = """
import { readFileSync } from "node:fs";
const [scripts, data] = process.argv.slice(-2);
const { Matcher } = await import(scripts + "matching.js");
const { makeReport } = await import(scripts + "log-report.js");
const wordings = JSON.parse(readFileSync(data, "utf8"));
const answers = JSON.parse(readFileSync(data.replace("wordings.json", "answers.json"), "utf8"));
const report = makeReport(readFileSync(0, "utf8"), new Matcher(wordings), wordings, answers);
process.stdout.write(JSON.stringify(report));
"""


def report_on(text: str, data: Path) -> Any:
    return json.loads(run_node(REPORT, f"{SCRIPTS.as_uri()}/", str(data), stdin=text))


def chain_of(found: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(one["gbId"] for one in step["candidates"]) for step in found["steps"])


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.stem)
def test_a_report_adds_up_what_python_finds(log: Path, data: Path) -> None:
    text = log.read_text("utf-8")
    found = matcher().name_text(text)
    report = report_on(text, data)
    assert (report["messages"], report["lines"]) == (len(found), text.count("\n"))
    counts = Counter(tuple(one.gb_ids for one in match.chain) for match in found)
    assert {chain_of(one): one["count"] for one in report["breaks"]} == counts
    for one in report["breaks"]:
        these = [match for match in found if tuple(step.gb_ids for step in match.chain) == chain_of(one)]
        assert one["line"] == min(match.line for match in these)
        places = Counter(match.message.location for match in these if match.message.location)
        assert {place["place"]: place["count"] for place in one["places"]} == places


def test_the_most_frequent_break_comes_first_and_equals_in_order_of_appearance(data: Path) -> None:
    text = "\n".join(f"/gb/gb{number}.html" for number in ("0003", "0002", "0001", "0002", "0004"))
    assert [chain_of(one) for one in report_on(text, data)["breaks"]] == [
        ((gb_id,),) for gb_id in ("GB0002", "GB0003", "GB0001", "GB0004")
    ]


def test_of_interleaved_records_the_one_that_starts_first_comes_first(data: Path) -> None:
    """Though it ends last: in what order messages end says nothing to a reader."""
    slow, quick = HEADER, HEADER.replace("5873", "5874")
    first, *rest = (ITEM + LINK).split("\n")
    branch = ["Graph Break Reason: Data-dependent branching", "  Explanation: e", "", "  Developer debug context: c"]
    lines = [
        slow + "Graph Break Reason: " + first,
        *(quick + line for line in branch),
        quick + "Traceback (most recent call last)",
    ]
    text = "\n".join([*lines, *(slow + line for line in rest)])
    assert [(chain_of(one), one["line"]) for one in report_on(text, data)["breaks"]] == [
        ((("GB0124",),), 1),
        ((("GB0170",),), 2),
    ]
    again = text.replace(quick + "Graph Break Reason: Data-dependent branching", quick + "Graph Break Reason: " + first)
    (one,) = report_on(again, data)["breaks"]
    assert (one["count"], one["line"]) == (2, 1)


def test_a_report_says_how_a_break_was_recognised_and_shows_its_page(data: Path) -> None:
    (one,) = report_on(ITEM + LINK + "\n\n\n" + ITEM, data)["breaks"]
    (step,) = one["steps"]
    assert step["hows"] == {"link": 1, "type": 1}
    (candidate,) = step["candidates"]
    assert (candidate["gbId"], candidate["page"]) == ("GB0124", "gb/gb0124.html")
    assert candidate["title"] == "Unsupported Tensor.item() call with capture_scalar_outputs=False"
    assert candidate["statusName"] == STATUSES[candidate["status"]]


def test_an_id_that_the_registry_lacks_is_listed_without_a_page(data: Path) -> None:
    (one,) = report_on("/gb/gb9998.html", data)["breaks"]
    assert one["steps"][0]["candidates"] == [
        {"gbId": "GB9998", "title": "", "status": "", "statusName": "", "page": ""}
    ]


def test_a_wording_that_several_ids_share_lists_them_all(data: Path) -> None:
    explanation = "Object does not allow us to make a weakref to it"
    text = f"t\n  Explanation: {explanation}\n\n  Developer debug context: user_object: x"
    (one,) = report_on(text, data)["breaks"]
    assert chain_of(one) == (("GB0276", "GB0283"),)
    assert one["steps"][0]["hows"] == {"wording": 1}


@pytest.mark.parametrize("text", ["Data-dependent branching", "\n  Data-dependent branching \n\n"])
def test_a_bare_title_is_found(text: str, data: Path) -> None:
    assert [chain_of(one) for one in report_on(text, data)["breaks"]] == [(("GB0170",),)]


def test_a_bare_explanation_is_found_but_not_in_a_text_too_long_to_be_one(data: Path) -> None:
    explanation = "Object does not allow us to make a weakref to it"
    assert report_on(explanation, data)["messages"] == 1
    assert report_on(explanation + " " * 100_000, data)["messages"] == 0


def test_messages_that_nobody_knows_are_kept_whole_and_counted(data: Path) -> None:
    long = "\n".join(f"    line {number}" for number in range(500))
    unknown = f"Brand new\n  Explanation: unheard of\n{long}\n\n  Developer debug context: c"
    report = report_on(f"{unknown}\n\n\nother\n" * 2 + "torch._dynamo.exc.Unsupported: of torch 2.6\n", data)
    assert report["breaks"] == []
    assert [(one["text"], one["count"]) for one in report["unknown"]] == [(unknown, 2), ("of torch 2.6", 1)]


@pytest.mark.parametrize("text", ["", "\n", "no break here", "Explanation: of something else"])
def test_a_text_without_a_break_gives_an_empty_report(text: str, data: Path) -> None:
    report = report_on(text, data)
    assert (report["messages"], report["breaks"], report["unknown"]) == (0, [], [])
    assert report["lines"] == len(text.splitlines())


def test_a_long_line_with_many_links_is_not_copied_for_each(data: Path) -> None:
    line = " ".join(f"/gb/gb{number:04}.html" for number in range(9999))
    report = report_on(line, data)
    assert report["messages"] == 9999
    assert sum(len(step["text"]) for one in report["breaks"] for step in one["steps"]) <= 9999 * 4000


@pytest.mark.slow
@pytest.mark.parametrize("word", sampled(WORST, 4))
def test_no_text_makes_the_reader_slow(word: str, data: Path) -> None:
    """Two megabytes in one line; what is not linear would outlast the limit on Node."""
    line = word * (2_000_000 // len(word))
    for text in (line, f"t\n  Explanation: {line}\n  Hint: {line}\n\n  Developer debug context: {line}"):
        assert report_on(text, data)["lines"] == text.count("\n") + 1


# --- the data -------------------------------------------------------------------------------------------------------


def test_the_data_is_the_same_every_time_and_has_a_line_for_every_id_and_wording() -> None:
    (text,) = render_paste(committed()).values()
    assert text == render_paste(committed())["assets/data/wordings.js"]
    content = json.loads(json_of(text))
    lines = text.split("\n")
    for row in (*content["breaks"], *content["wordings"]):
        assert json.dumps(row, ensure_ascii=False, separators=(",", ":")) in (line.rstrip(",") for line in lines)
    assert len(content["breaks"]) == len(committed())
    assert content["releases"] == list(choices(committed()))
    for gb_id, _, statuses in content["breaks"]:
        assert [list(STATUSES)[int(place)] for place in statuses] == [
            one.status_in(torch) for one in committed() if one.gb_id == gb_id for torch in content["releases"]
        ]


def test_no_recorded_log_holds_a_path_of_the_machine_that_made_it() -> None:
    for log in LOGS:
        paths = set(re.findall(r"(?<![\w.])/(?:[\w.-]+/)+[\w.-]*", re.sub(r"https?://\S+", "", log.read_text("utf-8"))))
        assert {path for path in paths if not path.startswith("/home/user/")} == set(), log


def test_recompiles_are_one_message_with_each_function_and_guard(data: Path) -> None:
    report = report_on((RECORDED / "recompiles-2.13.0.log").read_text("utf-8"), data)
    (recompiles,) = report["others"]
    assert (report["breaks"], recompiles["count"]) == ([], 3)
    assert recompiles["text"].splitlines() == [
        "1× scaled (/home/user/project/rec.py:2): n == 0",
        "1× scaled (/home/user/project/rec.py:2): n == 1",
        "1× other (/home/user/project/rec.py:7): flag == True",
    ]
