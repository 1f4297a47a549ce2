"""What torch prints outside of its layout for breaks: warnings, wordings of torch 2.0 to 2.7, other messages.

`other_messages/SLUG.yml` is a message that is no graph break, with its page: the fields of OtherMessage, but `do` for
`ways_out` and `warning` for `is_warning`. `break_forms.yml` has warnings and errors about a break, by its id.
`old_wordings.json` has what torch 2.0 to 2.7 gave as the reason of a break. In a form, {…} stands for any text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from registry.datafile import read_data_file, shown
from registry.errors import InvalidInput, Problem
from registry.ids import is_gb_id
from registry.model import Form, OtherMessage
from registry.templates import DISTINCTIVE, INFORMATIVE, collapse, make_template
from registry.yamlfile import read_yaml

_TEXTS = ("title", "short", "releases", "meaning")
_LISTS = ("forms", "beside", "frames", "do", "see")
_FILE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.yml")
_TARGETS = ("ids", "gone", "message", "unmapped")
ANCHOR = 24
"""As many characters of a form are enough, if the text ends within it."""
ENOUGH = 40
"""And as many, if it goes on with other words."""
WHOLE = 6
"""What it weighs more to be there whole."""
MOST_SURFACES = 9
COMPILER_SIGNS = ("_inductor", "_dynamo", "torchinductor", "torch.compile", "torchdynamo", "triton")
"""In small letters: what a text has that is about torch's compiler."""


def read_other_messages(folder: Path) -> tuple[OtherMessage, ...]:
    """The messages that are no graph breaks, by slug; all problems at once as InvalidInput."""
    paths = sorted(folder.glob("*.y*ml"), key=lambda path: path.stem)
    known = {path.stem for path in paths}
    entries: dict[str, Any] = {}
    problems: list[Problem] = []
    for path in paths:
        if not _FILE.fullmatch(path.name):
            problems.append(Problem(f"{shown(path)}:1", "the name is no slug; name the file like no-triton.yml"))
        try:
            entries[path.stem] = read_yaml(path)
            problems += [Problem(f"{shown(path)}:1", why) for why in _check(entries[path.stem], known)]
        except InvalidInput as error:
            problems += error.problems
    if problems:
        raise InvalidInput(problems)
    return tuple(
        OtherMessage(
            slug=slug,
            title=one["title"].strip(),
            short=one["short"].strip(),
            releases=one["releases"].strip(),
            forms=tuple(one.get("forms") or ()),
            beside=tuple(one.get("beside") or ()),
            frames=tuple(one.get("frames") or ()),
            meaning=one["meaning"].strip(),
            ways_out=tuple(text.strip() for text in one["do"]),
            see=tuple(one.get("see") or ()),
            surface=int(one.get("surface") or 0),
            is_warning=bool(one.get("warning")),
        )
        for slug, one in entries.items()
    )


def _check(entry: Any, known: Container[str]) -> Iterator[str]:
    if not isinstance(entry, Mapping):
        yield "needs a mapping"
        return
    for name in _TEXTS:
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            yield f"needs a text `{name}`"
    for name in _LISTS:
        if not all(isinstance(text, str) for text in entry.get(name) or ()):
            yield f"needs a list of texts under `{name}`"
    if not entry.get("do"):
        yield "needs at least one text under `do`"
    for text in (*(entry.get("forms") or ()), *(entry.get("beside") or ())):
        template = make_template(str(text), "form")
        if template is None or template.weight < DISTINCTIVE:
            yield f"the form {text!r} says too little to be recognised; add words"
    for other in entry.get("see") or ():
        if not is_gb_id(str(other)) and other not in known:
            yield f"there is no message {other!r}; name an id or another message under `see`"
    for name in sorted(set(entry) - {*_TEXTS, *_LISTS, "surface", "warning"}):
        yield f"has no use for `{name}`; remove it"


def read_forms(data: Path, other_messages: Iterable[OtherMessage]) -> tuple[Form, ...]:
    """Every form under `data`, the folder registry/; all problems at once as InvalidInput."""
    forms = []
    for one in other_messages:
        forms += [Form(text=text, slug=one.slug) for text in one.forms]
        forms += [Form(text=text, slug=one.slug, beside=True) for text in one.beside]
    for gb_ids, texts in _read_break_forms(data / "break_forms.yml").items():
        forms += [Form(text=text, gb_ids=tuple(gb_ids.split())) for text in texts]
    return (*forms, *read_old_wordings(data / "old_wordings.json"))


def _read_break_forms(path: Path) -> Mapping[str, list[str]]:
    content = (read_yaml(path) or {}) if path.exists() else {}
    if not isinstance(content, dict):
        raise InvalidInput([Problem(f"{shown(path)}:1", "needs a list of texts under each id")])
    return content


def read_old_wordings(path: Path) -> Iterator[Form]:
    """What torch 2.0 to 2.7 printed as the reason of a break. A text that is not mapped has neither id nor page."""
    if not path.exists():
        return
    for number, line in enumerate(read_data_file(path).splitlines(), 1):
        if line.rstrip(",") in ("[", "]"):
            continue
        try:
            one = json.loads(line.rstrip(","))
            if not any(key in one for key in _TARGETS):
                raise ValueError(f"needs one of {', '.join(_TARGETS)}")
            yield Form(
                text=one["text"],
                gb_ids=tuple(one.get("ids", ())),
                slug=one.get("message", ""),
                gone=one.get("gone", ""),
                releases="–".join(dict.fromkeys((one["first"], one["last"]))),
                marked=True,
            )
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput([Problem(f"{shown(path)}:{number}", f"not an old wording: {error}")]) from error


@dataclass(frozen=True, slots=True)
class FormTemplate:
    """A form, ready to be compared: without white space and without a full stop at its end; in small letters, unless
    it is marked, since those are short."""

    form: Form
    literals: tuple[str, ...]
    weights: tuple[int, ...]
    """How much each literal says: its letters and digits."""
    short: bool
    """It says nothing unless it is all that follows a marker."""
    is_name: bool
    """The name of something in Python: it says nothing within a sentence."""
    open_start: bool

    def weigh(self, text: str, first_line: int, *, after_marker: bool) -> tuple[bool, int]:
        """(Whether all of it is in the collapsed text, how much of that it explains); the second is 0 for a misfit.

        A marked form stands at the start, or says much. Another one may stand anywhere. Either may be cut.
        """
        form = self.form
        if self.short:
            return True, self.weights[0] if after_marker and text[:first_line] == self.literals[0] else 0
        at_start = form.marked and not self.open_start
        if at_start and not text.startswith(self.literals[0]):
            if after_marker or self.is_name:
                return False, 0
            at_start = False
        needed = DISTINCTIVE if not form.marked else INFORMATIVE if after_marker and at_start else 2 * DISTINCTIVE
        at, explained, whole = 0, 0, True
        for number, literal in enumerate(self.literals):
            found = text.find(literal, at)
            if found < 0 and not form.marked:
                found, whole = _find_start(text, literal, at), False
            if found < 0 or (number == 0 and found >= first_line):
                return False, explained if at_start and explained >= max(needed, DISTINCTIVE) else 0
            at = found + len(literal) if whole else found
            explained += self.weights[number] if whole else min(self.weights[number], ENOUGH)
        return whole, explained if explained >= needed else 0


def _find_start(text: str, literal: str, at: int) -> int:
    """Where a long literal starts that is not whole: the text ends in it, or goes on in other words; else -1."""
    found = text.find(literal[:ANCHOR], at) if len(literal) > ANCHOR else -1
    is_cut = found >= 0 and literal.startswith(text[found:])
    return found if is_cut or (found >= 0 and text.startswith(literal[:ENOUGH], found)) else -1


def make_form_templates(forms: Iterable[Form]) -> tuple[FormTemplate, ...]:
    """Those that stand for something."""
    found = []
    for form in forms:
        template = make_template(form.text, "form")
        if template and (form.gb_ids or form.slug or form.gone):
            *others, last = (literal if form.marked else literal.lower() for literal in template.literals)
            literals = (*others, last.rstrip(".:!") or last)
            weights = tuple(sum(map(str.isalnum, literal)) for literal in literals)
            short = template.exact and template.weight < DISTINCTIVE
            is_name = template.exact and " " not in form.text
            found.append(FormTemplate(form, literals, weights, short, is_name, template.open_start))
    return tuple(found)


def forms_within(templates: Iterable[FormTemplate], lines: Iterable[str]) -> tuple[FormTemplate, ...]:
    """Those that may be in a text: what all others cost is one search each."""
    whole = collapse("".join(lines))
    small = whole.lower()
    is_torchs = any(sign in small for sign in COMPILER_SIGNS)
    return tuple(
        one
        for one in templates
        if one.literals[0][:ANCHOR] in (whole if one.form.marked else small) and (is_torchs or not one.form.beside)
    )


def find_form(
    templates: Iterable[FormTemplate],
    lines: Sequence[str],
    surfaces: Mapping[str, int],
    *,
    opening: str = "",
    after_marker: bool = False,
    unmarked: bool = False,
) -> Form | None:
    """The form that explains most of a text, and starts in its first line; one that wraps others comes last.

    `opening` is the first line with what stands before the reason: the name of an exception may be a form. A marked
    form without its marker is taken if `unmarked`, and has to say twice as much.
    """
    rest = "".join(map(collapse, lines[1:]))
    reason = collapse(lines[0]).lstrip("'\"([").rstrip("'\"")
    whole_line = collapse(opening) or reason
    anywhere = (whole_line + rest).lower()
    best, form = (-MOST_SURFACES, 0), None
    for one in templates:
        if one.form.marked and not (after_marker or unmarked):
            continue
        text, first = (reason + rest, len(reason)) if one.form.marked else (anywhere, len(whole_line))
        whole, weight = one.weigh(text, first, after_marker=after_marker)
        rank = -surfaces.get(one.form.slug, 0), weight + (WHOLE if whole else 0)
        if weight and rank > best:
            best, form = rank, one.form
    return form
