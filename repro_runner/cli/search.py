"""`graphbreak search WORDS…`: find graph breaks by words, code or a message. It does not need torch."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.documents import document_text
from registry.errors import InvalidInput, Problem
from repro_runner.agents.lookups import MOST_HITS, shared_lookups
from repro_runner.cli import verb_parser
from repro_runner.exit_codes import DONE, NOT_AS_IT_SHOULD_BE
from repro_runner.output.terminal import plain

EPILOG = """\
examples:
  graphbreak search if on a tensor
  graphbreak search loss.item --limit 3
  graphbreak search "$(cat message.txt)"         a message that torch printed is named first
  graphbreak search print inside forward --format json

exit codes:
  0    something was found
  1    nothing was found
  2    the arguments are not valid
"""
_WIDTH = 100


def main(argv: Sequence[str]) -> int:
    """Print the ids that fit, best first."""
    parser = verb_parser("search", "Find graph breaks by words, by code, by a message or by an id. Best first.", EPILOG)
    parser.add_argument("words", nargs="+", metavar="WORDS", help="what you would type into a search box")
    parser.add_argument("--limit", type=int, default=MOST_HITS, metavar="N", help=f"default: {MOST_HITS}")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    arguments = parser.parse_args(argv)
    if arguments.limit < 1:
        raise InvalidInput([Problem(f"--limit {arguments.limit}", "must be at least 1")])
    found = shared_lookups().search(" ".join(arguments.words), limit=arguments.limit)
    print(document_text(found) if arguments.format == "json" else "\n".join([*_lines(found), ""]), end="")
    return DONE if found["hits"] or found["not_graph_breaks"] else NOT_AS_IT_SHOULD_BE


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    for word, others in found["searched_instead"].items():
        yield f"nothing was found for `{plain(word)}`; searched for {' or '.join(others)} instead"
    for message in found["not_graph_breaks"]:
        yield f"This is not a graph break: {message['meaning']} ({message['title']})"
    for hit in found["hits"]:
        yield f"{hit['gb_id']}  {hit['title']}"
        if hit["lead"]:
            yield textwrap.fill(hit["lead"], _WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8)
        yield f"        {_about_fix(hit)}"
    if found["more"]:
        yield f"{found['more']} more; --limit shows more of them"
    if not found["hits"] and not found["not_graph_breaks"]:
        yield "nothing was found; try fewer or other words"
    elif found["hits"]:
        yield f"`graphbreak show {found['hits'][0]['gb_id']}` shows the first"


def _about_fix(hit: Mapping[str, Any]) -> str:
    return f"verified fix (torch {hit['fix']['verified_on']})" if hit["fix"] else "no verified fix"
