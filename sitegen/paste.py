"""The data of the paste box: torch's layout, every wording of every release, and what a list of findings shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from registry import message_layout, messages
from registry.matching import Vocabulary, Wording, collect_vocabulary
from registry.model import Registry
from registry.templates import DISTINCTIVE
from sitegen.compact import compact
from sitegen.facets import STATUSES


def render_paste(registry: Registry) -> dict[str, str]:
    """Return {path under docs/: text}: all that the page needs to answer as registry.matching does."""
    known = collect_vocabulary(registry)
    parts = [
        ("layout", _object((name, compact(value)) for name, value in _layout().items())),
        ("distinctive", compact(DISTINCTIVE)),
        ("statuses", compact(STATUSES)),
        ("silent", _object((kind, compact(sorted(gb_ids))) for kind, gb_ids in known.silent.items())),
        ("unregistered", _array(map(compact, sorted(known.unregistered)))),
        ("breaks", _array(_breaks(registry, known))),
        ("wordings", _array(map(_wording, known.wordings))),
    ]
    return {"assets/data/wordings.json": _object(parts) + "\n"}


def _layout() -> dict[str, object]:
    """How torch sets a message: the expressions and words of registry.message_layout, so that they are written once."""
    return {
        "expressions": message_layout.FRAMING,
        "flags": message_layout.FLAGS,
        "labels": {
            "explanation": message_layout.EXPLANATION,
            "hint": message_layout.HINT,
            "context": message_layout.CONTEXT,
            "operator": message_layout.OPERATOR,
        },
        "field_indent": message_layout.FIELD_INDENT,
        "reason": message_layout.REASON,
        "link_sign": message_layout.LINK_SIGN,
        "signs": message_layout.SIGNS,
        "chain": message_layout.CHAIN,
        "from_user_code": message_layout.FROM_USER_CODE,
        "endings": message_layout.ENDINGS,
        "break_exceptions": sorted(message_layout.BREAK_EXCEPTIONS),
        "open_records": messages.OPEN_RECORDS,
        "lines_in_message": messages.LINES_IN_MESSAGE,
        "foreign_lines": messages.FOREIGN_LINES,
        "line_start": message_layout.LINE_START,
    }


def _breaks(registry: Registry, known: Vocabulary) -> Iterator[str]:
    """[id, title, status], live ids before dead ones: the order decides between candidates."""
    by_id = {gb.gb_id: gb for gb in registry}
    return (compact([gb_id, by_id[gb_id].gb_type, by_id[gb_id].status]) for gb_id in known.gb_ids)


def _wording(wording: Wording) -> str:
    """[kind, what may stand before and after the literals, weight, ids, literals]; a placeholder is between two."""
    template = wording.template
    ends = ("<" if template.open_start else "") + (">" if template.open_end else "")
    return compact([wording.kind, ends, template.weight, wording.gb_ids, template.literals])


def _array(items: Iterable[str]) -> str:
    """One item a line: a diff then shows which wording changed."""
    return "[\n" + ",\n".join(items) + "\n]"


def _object(parts: Iterable[Sequence[str]]) -> str:
    return "{\n" + ",\n".join(f"{compact(name)}: {text}" for name, text in parts) + "\n}"
