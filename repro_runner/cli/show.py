"""`graphbreak show GB0042`: print the wording, history, source and fixes of one id, from the data in the package."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.datafile import DATA
from registry.documents import document_text
from registry.ids import page_address
from registry.message_layout import HINT
from registry.model import Evidence, GraphBreak
from registry.snippets import with_settings
from registry.standalone import standalone
from repro_runner.agents.lookups import shared_lookups
from repro_runner.cli import verb_parser
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE, REFUSED

SITE_BUILT_HERE = DATA.parent / "_site"
"""By `make site`."""
EPILOG = """\
examples:
  graphbreak show GB0124
  graphbreak show GB0124 --fix --torch 2.13.0
  graphbreak show --fix "$(cat message.txt)"     fixes for the break that this message names

exit codes:
  0    done
  1    with --fix: no fix is verified
  2    there is no such id, or the text names none
"""


def main(argv: Sequence[str]) -> int:
    """Print what is known about an id. Exit code 2 if there is no such id."""
    parser = verb_parser("show", "Show what the registry knows about an id.", EPILOG)
    parser.add_argument("gb_id", metavar="ID", help="GB0042, gb0042, or only the number")
    parser.add_argument("--script", action="store_true", help="print its program as a script that you can run")
    parser.add_argument("--open", action="store_true", help="open its page in a browser (that of `make site` if built)")
    parser.add_argument("--fix", action="store_true", help="print its fixes that were run; ID may be a message, too")
    parser.add_argument("--torch", default="", metavar="RELEASE", help="fixes for this release; default: the newest")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    arguments = parser.parse_args(argv)
    known = shared_lookups()
    if arguments.fix:
        return _print_fixes(known.verified_fix(arguments.gb_id, torch=arguments.torch), arguments.format)
    if arguments.format == "json":
        print(document_text(known.look_up(arguments.gb_id, torch=arguments.torch)), end="")
        return DONE
    found = known.find(arguments.gb_id)
    if arguments.script:
        return _print_script(found)
    if arguments.open:
        return _open_page(found)
    category = next((c.title for c in known.registry.categories if c.key == found.category), found.category)
    print("\n".join(_lines(found, category)))
    return DONE


def _print_fixes(answer: Mapping[str, Any], form: str) -> int:
    """Print the fixes. Exit code 1 if there is none."""
    if form == "json":
        print(document_text(answer), end="")
    else:
        print("\n".join(_fix_lines(answer)))
    return DONE if answer["fixes"] else NOT_AS_IT_SHOULD_BE


def _fix_lines(answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"{answer['gb_id']}: {answer['title']}"
    if answer["also_named"]:
        yield f"also named   {', '.join(answer['also_named'])}"
    for fix in answer["fixes"]:
        yield "\n" + "\n".join(f"# {text}" for text in (fix["when"], *fix["limits"]))
        yield f"# verified on torch {fix['verified_on']}"
        yield with_settings(fix["settings"], fix["code"])
    yield from (f"\nto try: {one['text']}" for one in answer["to_try"])
    if not answer["fixes"]:
        yield f"no verified fix. {answer['why_no_fix']}".rstrip()
    if answer["no_longer_breaks_in"]:
        yield f"\nThe smallest program no longer breaks in torch {answer['no_longer_breaks_in']}."


def _open_page(gb: GraphBreak) -> int:
    """Open the page that `make site` built here, or else the published one."""
    built = SITE_BUILT_HERE / "gb" / f"{gb.gb_id.lower()}.html"
    address = built.as_uri() if built.is_file() else page_address(gb.gb_id)
    if not address:
        print(f"{gb.gb_id} has no page on the public site; `make site` builds one here", file=sys.stderr)
        return REFUSED
    print(address)
    if not webbrowser.open(address):
        print("no browser was found: open the address above yourself", file=sys.stderr)
    return DONE


def _print_script(gb: GraphBreak) -> int:
    if gb.repro is None:
        print(f"{gb.gb_id}: {_no_program(gb)}", file=sys.stderr)
        return REFUSED
    print(standalone(gb.repro), end="")
    return DONE


def _lines(gb: GraphBreak, category: str) -> list[str]:
    newest, history = gb.newest, gb.history
    lines = [f"{gb.gb_id}: {gb.gb_type}", f"kind         {category}", f"standing     {gb.lifecycle}"]
    if history.first_release:
        lines.append(f"registered   since torch {history.first_release}")
    for seen in history.releases[-1:]:
        lines += [
            f"emitted      {site.file}:{site.line} in {site.function} (torch {seen.torch})" for site in seen.call_sites
        ]
    lines.append(f"context      {newest.context or '(none given)'}")
    lines.append(f"explanation  {newest.explanation or '(none given)'}")
    message = next((one.message for one in reversed(gb.evidence) if one.message), "")
    no_hint = "(made while it runs; see the message)" if f"{HINT}:" in message else "(none given)"
    lines += [f"hint         {''.join(hint)}" for hint in gb.revisions[0].hints] or [f"hint         {no_hint}"]
    older = {dated.revision.gb_type for dated in gb.revisions[1:]} - {gb.gb_type}
    lines += [f"formerly     {gb_type}" for gb_type in sorted(older)]
    lines += [f"run          {_seen(one)}" for one in gb.evidence] or [f"run          ({_no_program(gb)})"]
    if message:
        lines += ["message", *(f"  | {line}".rstrip() for line in message.splitlines())]
    return lines


def _no_program(gb: GraphBreak) -> str:
    if gb.unreached is not None:
        where = gb.unreached.environment
        why = f"it needs {where}; none was run there" if where else f"no program can cause it: {gb.unreached.category}"
        return f"{why}. {gb.unreached.evidence}"
    return f"no program yet; `graphbreak new {gb.gb_id}` starts one"


def _seen(evidence: Evidence) -> str:
    where = evidence.environment
    verdicts = ", ".join(f"{backend} {verdict}" for backend, verdict in evidence.verdicts.items())
    return f"torch {where.torch}, {where.device}: {verdicts}"
