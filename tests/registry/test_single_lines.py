"""A line that stands alone: its id is among the candidates, and only what is certain is said with certainty."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

from registry.matching import MOST_CANDIDATES
from registry.message_layout import SHARED_HINTS
from registry.templates import collapse, fixed_words, make_template
from registry.vocabulary import FIXED_WORDS
from tests.registry.test_matching import committed, filled, matcher


def lines_of_wordings() -> Iterator[tuple[str, str, str]]:
    """(id, field, line as the registry has it) of every wording of every release."""
    for gb in committed():
        for dated in gb.revisions:
            wording = dated.revision
            fields = [("explanation", wording.explanation), ("context", wording.context)]
            fields += [("hint", "".join(hint)) for hint in dated.hints]
            for field, text in fields:
                if text[:1] not in ("'", '"'):  # Python that upstream left as it is
                    yield from ((gb.gb_id, field, line) for line in text.splitlines())


def test_every_title_alone_names_its_id() -> None:
    choose = random.Random(0)
    counts: Counter[str] = Counter()
    for gb in committed():
        for dated in gb.revisions:
            title = dated.revision.gb_type
            if make_template(title, "type") is None:
                counts["says nothing"] += 1
                continue
            (found,) = matcher().name_text(filled(title, choose))
            assert gb.gb_id in found.gb_ids, title
            counts["the only one" if len(found.gb_ids) == 1 else "several"] += 1
    assert counts == {"the only one": 791, "several": 7, "says nothing": 1}


@pytest.mark.slow
def test_every_line_alone_has_its_id_among_the_candidates() -> None:
    """A line without enough words of its own is left out, and counted."""
    choose = random.Random(0)
    counts: Counter[str] = Counter()
    missing = []
    for gb_id, field, line in sorted(set(lines_of_wordings())):
        if fixed_words(line) < FIXED_WORDS or make_template(line, "explanation") is None:
            counts["left out"] += 1
            continue
        found = matcher().name_text(filled(line, choose).replace("\n", " "))
        if found and found[0].how == "shared":
            counts["shared by many"] += 1
        elif not found or gb_id not in found[0].gb_ids:
            missing.append((gb_id, field, line, [one.gb_ids or one.form for one in found]))
        else:
            assert len(found[0].gb_ids) <= MOST_CANDIDATES
            counts["the only one" if len(found[0].gb_ids) == 1 else "several"] += 1
    assert missing == []
    assert counts == {"the only one": 907, "several": 102, "shared by many": 476, "left out": 487}


@pytest.mark.parametrize("hint", SHARED_HINTS)
def test_a_line_that_torch_prints_for_many_breaks_names_none(hint: str) -> None:
    (found,) = matcher().name_text(f"  Hint: {hint}.")
    assert (found.how, found.gb_ids, found.form) == ("shared", (), None)


@pytest.mark.slow
@pytest.mark.prove
def test_a_line_that_is_said_to_be_recognised_fits_no_other_id() -> None:
    """Whatever fills the placeholders, no other id's line may read the same."""
    choose = random.Random(1)
    others = [
        (gb_id, template)
        for gb_id, _, line in sorted(set(lines_of_wordings()))
        if fixed_words(line) >= FIXED_WORDS and (template := make_template(line, "explanation"))
    ]
    for gb_id, _, line in sorted(set(lines_of_wordings())):
        if fixed_words(line) < FIXED_WORDS:
            continue
        text = filled(line, choose).replace("\n", " ")
        found = matcher().name_text(text)
        if found and len(found[0].gb_ids) == 1:
            fitting = {other for other, template in others if template.matches(collapse(text))}
            assert fitting <= {gb_id, *found[0].gb_ids}, text
