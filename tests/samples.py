"""Small made-up registries for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from registry.ids import local_id
from registry.merge import Knowledge
from registry.model import CallSite, CapturedProgram, Category, Environment, Origin, Release, Revision, SeenBreak

ORIGIN = Origin(source="release:2.15.0", retrieved="2026-01-02", sha256="0" * 64)
CATEGORY = Category(
    key="control-flow", title="Control flow", why="Why `it` breaks.", way_out="Use `torch.where`.", ids=("GB0001",)
)

OTHER_TYPE = "a type with no id"

HOSTILE = (
    "__init__ and _one_",
    "{fn} {{ x }} {% raw %} {% endraw %} {%- include x -%} {# c #}",
    "<script>alert(1)</script> <b>&amp;</b> &lt; &#65;",
    "*args **kwargs ~~gone~~ ==mark==",
    "a | b \\| c",
    'it\'s "quoted" -- and --- dashes... <<angles>> (c) (tm)',
    "`code` ``double`` ```\nfence\n```",
    "  leading and trailing  ",
    "double  spaces\tand tab",
    "line one\nline two\n\nline four",
    "# not a heading",
    "- not a list\n1. nor this\n2) nor that",
    "    not code",
    "> not a quote",
    "[text](http://example.invalid) ![image](x.png) [ref]: y",
    "https://example.invalid/a_b_c?d=e&f=g www.example.invalid a@b.invalid",
    "$$math$$ \\(tex\\) ^sup^ ~sub~ :smile:",
    "{: .class #id} {::nomarkdown} {:toc} *[abbr]: x [^1]",
    "---\nlayout: x\n---",
    "=====\n-----",
    "<!-- ADDITIONAL INFORMATION END -->",
    "<!-- comment",
    "ünïcödé 日本語 🙂 \u00a0nbsp \u200bzwsp",
    "<https://example.invalid> <a@b.invalid>",
    "\\*escaped\\* \\n C:\\path",
    "%20 %s %(x)s $x ${x} #{x} @x",
    "1. 2. 3... .. . .",
)


def revision(gb_type: str, context: str = "c", explanation: str = "e", hints: Sequence[str] = ("h",)) -> Revision:
    return Revision(gb_type=gb_type, context=context, explanation=explanation, hints=tuple(hints))


def site(gb_type: str, gb_id: str | None, line: int = 1, joined_hints: Sequence[str] = ()) -> CallSite:
    return CallSite(
        gb_type=gb_type,
        gb_id=gb_id,
        file="torch/_dynamo/variables/tensor.py",
        line=line,
        function="f",
        joined_hints=tuple(joined_hints),
    )


def release(torch: str, wordings: Mapping[str, Sequence[Revision]], sites: Sequence[CallSite] | None = None) -> Release:
    """A release that emits what it registers, unless `sites` says otherwise."""
    emitted = [site(found[0].gb_type, gb_id) for gb_id, found in wordings.items()] if sites is None else sites
    return Release(
        torch=torch,
        wheel=f"torch-{torch}.whl",
        wordings={gb_id: tuple(found) for gb_id, found in wordings.items()},
        call_sites=tuple(emitted),
    )


def captured(
    name: str,
    environment: Environment,
    *types: str,
    about: str = "",
    gb_id: str = "",
    sites: int = 1,
    compiled: int = 1,
) -> CapturedProgram:
    """A program that hits each of these types alike."""
    seen = [
        SeenBreak(gb_id=gb_id or local_id(gb_type), wording=revision(gb_type), sites=sites, compiled=compiled, ran=None)
        for gb_type in types
    ]
    return CapturedProgram(name=name, about=about, environment=environment, breaks=tuple(seen))


def knowledge(wordings: Mapping[str, Sequence[Revision]], **more: object) -> Knowledge:
    return Knowledge(
        wordings={gb_id: tuple(found) for gb_id, found in wordings.items()},
        origin=ORIGIN,
        **{"categories": (CATEGORY,), **more},  # type: ignore[arg-type]
    )
