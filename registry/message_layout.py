"""Torch's layout of a message: its words, and what loggers and others put before a line.

A new layout is learnt here and nowhere else. registry.messages reads with what stands here, repro_runner.logs and
repro_runner.capture too; sitegen.paste and sitegen.search_data export it, so that the scripts in docs/assets/js, which
spell none of it, follow with the next `python generate_site.py`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from registry.ids import LINK as LINK_PATTERN

EXPLANATION = "Explanation"
HINT = "Hint"
CONTEXT = "Developer debug context"
OPERATOR = "Higher Order Operator"
LABELS = (EXPLANATION, HINT, CONTEXT, OPERATOR)
"""What stands before the fields of a message, each with a colon."""
FIELD_INDENT = 2
"""Spaces by which a field's further lines are indented more than its label."""
REASON = "Graph Break Reason"
"""What a log puts before the reason of a break that it reports."""
EXCEPTIONS = "torch._dynamo.exc."
"""What stands before the name of one of torch's exceptions."""
BREAK_EXCEPTIONS = frozenset({"Unsupported", "UncapturedHigherOrderOpError"})
REASON_EXCEPTIONS = BREAK_EXCEPTIONS | {"UserError"}
"""What follows their name is the reason of a break, in torch's words; what follows another's may be anybody's words."""
MORE_DETAILS = "For more details about this graph break, please visit:"
"""What stands before the link to a break's page."""
LINK_SIGN = "/gb/"
"""What every link to a break's page has; some releases print it without the id."""
GRAPH_BREAKS = "__graph_breaks"
"""The artifact under which torch's loggers report breaks, as a record's header names it."""
CHAIN = "*** While handling this graph break, another graph break occurred: ***"
ATTRIBUTION = "Stack variable source attribution:"
"""Between a message and the user's stack, since torch 2.12; its frames are not where the graph broke."""
FROM_USER_CODE = ("from user code:", "User code traceback:")
ENDINGS = (
    *FROM_USER_CODE,
    "Set TORCHDYNAMO_VERBOSE",
    "Traceback (most recent call last)",
    "The above exception was",
    "During handling of the above",
)

_LOGGER = r"torch[\w.]{1,100}"
_TAG = r"\[(?:!?[0-9][0-9/_]{0,30}|__[A-Za-z0-9_]{1,60}|rank[0-9]{1,9})\] ?"
"""Behind a logger's header: a compile id, an artifact or a rank."""
_CLOCK = (
    r"\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:[.,][0-9]{1,9})?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?\]? "
    r"|[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2} "
    r"|(?:[A-Z]{4,8} )?[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} \[[^\[\]\n]{1,100}\] "  # vLLM
)
"""What GitHub, Kubernetes, systemd and others put before each line."""
_ORIGIN = (
    r"\[(?:rank|default)[0-9]+\]: ?"  # torchrun
    r"|\[[0-9]+,[0-9]+\]<std(?:out|err)>: ?"  # mpirun
    r"|[0-9]{1,6}: "  # srun -l
    r"|\([^()\n]{0,100}pid=[0-9]+[^()\n]{0,100}\) "  # Ray
    r"|[A-Za-z0-9_.-]{1,100} +\| "  # docker compose
    r"|\[pod/[^\]\n]{1,200}\] "  # kubectl logs --prefix
    r"|std(?:out|err) [FP] "  # Kubernetes, on the disk
    r"|[0-9]{2}[OE][ +]"  # GitLab
    r"|[^ \[\]\n]{1,100} [^ \[\]\n]{1,100}\[[0-9]+\]: "  # journalctl
    r"|[^\t\n]{1,100}\t[^\t\n]{1,100}\t(?=[0-9]{4}-)"  # gh run view --log
)
"""Who wrote a line, where many write into one log."""

# All expressions named in FRAMING mean the same in Python and in JavaScript, there with these flags.
FLAGS = {"link": "gi", "colour": "g", "clock": "g", "space": "g", "entity": "g"}
FRAMING = {
    "link": LINK_PATTERN,
    "colour": r"\x1b(?:\[[0-9;?]*[A-Za-z]|[\]_][^\x07\x1b\n]{0,300}(?:\x07|\x1b\\))",
    "prefix": rf"^ ?(?:{_CLOCK}|{_ORIGIN}|E {{3}}|> ?|#{{1,3}} |[-+] ?(?=[A-Z\[]))+",
    "clock": rf"{_CLOCK}|E {{3}}|> ?|#{{1,3}} |[-+] ?(?=[A-Z\[])",
    "header": r"(?:[VDIWEFC][0-9]{4} [0-9:]{8}\.[0-9]{1,9} [0-9]{1,20} [^\]\n]{1,300}\] ?"
    rf"|(?:\[[0-9/_]{{1,30}}\] )?{_LOGGER}: \[[A-Z]{{4,8}}\] ?"  # torch 2.0 to 2.2
    rf"|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):{_LOGGER}:"  # logging.basicConfig
    r"|^(?![^\n]{0,200}[VDIWEFC][0-9]{4} [0-9:]{8}\.)[^\[\]\n]{0,200}\.py:[0-9]{1,6}\] ?"  # cut by who copied it
    rf"|^(?=\[[0-9]{{1,9}}/|\[__[a-z]))(?:{_TAG})*",
    "label": rf"^[ \t]*({'|'.join(LABELS)}):(?: |$)",
    "marker": rf"{REASON}: +|dynamo\.exc\.([A-Za-z]+):(?: +|$)"
    r"|^[ \t`]*(?:Reason|Graph break): +|(?<![A-Za-z.])Unsupported: +"
    r"|^[ \t]*Exception has occurred: (?:[a-z_]+\.)*([A-Za-z]+)[ \t]*$|\breason=[\"']"
    r"|^[ \t]*(?:[a-z_]+ )?\[?\([\"']"  # a counter: ('…', 17)
    r"|^[ \t]*[0-9]{1,3}\. "  # the list of torch._dynamo.explain, up to 2.0
    r"|\bunimplemented(?:_v2|_with_warning)?\(f?[\"']",  # in a traceback, the line of torch's that gave up
    "location": r"^[ \t]*Graph break (?:\(user stack suppressed due to duplicate graph break\) )?in user code at ([^\n]+:[0-9]+)[ \t]*$",  # noqa: E501
    "function": r"^[ \t]*function: '([^'\n]*)' \(([^()\n]+:[0-9]+)\)",
    "recompiled": r"^[ \t]*Recompiling function ([^\s]+) in ([^\n]+:[0-9]+)[ \t]*$",
    "guard": r"^[ \t]*- (?:!?[0-9]+(?:/[0-9]+)+: )?(?!User stack trace:|[ \t]*File )(.+?)[ \t]*(?:[ \t]{2}# [^\n]*)?$",
    "pytest": r"^E {3}",
    "literal": r"^[ \t]+[a-z]{0,2}[\"']",  # a text in the source that pytest lists around a line that raised
    "frame": r'^[ \t]*File "([^"\n]*)", line ([0-9]+)(?:, in ([^\s,]+))?(?:, code: (.*))?',
    "space": r"[ \t\r\n\f\v\u00a0`]+",
    "entity": r"&(?:lt|gt|amp|quot|nbsp|#39|#x27);",
}
ENTITIES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&nbsp;": " ", "&#39;": "'", "&#x27;": "'"}
"""What a page's source has instead of a character."""
LINK = re.compile(FRAMING["link"], re.IGNORECASE)
COLOUR = re.compile(FRAMING["colour"])
PREFIX = re.compile(FRAMING["prefix"])
CLOCK = re.compile(FRAMING["clock"])
HEADER = re.compile(FRAMING["header"])
LABEL = re.compile(FRAMING["label"])
MARKER = re.compile(FRAMING["marker"])
LOCATION = re.compile(FRAMING["location"])
FRAME = re.compile(FRAMING["frame"])
PYTEST = re.compile(FRAMING["pytest"])
LITERAL = re.compile(FRAMING["literal"])
RECOMPILED = re.compile(FRAMING["recompiled"])
GUARD = re.compile(FRAMING["guard"])
FUNCTION = re.compile(FRAMING["function"])
GIVEN_UP = re.compile(r"(?:WON'T CONVERT|will skip tracing the frame) (\S+) \(?(.+?) line ([0-9]{1,9})")
"""The function that Dynamo leaves to Python: its name, its file and its first line."""
ENTITY = re.compile(FRAMING["entity"])
SPACE = re.compile(FRAMING["space"])
BEFORE_WORDS = rf"^\s*(?:[\w.]*_dynamo\.exc\.\w+|unsupported|{REASON}|reason|{EXPLANATION}|{HINT}|{CONTEXT}):\s+"
"""In a line that is searched for, what torch puts before the words; in JavaScript, in any case of letters."""
_MESSAGE_SIGNS = (f"{EXPLANATION[1:]}:", LINK_SIGN, "nsupported: ", REASON, CONTEXT)
BLOCK_SIGNS = (*_MESSAGE_SIGNS, "_dynamo", "_inductor")
"""In a long log, one of these is near every message: what has none of them is passed over."""
FORM_SIGNS = (
    *("hit config.", "Recompiling function ", "raph break from ", "UserWarning: "),
    *("cudagraphs due to", "data-dependent", "_inductor.exc."),
)
"""In a long log, one of these is in the line with which a message without torch's layout starts."""
_ALL_SIGNS = (*_MESSAGE_SIGNS, "_dynamo.exc", GRAPH_BREAKS, "_dynamo/exc.py", "raph break", *FORM_SIGNS)
SIGNS = tuple(one for one in _ALL_SIGNS if not any(other in one and other != one for other in _ALL_SIGNS))
"""One of these is in every line at which a message may start."""
ASKS_FOR_A_REPORT = (
    "It may be possible to write Dynamo tracing rules for this code",
    "This is likely to be a Dynamo bug",
    "This graph break may be difficult to debug",
    "Please report an issue to PyTorch",
    "Please open an issue",
)
OF_MANY_BREAKS = (
    "Your code may result in an error when running in eager",
    "Dynamo has detected that tracing the code will result in an error when running in eager",
    "This graph break is fundamental",
    "This graph break may have been caused by an earlier graph break",
    "Sparse tensor operations are not yet fully supported",
)
"""Torch gives the same sentence to dozens of breaks: true, but the last thing to try."""
SHARED_HINTS = (*ASKS_FOR_A_REPORT, *OF_MANY_BREAKS)
LINE_START = 1000
"""Characters of a line in which a logger's header or one of torch's markers is sought."""


def has_sign(text: str) -> bool:
    """Whether torch may be speaking; what a lone `any` over a generator would cost matters here."""
    for sign in SIGNS:  # noqa: SIM110
        if sign in text:
            return True
    return False


def has_form_sign(text: str) -> bool:
    """Whether a message without torch's layout may start in this line."""
    return any(sign in text for sign in FORM_SIGNS)


def read_line(line: str) -> tuple[str, str]:
    """Take colours and a logger's prefix off a line: (the record it belongs to, the rest with its indent)."""
    line = line.rstrip("\r\n")
    if "\x1b" in line:
        line = COLOUR.sub("", line)
    if "&" in line:
        line = ENTITY.sub(lambda found: ENTITIES[found[0]], line)
    if header := HEADER.match(line):  # nearly all of torch's lines; nothing stands before it
        return header[0].rstrip(), line[header.end() :]
    origin = ""
    if prefix := PREFIX.match(line):
        line = line[prefix.end() :]
        origin = CLOCK.sub("", prefix[0]).strip()
    header = HEADER.search(line, 0, LINE_START)
    return (header[0].rstrip(), line[header.end() :]) if header else (origin, line)


class Header(NamedTuple):
    """What one of torch's loggers puts before every line of a record."""

    text: str
    """With what others put before it."""
    record: str


def is_marked(body: str) -> bool:
    """Whether torch's reason for a break follows a marker in this line."""
    marker = MARKER.search(body[:LINE_START])
    return marker is not None and names_reason(marker)


def names_reason(marker: re.Match[str]) -> bool:
    """Whether what follows this marker is torch's reason for a break, and not another exception's text."""
    exception = marker[1] or marker[2]
    return not exception or exception in REASON_EXCEPTIONS


def strip_markers(body: str) -> str:
    """`torch._dynamo.exc.Unsupported: X` and `Graph Break Reason: X` are X."""
    at = 0
    while marker := MARKER.search(body[at : at + LINE_START]):
        at += marker.end()
    return body[at:].strip()
