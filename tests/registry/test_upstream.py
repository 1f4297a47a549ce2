"""Dynamo's JSON <-> the model: what is taken, what is refused, and at which path."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import InvalidInput, Problem
from registry.model import Revision
from registry.snapshot import read_snapshot
from registry.upstream import MAX_CHARACTERS, check_shrink, dump_registry, parse_registry

GOOD = {"Gb_type": "Data-dependent branch", "Context": "if {x}", "Explanation": "It depends.", "Hints": ["Use where."]}


def problems_of(raw: bytes | str) -> list[str]:
    with pytest.raises(InvalidInput) as refusal:
        parse_registry(raw.encode() if isinstance(raw, str) else raw, "r.json")
    return [str(problem) for problem in refusal.value.problems]


def problems_of_revision(**changes: object) -> list[str]:
    return problems_of(json.dumps({"GB0001": [{**GOOD, **changes}]}))


def test_a_good_registry_becomes_revisions_in_file_order() -> None:
    old = {**GOOD, "Gb_type": "Older wording", "Hints": []}
    parsed = parse_registry(json.dumps({"GB0170": [GOOD, old], "GB0003": [GOOD]}).encode(), "r.json")
    new = Revision(gb_type="Data-dependent branch", context="if {x}", explanation="It depends.", hints=("Use where.",))
    assert list(parsed.wordings) == ["GB0170", "GB0003"]
    assert parsed.wordings["GB0170"][0] == new
    assert parsed.wordings["GB0170"][1].gb_type == "Older wording"
    assert parsed.warnings == ()


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "r.json: empty, not JSON"),
        (b"  \n", "r.json: empty, not JSON"),
        (b'{"GB0001": "caf\xe9"}', "r.json: not UTF-8: byte 0xe9 at offset 15"),
        (b"<!DOCTYPE html><title>Sign in</title>", "r.json: HTML, not JSON"),
        (b'{"GB0001": [,]}', "r.json: not JSON: line 1, column 13: Expecting value"),
        (b'{"GB0001":\n [{"Gb_ty', "line 2, column 4: Unterminated string starting at (it looks cut short)"),
        (b'{"GB0001": [', "(it looks cut short)"),
        (b"\xef\xbb\xbf{}", "BOM"),
        (b"[" * 100_000, "r.json: nested far too deep"),
        (b'{"GB0001": ' * 100_000, "r.json: nested far too deep"),
        (b"[]", "r.json: $: an array; it has to be an object"),
        (b"null", "r.json: $: null; it has to be an object"),
        (b'"GB0001"', "r.json: $: a string; it has to be an object"),
        (b"7", "r.json: $: a number; it has to be an object"),
        (b"9" * 5_000, "r.json: $: a number; it has to be an object"),
        (b"{}", "r.json: $: an empty object: no graph breaks in it"),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, bytes) else "",
)
def test_a_file_that_is_no_registry_is_refused_in_one_line(raw: bytes, says: str) -> None:
    (problem,) = problems_of(raw)
    assert says in problem


def test_an_empty_object_is_fine_where_the_caller_says_so() -> None:
    assert parse_registry(b"{}", "superseded.json", may_be_empty=True).wordings == {}


@pytest.mark.parametrize(
    ("gb_id", "says"),
    [
        ("gb0001", "r.json: $.gb0001: ids are in upper case: GB0001"),
        ("GB001", "r.json: $.GB001: not an id: GB and 4 to 6 digits"),
        ("GB0000001", "not an id"),
        ("GB00O1", "not an id"),
        ("GB０００１", "not an id"),
        ("GB0001\n", r'r.json: $["GB0001\n"]: not an id'),
        ("../../etc/passwd", 'r.json: $["../../etc/passwd"]: not an id'),
        ("", 'r.json: $[""]: not an id'),
    ],
)
def test_an_id_is_GB_and_digits(gb_id: str, says: str) -> None:  # noqa: N802
    (problem,) = problems_of(json.dumps({gb_id: [GOOD]}))
    assert says in problem


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"Gb_type": 5}, "r.json: $.GB0001[0].Gb_type: a number; it has to be a string"),
        ({"Gb_type": ""}, "r.json: $.GB0001[0].Gb_type: empty"),
        ({"Gb_type": " \n"}, "r.json: $.GB0001[0].Gb_type: empty"),
        ({"Context": None}, "r.json: $.GB0001[0].Context: null; it has to be a string"),
        ({"Explanation": {}}, "r.json: $.GB0001[0].Explanation: an object; it has to be a string"),
        ({"Hints": "one"}, "r.json: $.GB0001[0].Hints: a string; it has to be an array of hints"),
        ({"Hints": ["a", "b", True]}, "r.json: $.GB0001[0].Hints[2]: true; it has to be a string"),
        ({"Hints": ["x"] * 201}, "r.json: $.GB0001[0].Hints: 201 hints; more than 200 cannot be right"),
        ({"Context": "x" * 20_001}, "r.json: $.GB0001[0].Context: 20,001 characters; more than 20,000"),
        ({"Context": "a\0"}, "r.json: $.GB0001[0].Context: a control character, U+0000, at position 1"),
        ({"Hints": ["\x1b[31m"]}, "r.json: $.GB0001[0].Hints[0]: a control character, U+001B, at position 0"),
        ({"Explanation": "\ud83d"}, "r.json: $.GB0001[0].Explanation: half a surrogate pair, U+D83D"),
        ({"Explanation": float("nan")}, "r.json: $.GB0001[0].Explanation: NaN is not JSON"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_a_wrong_value_is_refused_at_its_path(changes: dict[str, object], says: str) -> None:
    assert problems_of_revision(**changes)[0].startswith(says)


@pytest.mark.parametrize("text", ["line\nline\tcell", "x" * MAX_CHARACTERS, "{% raw %} <b> \x7f 🙂", "  "])
def test_odd_but_honest_text_is_taken(text: str) -> None:
    raw = json.dumps({"GB0001": [{**GOOD, "Explanation": text}]}).encode()
    assert parse_registry(raw, "r.json").wordings["GB0001"][0].explanation == text


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ([], "r.json: $.GB0001: no revision in it"),
        ({}, "r.json: $.GB0001: an object; it has to be an array of revisions"),
        (["text"], "r.json: $.GB0001[0]: a string; a revision has to be an object"),
        ([GOOD] * 201, "r.json: $.GB0001: 201 revisions; more than 200 cannot be right"),
    ],
    ids=["empty", "object", "string", "many"],
)
def test_an_id_has_a_list_of_revisions(entry: object, says: str) -> None:
    assert [problem[: len(says)] for problem in problems_of(json.dumps({"GB0001": entry}))] == [says]


def test_a_renamed_key_shows_as_missing_with_the_unknown_one_beside_it() -> None:
    renamed = {("gb_type" if key == "Gb_type" else key): value for key, value in GOOD.items()}
    (problem,) = problems_of(json.dumps({"GB0001": [renamed]}))
    assert problem == 'r.json: $.GB0001[0]: "Gb_type" is missing; unknown here: "gb_type". Was it renamed?'


def test_an_unknown_key_alone_is_one_warning_for_all_places() -> None:
    more = {**GOOD, "Severity": "low"}
    parsed = parse_registry(json.dumps({"GB0001": [more, more], "GB0002": [more]}).encode(), "r.json")
    assert len(parsed.wordings) == 2
    expected = 'unknown key "Severity" ignored (3 revisions, first at $.GB0001[0])'
    assert parsed.warnings == (Problem("r.json", expected),)


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ('{"GB0001": [%s], "GB0001": [%s]}', "$.GB0001"),
        ('{"GB0001": [%s, {"Context": "", %s]}', "$.GB0001[1].Context"),
        ('{"GB0001": [%s], "GB0002": [{"Extra": {"a b": 1, "a b": 2}, %s]}', '$.GB0002[0].Extra["a b"]'),
    ],
)
def test_a_key_that_is_there_twice_is_refused_at_any_depth(raw: str, path: str) -> None:
    good = json.dumps(GOOD)
    (problem,) = problems_of(raw % (good, good if path == "$.GB0001" else good[1:]))
    assert problem == f"r.json: {path}: this key is there twice"


def test_every_problem_is_listed_at_once() -> None:
    document = {"gb0001": [GOOD], "GB0002": [], "GB0003": [{**GOOD, "Hints": [1]}], "GB0004": [GOOD]}
    assert [problem.split(": ")[1] for problem in problems_of(json.dumps(document))] == [
        "$.gb0001",
        "$.GB0002",
        "$.GB0003[0].Hints[0]",
    ]


@pytest.mark.slow
def test_more_than_200_000_ids_is_one_problem_not_200_000() -> None:
    raw = "{" + ",".join(f'"GB{number}":[]' for number in range(100_000, 300_001)) + "}"
    assert problems_of(raw) == ["r.json: $: 200,001 ids; more than 200,000 cannot be right"]


@pytest.mark.parametrize("key", ["\x1b[31mred", "k" * 5_000, "line\nline"])
def test_a_hostile_key_reaches_the_terminal_escaped_and_short(key: str) -> None:
    for problem in problems_of(json.dumps({key: [GOOD]})):
        assert problem.isprintable()
        assert len(problem) < 200


TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=[*map(chr, range(9)), *map(chr, range(11, 32))])
)
REVISIONS = st.builds(
    Revision,
    gb_type=TEXT.filter(str.strip),
    context=TEXT,
    explanation=TEXT,
    hints=st.lists(TEXT, max_size=4).map(tuple),
)
WORDINGS = st.dictionaries(
    st.from_regex(r"GB[0-9]{4,6}", fullmatch=True),
    st.lists(REVISIONS, min_size=1, max_size=3).map(tuple),
    min_size=1,
    max_size=4,
)


@pytest.mark.slow
@settings(deadline=None)
@given(WORDINGS)
def test_what_is_dumped_is_what_is_parsed(wordings: dict[str, tuple[Revision, ...]]) -> None:
    text = dump_registry(wordings)
    assert parse_registry(text.encode(), "r.json").wordings == wordings
    assert text == dump_registry(dict(reversed(wordings.items())))
    assert text.endswith("}\n")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(st.sampled_from(["GB0001", "Gb_type", "Context", "Explanation", "Hints"]), inner)
    ),
)


@pytest.mark.slow
@settings(deadline=None)
@given(JSON.map(json.dumps).map(str.encode) | st.binary())
def test_whatever_comes_is_a_registry_or_InvalidInput(raw: bytes) -> None:  # noqa: N802
    try:
        parse_registry(raw, "r.json")
    except InvalidInput as refusal:
        assert refusal.problems


def test_upstreams_own_shape_is_what_dump_writes() -> None:
    snapshot = read_snapshot()
    in_order = json.loads(snapshot.raw)
    assert json.loads(dump_registry(snapshot.wordings)) == in_order
    assert sorted(in_order) == list(json.loads(dump_registry(snapshot.wordings)))


def numbered(count: int) -> dict[str, tuple[Revision, ...]]:
    return {f"GB{n:04}": (Revision(gb_type="t", context="", explanation=""),) for n in range(count)}


@pytest.mark.parametrize(("left", "alarms"), [(100, 0), (90, 0), (89, 1), (10, 1)])
def test_losing_more_than_a_tenth_of_the_ids_is_a_problem(left: int, alarms: int) -> None:
    assert len(list(check_shrink(numbered(100), numbered(left)))) == alarms


def test_the_shrink_problem_says_how_many_which_and_what_to_do() -> None:
    (problem,) = check_shrink(numbered(100), numbered(10))
    assert "90 of the 100 ids" in problem.message
    assert "GB0010, GB0011, GB0012, …" in problem.message
    assert "--accept-shrink" in problem.message


def test_a_growing_registry_is_never_a_problem() -> None:
    assert not list(check_shrink({}, numbered(3)))
    assert not list(check_shrink(numbered(3), numbered(300)))
