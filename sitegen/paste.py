"""The data of the paste box: torch's layout, every wording of every release, and what a list of findings shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from registry import matching, message_layout, messages
from registry.forms import ANCHOR, COMPILER_SIGNS, ENOUGH, WHOLE, FormTemplate
from registry.model import OtherMessage, Registry
from registry.templates import DISTINCTIVE, INFORMATIVE, Template
from registry.vocabulary import Vocabulary, Wording, collect_vocabulary
from sitegen.by_release import choices
from sitegen.compact import compact, data_script
from sitegen.facets import STATUSES, statuses


def render_paste(registry: Registry) -> dict[str, str]:
    """Return {path under docs/: text}: all that the page needs to answer as registry.matching does."""
    known = collect_vocabulary(registry)
    parts = [
        ("layout", _object((name, compact(value)) for name, value in _layout().items())),
        ("distinctive", compact(DISTINCTIVE)),
        ("informative", compact(INFORMATIVE)),
        ("statuses", compact(STATUSES)),
        ("releases", compact(choices(registry))),
        ("silent", _object((kind, compact(sorted(gb_ids))) for kind, gb_ids in known.silent.items())),
        ("unregistered", _array(map(compact, sorted(known.unregistered)))),
        ("breaks", _array(_breaks(registry, known))),
        ("wordings", _array(map(_wording, known.wordings))),
        ("lines", _array(_line(one) for one in known.lines)),
        ("forms", _array(map(_form, known.forms))),
        ("messages", _object((one.slug, compact(_message(one))) for one in registry.other_messages)),
        ("frames", compact(list(known.frames.items()))),
        ("limits", compact(_limits())),
    ]
    return data_script("wordings", _object(parts))


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
        "form_signs": message_layout.FORM_SIGNS,
        "entities": message_layout.ENTITIES,
        "chain": message_layout.CHAIN,
        "attribution": message_layout.ATTRIBUTION,
        "from_user_code": message_layout.FROM_USER_CODE,
        "endings": message_layout.ENDINGS,
        "break_exceptions": sorted(message_layout.BREAK_EXCEPTIONS),
        "reason_exceptions": sorted(message_layout.REASON_EXCEPTIONS),
        "open_records": messages.OPEN_RECORDS,
        "lines_in_message": messages.LINES_IN_MESSAGE,
        "foreign_lines": messages.FOREIGN_LINES,
        "line_start": message_layout.LINE_START,
    }


def _breaks(registry: Registry, known: Vocabulary) -> Iterator[str]:
    """[id, title, statuses], live ids before dead ones: the order decides between candidates."""
    by_id = {gb.gb_id: gb for gb in registry}
    releases = choices(registry)
    return (compact([gb_id, by_id[gb_id].gb_type, statuses(by_id[gb_id], releases)]) for gb_id in known.gb_ids)


def _limits() -> dict[str, object]:
    return {
        "short": matching.SHORT,
        "anchor": ANCHOR,
        "enough": ENOUGH,
        "compiler_signs": COMPILER_SIGNS,
        "libraries": matching.LIBRARIES.pattern,
        "quoted": matching.QUOTED.pattern,
        "whole": WHOLE,
        "around_titles": matching.AROUND_TITLES,
        "most_candidates": matching.MOST_CANDIDATES,
        "chained_lines": matching.CHAINED_LINES,
        "cause_after": matching.CAUSE_AFTER,
        "whole_lines": matching.WHOLE_LINES,
        "shared_hints": message_layout.SHARED_HINTS,
    }


def _wording(wording: Wording) -> str:
    """[kind, what may stand before and after the literals, weight, ids, literals]; a placeholder is between two."""
    return compact([wording.kind, *_line_parts(wording)])


def _line(wording: Wording) -> str:
    return compact(_line_parts(wording))


def _line_parts(wording: Wording) -> list[object]:
    template = wording.template
    return [_ends(template), template.weight, wording.gb_ids, template.literals]


def _ends(template: Template) -> str:
    return ("<" if template.open_start else "") + (">" if template.open_end else "")


def _form(one: FormTemplate) -> str:
    """[marked, beside, short, a name, open at the start, literals, ids, message, since when gone, releases]."""
    form = one.form
    marks = (int(mark) for mark in (form.marked, form.beside, one.short, one.is_name, one.open_start))
    return compact([*marks, one.literals, form.gb_ids, form.slug, form.gone, form.releases])


def _message(one: OtherMessage) -> dict[str, object]:
    return {
        "title": one.title,
        "short": one.short,
        "way_out": one.ways_out[0],
        "page": one.page,
        "surface": one.surface,
        "warning": one.is_warning,
    }


def _array(items: Iterable[str]) -> str:
    """One item a line: a diff then shows which wording changed."""
    return "[\n" + ",\n".join(items) + "\n]"


def _object(parts: Iterable[Sequence[str]]) -> str:
    return "{\n" + ",\n".join(f"{compact(name)}: {text}" for name, text in parts) + "\n}"
