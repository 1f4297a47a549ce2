"""Compare what two runs showed. It reads data only, and says what it compared."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from repro_runner.judge import (
    ASPECTS,
    ERR,
    ERROR,
    GRADIENTS,
    INPUTS,
    MEMORY,
    OUT,
    RANDOM,
    RESULT,
    SAVED,
    STATE,
    WORDS_OF_TORCH,
)
from repro_runner.judge.leaves import EXACT, Closeness, Flat, Leaf, leaves_differ, same_leaf, told
from repro_runner.judge.observation import Call, Observation

_NUMBER = re.compile(r"(?<![\w.])[+-]?(?:\d+(?:\.(?P<places>\d*))?(?:e(?P<exponent>[+-]?\d+))?|inf|nan)", re.IGNORECASE)
_PLACE = re.compile(r"\[\d+\]$")
_PLACES, _ROUNDED = 4, 1e-5
"""torch prints so many places of a tensor. A number with fewer, beside one with more, was not cut: it ends there."""
_PLACED = re.compile(r"inputs(\[\d+\])+")
_LAYOUT = re.compile(r"\btensor\(|[\s()\[\],]+")
"""In `tensor([0.1235])`. torch's own `print` for graphs writes 0.12345679 for the same tensor."""
_ROOT = re.compile(r"[\w ]+?(?='s |[.\[{]|$)")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")
_OF_TORCH = re.compile(WORDS_OF_TORCH, re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What is compared, and how closely."""

    closeness: Closeness = EXACT
    left_out: frozenset[str] = frozenset()
    """Aspects that are not compared."""
    unsteady: frozenset[tuple[str, str]] = frozenset()
    """(aspect, place) of what differs between two runs of the same program."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference between two calls."""

    aspect: str
    text: str


def call_differs(
    expected: Call, actual: Call, before: Observation, after: Observation, terms: Terms
) -> Difference | None:
    """Find the first difference between two calls; None if there is none.

    `before` is the observation of the program, `after` that of the changed program.
    """
    if found := _errors_differ(expected, actual):
        may_be_checked_elsewhere = ERROR in terms.left_out and expected.deliberate and not actual.error[0]
        return None if may_be_checked_elsewhere else Difference(ERROR, found)
    names = _moved_names(before.before, after.before)
    for aspect in ASPECTS:
        if aspect in terms.left_out or aspect not in expected.seen or aspect not in actual.seen:
            continue
        one, two = expected.seen[aspect], _renamed(actual.seen[aspect], names)
        if aspect == INPUTS and STATE in terms.left_out:  # what objects hold besides tensors is state
            one, two = _tensors_of_inputs(expected), _tensors_of_inputs(actual)
        if aspect == RANDOM:  # a generator may be made later
            one, two = _in_both(one, two)
        if aspect == STATE:
            found = _states_differ(before.before, one, _renamed(after.before, names), two, terms)
        elif aspect == MEMORY:
            found = _memory_differs(one, two)
        elif aspect in (OUT, ERR):
            found = "" if (aspect, aspect) in terms.unsteady else texts_differ(one[aspect], two[aspect], aspect)
        elif aspect == GRADIENTS:
            by_size = max(terms.closeness.by_size, expected.rounding)
            found = gradients_differ(one, two, replace(terms.closeness, by_size=by_size))
        else:
            found = flats_differ(aspect, one, two, terms)
        if found:
            return Difference(aspect, found)
    return None


def programs_differ(
    expected: Observation, actual: Observation, terms: Terms, *, calls: bool = True
) -> Difference | None:
    """Find the first difference between two programs that ran to their ends; None if there is none.

    Without `calls`, what compiled functions return is left out.
    """
    if calls and len(expected.calls) != len(actual.calls):
        return Difference(RESULT, f"{len(actual.calls)} calls of compiled code instead of {len(expected.calls)}")
    pairs = zip(expected.calls, actual.calls, strict=True) if calls else ()
    for number, (one, two) in enumerate(pairs, 1):
        if found := call_differs(one, two, Observation(), Observation(), terms):
            return replace(found, text=f"call {number}: {found.text}")
    for aspect in ASPECTS:
        if aspect in terms.left_out or aspect not in expected.ended:
            continue
        flats = expected.ended[aspect], actual.ended.get(aspect, {})
        if aspect == STATE:
            names = _moved_names(expected.before, actual.before)
            own, now = (_renamed(flat, names) for flat in (actual.before, flats[1]))
            text = _states_differ(expected.before, flats[0], own, now, terms)
        else:
            text = flats_differ(aspect, *(_in_both(*flats) if aspect == RANDOM else flats), terms)
        if text:
            return Difference(aspect, f"at the end of the program, {text}")
    return None


def _tensors_of_inputs(call: Call) -> Flat:
    """The tensors among the inputs, those too that the program holds, and where they were met first."""
    found = {**call.seen[STATE], **call.seen[INPUTS]}
    leaves = {path: found.get(_is_same_as(leaf), leaf) for path, leaf in call.seen[INPUTS].items()}
    return {path: leaf for path, leaf in leaves.items() if isinstance(leaf, Mapping) and _PLACED.fullmatch(path)}


def _in_both(one: Flat, two: Flat) -> tuple[Flat, Flat]:
    both = one.keys() & two.keys()
    return {path: one[path] for path in both}, {path: two[path] for path in both}


def count_values(observation: Observation, *, calls: bool, unsteady: frozenset[tuple[str, str]] = frozenset()) -> int:
    """How many tensors and numbers were returned and are held, without those that differ from run to run."""
    flats = [(RESULT, call.seen.get(RESULT, {})) for call in observation.calls if calls]
    flats.append((STATE, observation.ended.get(STATE, {})))
    return sum(
        isinstance(leaf, Mapping | int | float | complex) and (aspect, _place(path, leaf, flat)) not in unsteady
        for aspect, flat in flats
        for path, leaf in flat.items()
    )


def _errors_differ(expected: Call, actual: Call) -> str:
    (was, text), (now, said) = expected.error, actual.error
    if was != now:
        return f"raised {now or 'nothing'}{f': {said}' if now else ''}, not {was or 'nothing'}"[:400]
    if expected.deliberate and _ADDRESS.sub("", text) != _ADDRESS.sub("", said):
        return f"raised {now} with the text {said!r:.100}, not {text!r:.100}"
    return ""


def flats_differ(aspect: str, expected: Flat, actual: Flat, terms: Terms) -> str:
    """Describe the first difference of two flat values."""
    for path in dict.fromkeys((*expected, *actual)):
        if (aspect, _place(path, expected.get(path), expected)) in terms.unsteady and _are_alike(
            expected.get(path), actual.get(path)
        ):
            continue
        if MEMORY in terms.left_out and any(_is_same_as(flat.get(path)) for flat in (expected, actual)):
            continue
        if path not in actual or path not in expected:
            one, two = (told(flat[path]) if path in flat else "nothing" for flat in (expected, actual))
            return f"{path}: {two} instead of {one}"
        if found := _differ(expected[path], actual[path], path, terms.closeness):
            return found
    return ""


def _differ(expected: Leaf, actual: Leaf, path: str, closeness: Closeness) -> str:
    one, two = _is_same_as(expected), _is_same_as(actual)
    if one and two:
        return "" if one == two else f"{path}: the same object as {two}, not as {one}"
    if one or two:
        said = "is the same object as" if two else "is not the same object as"
        return f"{path} {said} {one or two}, unlike in eager"
    return leaves_differ(expected, actual, path, closeness)


def _is_same_as(leaf: Leaf) -> str:
    return str(leaf[1]) if isinstance(leaf, tuple) and leaf[0] == "same" else ""


def _states_differ(was: Flat, one: Flat, own: Flat, two: Flat, terms: Terms) -> str:
    """Describe what the changed program leaves behind in another way. It may have names of its own, and change them."""
    for path in one:
        if path.endswith(SAVED) and two.get(path, one[path]) != one[path]:
            return f"{path.removesuffix(SAVED)} is {'' if two[path] else 'no longer '}in state_dict()"
    expected, actual = _changes(was, one), _changes(own, two)
    known, roots = _roots(was), _roots(own)
    for path, leaf in expected.items():
        if (STATE, _place(path, leaf, one)) in terms.unsteady and _are_alike(leaf, actual.get(path, two.get(path))):
            continue
        if path not in actual:
            if path in two and leaf is not None and not _differ(leaf, two[path], path, terms.closeness):
                continue  # it was so from the beginning
            return f"{_root(path)} is not changed, as it is in eager" + ("" if path == _root(path) else f" ({path})")
        if found := _differ_or_gone(leaf, actual[path], path, terms.closeness):
            return found
    for path in actual:
        if (
            path not in expected
            and _root(path) in known & roots
            and (STATE, _place(path, actual[path], two)) not in terms.unsteady
        ):
            if path in one and not _differ_or_gone(one[path], actual[path], path, terms.closeness):
                continue
            return f"{_root(path)} is changed, unlike in eager" + ("" if path == _root(path) else f" ({path})")
    return ""


_GONE = ("is", "gone")


def _differ_or_gone(expected: Leaf, actual: Leaf, path: str, closeness: Closeness) -> str:
    of_it, of_other = (isinstance(leaf, tuple) and leaf == _GONE for leaf in (expected, actual))
    if of_it is not of_other:
        return f"{path}: {told(actual)} instead of {told(expected)}"
    return _differ(expected, actual, path, closeness)


def _changes(before: Flat, after: Flat) -> Flat:
    """What has another value now."""
    changed = {path: leaf for path, leaf in after.items() if path not in before or not same_leaf(before[path], leaf)}
    return changed | {path: _GONE for path in before if path not in after}


def _root(path: str) -> str:
    found = _ROOT.match(path)
    return found[0] if found else path


def _roots(flat: Flat) -> set[str]:
    return set(map(_root, flat))


def _moved_names(before: Flat, after: Flat) -> dict[str, str]:
    """Names that only the changed program has -> the name that only the program has, for equal values."""
    gone, new = sorted(_roots(before) - _roots(after)), sorted(_roots(after) - _roots(before))
    moved: dict[str, str] = {}
    for name in gone:
        mine = _below(before, name)
        for other in new:
            if other not in moved and not flats_differ("", mine, _below(after, other), Terms()):
                moved[other] = name
                break
    return moved


def _below(flat: Flat, root: str) -> Flat:
    """What a name of the program holds; of which class it is does not count."""
    return {
        path[len(root) :]: leaf for path, leaf in flat.items() if _root(path) == root and _counts(leaf, path == root)
    }


def _counts(leaf: Leaf, is_root: bool) -> bool:
    return not (is_root and isinstance(leaf, tuple) and leaf[0] == "is")


def _renamed(flat: Flat, names: Mapping[str, str]) -> Flat:
    if not names:
        return flat
    return {names.get(_root(path), _root(path)) + path[len(_root(path)) :]: leaf for path, leaf in flat.items()}


def _memory_differs(one: Flat, two: Flat) -> str:
    """How results and inputs share memory in another way, with each other or with what the program holds."""
    for pair in sorted(one.keys() ^ two.keys()):
        if {"result", "inputs"} & {*map(_root, pair.split(" and "))}:
            return f"{pair} share{' no' if pair in one else ''} memory, unlike in eager"
    return ""


def gradients_differ(expected: Flat, actual: Flat, closeness: Closeness = EXACT) -> str:
    """Describe the first difference; empty when they are the same. No gradient is the same as one of zeros.

    A fix may have parameters of its own, and those of the program under other names.
    """
    actual = dict(actual)
    for gone in sorted(expected.keys() - actual.keys()):
        free = sorted(actual.keys() - expected.keys())
        equal = (name for name in free if not _one_gradient_differs(expected[gone], actual[name], "", closeness))
        if (name := next(equal, None)) is not None:
            actual[gone] = actual.pop(name)
    for place, one in expected.items():
        if found := _one_gradient_differs(one, actual.get(place), place, closeness):
            return found
    return ""


def _one_gradient_differs(one: Leaf, two: Leaf, place: str, closeness: Closeness) -> str:
    if one is None or two is None:
        if _is_zero(one) and _is_zero(two):
            return ""
        return f"{'no ' if two is None else 'a '}gradient reaches {place}, unlike in eager"
    facts = closeness.ignored | {"stride", "requires_grad"}
    return leaves_differ(one, two, f"the gradient of {place}", replace(closeness, ignored=facts))


def _is_zero(leaf: Leaf) -> bool:
    return leaf is None or not any(part.any() for part in leaf["parts"])


def texts_differ(expected: str, actual: str, name: str) -> str:
    """Describe the first line that differs. Numbers count in the places that were printed, brackets do not."""
    texts = (_ADDRESS.sub("", _OF_TORCH.sub("", text)) for text in (expected, actual))
    before, after = ([line for line in text.splitlines() if line.strip()] for text in texts)
    for number, (one, two) in enumerate(zip(before, after, strict=False), 1):
        if not _lines_are_same(one, two):
            return f"{name}, line {number}: {two!r:.120} instead of {one!r:.120}"
    if len(before) == len(after):
        return ""
    if [*map(_words, before)] != [*map(_words, after)] and Counter(map(_words, before)) == Counter(map(_words, after)):
        return f"{name}: the lines come in another order"
    more = (after if len(after) > len(before) else before)[min(len(before), len(after))]
    return f"{name}: {len(after)} lines instead of {len(before)}, the first of them {more!r:.120}"


def _lines_are_same(one: str, two: str) -> bool:
    if one == two:
        return True
    if _words(one) != _words(two):
        return False
    pairs = zip(_NUMBER.finditer(one), _NUMBER.finditer(two), strict=False)
    return len(_NUMBER.findall(one)) == len(_NUMBER.findall(two)) and all(
        _is_near(mine, other) for mine, other in pairs
    )


def _is_near(mine: re.Match[str], other: re.Match[str]) -> bool:
    places = min(len(mine["places"] or ""), len(other["places"] or ""))
    exponent = max(int(mine["exponent"] or 0), int(other["exponent"] or 0))
    one, two = float(mine[0]), float(other[0])
    room = 1.5 * 10.0 ** (exponent - places) if places else 0
    if places < _PLACES and len(mine["places"] or "") != len(other["places"] or ""):
        room = min(room, _ROUNDED * (1 + abs(one)))  # 0.5 may be 0.49999998, but is not 0.4912
    return one == two or (one != one and two != two) or abs(one - two) <= room


def _words(line: str) -> str:
    return _LAYOUT.sub(" ", _NUMBER.sub("#", line)).strip()


def _place(path: str, leaf: Leaf, flat: Flat) -> str:
    """The path of a leaf. All numbers of a list have the same: if one differs from run to run, as times do, all may."""
    parent = flat.get(_PLACE.sub("", path)) if type(leaf) is float else None
    is_listed = isinstance(parent, tuple) and str(parent[1]).startswith("list of")
    return _PLACE.sub("[…]", path) if is_listed else path


def _are_alike(one: Leaf, two: Leaf) -> bool:
    """Whether two leaves that are not the same in every run are at least of one kind: a time that is zero is none."""
    return type(one) is type(two) and (not isinstance(one, int | float) or bool(one) is bool(two))


def unsteady_paths(one: Observation, again: Observation, terms: Terms) -> frozenset[tuple[str, str]]:
    """(aspect, place) of what differs between two runs of the same program: it can't be compared with another."""
    return frozenset(_unsteady(one, again, terms))


def _unsteady(one: Observation, again: Observation, terms: Terms) -> Iterator[tuple[str, str]]:
    pairs = [(call.seen, other.seen) for call, other in zip(one.calls, again.calls, strict=False)]
    for seen, other_seen in (*pairs, (one.ended, again.ended)):
        for aspect, flat in seen.items():
            compared = other_seen.get(aspect, {})
            if aspect in (OUT, ERR):
                if texts_differ(flat[aspect], compared.get(aspect, ""), aspect):
                    yield aspect, aspect
                continue
            for path in {*flat, *compared}:
                both = path in flat and path in compared
                if not both or _differ(flat[path], compared[path], path, terms.closeness):
                    yield aspect, _place(path, flat.get(path), flat)
