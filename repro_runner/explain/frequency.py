"""How often a site broke the graph while the program ran; in words, why nobody can know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import CodeType

from repro_runner.capture.recorder import Raised, TakenFrame
from repro_runner.explain.places import innermost
from repro_runner.explain.site import Frequency

FAILED = "torch.compile stopped here with an error"
GIVEN_UP = "Dynamo gave up the whole function: it runs as plain Python, where nothing is counted"
PAST_LIMIT = "the function reached the recompile limit and now runs as plain Python, where nothing is counted"
NO_FRAME = "it happened outside of a compiled call, as in an export"
NO_COUNTER = "the code that Dynamo made has no place for a counter"


def find_frequency(
    causes: Sequence[Raised], ran: Mapping[TakenFrame, int], past_limit: AbstractSet[CodeType]
) -> Frequency:
    """Compilations of one line add up; one of them that can't be counted makes the sum unknown."""
    counted = innermost(causes)
    unknown = next((why for one in counted if (why := _why_unknown(one, ran, past_limit))), "")
    if unknown:
        return Frequency(ran=None, why_unknown=unknown)
    return Frequency(ran=sum(ran[frame] for frame in {one.frame for one in counted} if frame is not None))


def _why_unknown(one: Raised, ran: Mapping[TakenFrame, int], past_limit: AbstractSet[CodeType]) -> str:
    if one.kind == "fatal":
        return FAILED
    if one.frame is None:
        return NO_FRAME
    if one.frame.code in past_limit:
        return PAST_LIMIT
    if one.kind == "frame skipped":
        return GIVEN_UP
    return "" if one.frame in ran else NO_COUNTER
