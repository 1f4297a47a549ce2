"""What answers "is it my torch version?": a sentence, and facts of each release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from registry.ids import is_local
from registry.model import PROVEN, Environment, Evidence, GraphBreak, InRelease
from sitegen.changes import changes_in
from sitegen.links import source_label
from sitegen.sentences import comma_list, device_name

_CHANGES = {"retired": "no longer emitted"}
_BACKENDS = {"inductor": "Inductor", "mock": "the mock accelerator"}
_VERDICTS = {
    "reproduced": "breaks, without a verified fix",
    "stopped": "compiles without a break",
    "not applicable": "can't run there",
    "failed": "fails",
}


def upgrade_sentence(gb: GraphBreak, environments: Iterable[Environment]) -> str:
    """Where its programs broke, and whether a newer torch helps; empty if nothing is known."""
    ran = list(dict.fromkeys(one.torch for one in environments))
    broke = [torch for torch in ran if gb.verdict_in(torch) in PROVEN]
    if not broke:
        return _without_a_run(gb)
    devices = {seen.environment.device for seen in gb.best_evidence if seen.shows_it}
    others = comma_list(sorted(map(device_name, devices - {"cpu"})))
    also = f"{', also' if 'cpu' in devices else ''} on {others}" if others else ""
    return f"Breaks in torch {_spans(broke, ran)}{also}. {_whether_to_upgrade(gb, ran)}"


def _without_a_run(gb: GraphBreak) -> str:
    known = [seen.torch for seen in gb.history.releases]
    live = [seen.torch for seen in gb.history.releases if seen.live]
    if not live:
        return ""
    since = gb.history.silent_since(known[-1])
    stops = f" Since torch {since}, torch doesn't report this break any more." if since else ""
    return f"No program of ours causes it; the source of torch {_spans(live, known)} can report it.{stops}"


def _whether_to_upgrade(gb: GraphBreak, ran: Sequence[str]) -> str:
    newest = ran[-1]
    verdict = gb.verdict_in(newest)
    if verdict in PROVEN:
        runs = ((one.repro, seen) for one in gb.programs for seen in one.fresh_evidence if seen.shows_it)
        ours = ((repro.fixes, seen.fixes) for repro, seen in runs if seen.environment.torch == newest)
        kinds = {known[name] for known, held in ours for name, holds in held.items() if holds}
        way = next((words for kind, words in _WAYS.items() if kind in kinds), "")
        return f"Upgrading doesn't help{way}."
    if verdict == "stopped":
        since = list(takewhile(lambda torch: gb.verdict_in(torch) == "stopped", reversed(ran)))[-1]
        return f"Upgrading can help: since torch {since}, our program compiles without a break."
    if verdict == "other id":
        return f"In torch {newest}, our program breaks with another id: upgrading alone doesn't help."
    if silent := gb.history.silent_since(newest):
        return f"Since torch {silent}, torch doesn't report this break any more."
    why = "fails" if verdict == "failed" else "was not run"
    return f"We can't say whether upgrading helps: our program {why} in torch {newest}."


_WAYS = {"rewrite": "; a rewrite does", "flag": "; a setting does", "custom op": "; a custom operator does"}


def _spans(found: Sequence[str], known: Sequence[str]) -> str:
    """`2.8.0 to 2.10.0 and 2.13.0`: only releases that follow each other in `known` are joined."""
    spans: list[list[str]] = []
    for torch in found:
        if spans and known.index(torch) == known.index(spans[-1][-1]) + 1:
            spans[-1].append(torch)
        else:
            spans.append([torch])
    return comma_list(one[0] if len(one) == 1 else f"{one[0]} to {one[-1]}" for one in spans)


def release_facts(gb: GraphBreak) -> dict[str, dict[str, str]]:
    """For each release since the id is known, newest first: its status, what was seen there, and what emits it."""
    return {seen.torch: dict(_facts(gb, seen)) for seen in reversed(gb.history.since_known)}


def _facts(gb: GraphBreak, seen: InRelease) -> Iterator[tuple[str, str]]:
    yield "status", gb.status_in(seen.torch)
    for device in ("cpu", "cuda"):
        if ran := gb.best_run(seen.torch, device):
            yield device, what_was_seen(ran)
    changes = [_CHANGES.get(change, change) for change in changes_in(gb.history, seen.torch)]
    if changes or not seen.registered:
        yield "change", ", ".join(changes if seen.registered else [*changes, "not listed"])
    if seen.call_sites:
        yield "at", "; ".join(f"{source_label(site)} in {site.function}" for site in seen.call_sites)


def what_was_seen(ran: Evidence) -> str:
    """What the program did, in words. Backends that did the same as eager share one phrase; others follow by name."""
    others = {name: _otherwise(ran, backend) for backend, name in _BACKENDS.items() if backend in ran.verdicts}
    same = [name for name, words in others.items() if not words]
    return "; ".join(
        [
            _said(ran, "eager"),
            *([f"the same with {comma_list(same)}"] if same else []),
            *(f"with {name}, {words}" for name, words in others.items() if words),
        ]
    )


def _otherwise(ran: Evidence, backend: str) -> str:
    """How a backend differs from eager; empty if it does not."""
    if ran.verdicts[backend] != ran.verdict:
        return f"it {_said(ran, backend)}"
    failing = {where[backend] for where in ran.fails_with.values() if backend in where}
    return f"a fix fails{'' if 'always' in failing else ' in training'}" if failing else ""


def _said(ran: Evidence, backend: str) -> str:
    verdict = ran.verdicts.get(backend, "not run")
    if verdict == "verified" and backend == "eager":
        return f"breaks, {'every fix works' if all(ran.fixes.values()) else 'a fix works, but not every one'}"
    if verdict == "verified":
        return "breaks, with a verified fix"
    if verdict == "other id":
        named = ran.ids[0] if backend == "eager" and ran.ids and not is_local(ran.ids[0]) else "another id"
        return f"gives {named}"
    return _VERDICTS.get(verdict, verdict)
