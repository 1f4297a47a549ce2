"""Mask what must not leave the machine: keys, passwords, addresses of people and of hosts, home folders.

Everything that looks like a secret is masked, because a secret that is sent does more harm than a name that is masked
by mistake. A Masker gives the same text the same mask every time. A mask can't be turned back into its text.
"""

from __future__ import annotations

import functools
import getpass
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_WORDS = (
    r"(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|private[_-]?key|account[_-]?key|"
    r"auth|authorization|credential)s?"
)
NAME = rf"[\w.-]*?(?<![a-z])(?:{_WORDS}(?![a-z])[\w.-]*?|token|pass|pw)"
"""A name for a secret, in any case: API_KEY, db_password, hf-token; not `tokenizer`, `author`, `token_type_ids`."""
_CAMEL = r"[\w.-]*[a-z](?:Token|Secret|Password|Passwd|Key|Credential)s?|[A-Z0-9_]*KEYS?"
_LOGIN = r"[\w.]*(?:login|log_in|authenticate)(?=\s*\()"
_NAMED = re.compile(
    rf"\b(?:(?P<name>(?i:{NAME})|{_CAMEL})(?:(?P<quoted>[\"'])\s*\]?\s*(?P<after>=(?!=)|:|,)|\s*(?P<sign>:=|=(?!=)|(?<!pass):(?!=)))"
    rf"|{_LOGIN}\s*(?P<call>\())"
)
"""A name before a value. After a quoted name there may be a comma: `set_option("api_key", "…")`."""
_TO_VALUE = re.compile(r"\s*(?:[\w.\[\]| ]+=)?\s*\(?\s*")
"""The text between a name and a value with several lines: a type, a bracket. With any other text between them, the
quotes may be the end of a docstring that only mentions the name."""
_PIECE = re.compile(
    r"(?P<string>[rbfuRBFU]{0,2}(?P<quote>\"\"\"|'''|\"|')(?P<value>(?:\\.|(?!(?P=quote))[\s\S])*?)(?P=quote))"
    r"|(?P<other>[\s\S])"
)
_FARTHEST = 4000
"""How many characters after a name are searched, in case a bracket is never closed."""


def find_values(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of every string that belongs to a name for a secret, in order and without duplicates."""
    at = 0
    for named in _NAMED.finditer(text):
        for start, end in _strings_after(text, max(named.end(), at), named["after"] or named["sign"] or "("):
            if text[start:end] != named["name"]:  # `Token = NewType("Token", int)`
                yield start, end
            at = end + 1


def _strings_after(text: str, start: int, sign: str) -> Iterator[tuple[int, int]]:
    """Yield the strings up to the end of the value. After a comma or a bracket, up to the end of the call."""
    depth = 1 if sign == "(" else 0
    whole_call = sign in ",("
    position = start
    while position < min(len(text), start + _FARTHEST):
        piece = _PIECE.match(text, position)
        assert piece is not None, "any character is a piece"
        if piece["string"] and _is_string(text[start:position], piece):
            yield piece.span("value")
            position = piece.end()
            continue
        position += 1
        each = text[position - 1]
        depth += (each in "([{") - (each in ")]}")
        if depth < 0 or (sign == "(" and not depth) or (depth == 0 and _ends(each, whole_call=whole_call)):
            return


def _is_string(before: str, piece: re.Match[str]) -> bool:
    """Whether this is a string, and not an apostrophe or the end of a docstring that contains the name."""
    if len(piece["quote"]) == 3:
        return _TO_VALUE.fullmatch(before) is not None
    return "\n" not in piece["value"]


def _ends(character: str, *, whole_call: bool) -> bool:
    return character in ";#" or (not whole_call and character in ",\n")


_BARE = re.compile(
    rf"(?P<before>(?:^|[\s;&?#\"']){NAME}(?:=|:\s+))(?P<value>[^\s\"'&;,)(\]\[}}{{]+)",
    re.IGNORECASE | re.MULTILINE,
)
"""A value in a shell command, a log or an address: `HF_TOKEN=…`, `?token=…`, `password: …`."""
_SPACED = re.compile(rf"(?P<before>\b{NAME}\s*=\s+)(?P<value>(?=\S*[\d/+])[\w/+=.~-]{{16,}})(?=\s|$)", re.IGNORECASE)
"""A value in a settings file: `aws_secret_access_key = …`."""
_SAID = re.compile(
    r"(?P<before>\b(?:password|passphrase|passwd|secret|token|pin)\s+(?:is|was)\s+[\"'`]?)(?P<value>[^\s\"'`]{4,})",
    re.IGNORECASE,
)
"""A value in a comment: `the password is …`."""
_FLAG = re.compile(rf"(?P<before>(?<!\S)--?{NAME}\s+)(?P<value>[^\s\"'\-][^\s\"']*)", re.IGNORECASE)

_SHAPES = tuple(
    re.compile(pattern)
    for pattern in (
        r"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----|\Z)",
        r"\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?",  # a signed token of the web
        r"\b(?:sk-[\w-]{16,}|[prs]k_(?:live|test)_\w{10,})",
        r"\b(?:gh[oprsu]_|hf_|npm_|dop_v1_|shpat_)[A-Za-z0-9]{20,}",
        r"\b(?:github_pat_|glpat-|pypi-|xox[abeoprs]-|ya29\.|SG\.|AIza)[\w.-]{16,}",
        r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{12,}",
        r"(?i)(?<=hooks\.slack\.com/)[^\s\"']+|(?<=/api/webhooks/)[^\s\"']+",
        r"\b(?:ssh-\w+|ecdsa-[\w-]+) AAAA[\w+/=]+(?: [^\s\"']+)?",
        r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b",
        r"(?i)(?<=\bbearer )[\w.~+/=-]{6,}",
        r"(?i)(?<=\bbasic )[\w+/=-]{8,}",
        r"(?<=://)[^\s/@\"']+@[^\s/\"':]+",  # user and password in an address, and whose they are
        r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b",
        r"\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b(?!\.\d)",
        r"(?i)\b(?:[\w-]+\.)+(?:internal|intranet|intra|localdomain|corp|lan)\b",
        r"(?i)(?<=[\"'@/ ])(?:[\w-]+\.)*[a-z]*[\d-][\w-]*\.(?:local|home|private)\b",  # not `self.home`
    )
)
_HOST = re.compile(
    r"(?<=://)[\w.-]+|(?<=[\"'])(?:[\w-]+\.){2,}(?:com|net|org|io|ai|co|cloud|dev|edu|gov|de|uk|cn|jp)(?=[\"':/])"
)
"""A host name in an address, or in quotes with at least three parts."""
_PUBLIC = re.compile(
    r"(?i)(?:localhost|(?:[\w-]+\.)*(?:pytorch\.org|github\.com|github\.io|huggingface\.co|python\.org|pypi\.org|"
    r"readthedocs\.io|arxiv\.org|example\.(?:com|org)|apache\.org|opensource\.org|wikipedia\.org|w3\.org))\Z"
)
_NOT_SECRET = {"127.0.0.1", "0.0.0.0"}
_PERSON = r"[^/\\\s\"':,;]+(?:(?: [^/\\\s\"':,;]+)+(?=[/\\]))?"
_HOMES = re.compile(rf"/root(?=/)|(?:(?:/home/|(?:\b[A-Za-z]:)?(?i:[/\\]+users[/\\]+))(?:{_PERSON})?)")
"""Home folders of Linux, macOS and Windows. A user's name may contain spaces if the path continues after it."""
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9+/=_.~-]{15,}")
_MASK = re.compile(r"<masked-\d+>")
_PLAIN = re.compile(r"None|True|False|null|true|false|str|bytes|int|bool|object|Any|\d|[A-Za-z_]+(?:\.[A-Za-z_]+)+|\W+")
_HARMLESS = re.compile(r"\[[A-Z]{2,5}\]|</?[a-z_]{1,8}>|<\|[a-z_]+\|>|[\W_]{1,2}")
"""A tokenizer's special token, or a separator."""
_SHORTEST = 16
_SHORTEST_KNOWN = 6
_DOTTED = re.compile(r"[A-Za-z]+\w*[._]\w[\w.]*")
_CHUNK = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")


@dataclass(slots=True)
class Masker:
    """Masks texts. Equal secrets get equal masks."""

    known: dict[str, str] = field(default_factory=dict)
    home: str = field(default_factory=lambda: str(Path.home()))
    user: str = field(default_factory=lambda: _login())

    def mask(self, text: str) -> str:
        """The text without anything that looks like a secret."""
        text = self._without_known(text)
        for pattern in _SHAPES:
            text = pattern.sub(lambda found: self._masked(found[0]), text)
        text = self._without_named(text)
        for pattern, keeps in ((_FLAG, None), (_BARE, _is_of_the_program), (_SPACED, str.isidentifier), (_SAID, None)):
            text = pattern.sub(functools.partial(self._masked_value, keeps=keeps), text)
        text = _HOST.sub(lambda found: found[0] if _PUBLIC.match(found[0]) else self._masked(found[0]), text)
        text = self._without_home(text)
        return self._without_known(_RUN.sub(self._masked_run, text))

    def _without_named(self, text: str) -> str:
        pieces, at = [], 0
        for start, end in find_values(text):
            value = text[start:end]
            if value.strip() and not _MASK.fullmatch(value) and not _HARMLESS.fullmatch(value):
                pieces += [text[at:start], self._masked(value)]
                at = end
        return "".join([*pieces, text[at:]])

    def _without_known(self, text: str) -> str:
        """Mask secrets that were found before, also where there is no name beside them."""
        for secret in sorted(self.known, key=len, reverse=True):
            if len(secret) >= _SHORTEST_KNOWN:
                text = text.replace(secret, self.known[secret])
        return text

    def _masked_run(self, found: re.Match[str]) -> str:
        """Mask the whole run if it looks random, or only the parts of a path that do."""
        if is_random(found[0]):
            return self._masked(found[0])
        return "/".join(self._masked(part) if is_random(part) else part for part in found[0].split("/"))

    def _masked_value(self, found: re.Match[str], keeps: Callable[[str], object] | None) -> str:
        value = found["value"]
        start, end = found.start("value") - found.start(), found.end("value") - found.start()
        in_address = found[0][0] in "?&"
        if not value.strip() or _MASK.fullmatch(value) or (keeps is not None and not in_address and keeps(value)):
            return found[0]
        return f"{found[0][:start]}{self._masked(value)}{found[0][end:]}"

    def _masked(self, secret: str) -> str:
        if secret in _NOT_SECRET or secret.startswith("<masked-"):
            return secret
        return self.known.setdefault(secret, f"<masked-{len(self.known) + 1}>")

    def _without_home(self, text: str) -> str:
        if len(self.home) > 1:
            text = re.sub(rf"{re.escape(self.home)}(?![\w-])", "~", text)
        text = _HOMES.sub("~", text)
        if len(self.user) > 2 and self.user != "root":
            text = re.sub(rf"(?<=[/\\]){re.escape(self.user)}(?=[/\\])", "<user>", text)
        return text


def is_random(run: str) -> bool:
    """Whether a run of letters and digits looks random: a key, a digest, base64."""
    if len(run) < _SHORTEST or not (any(map(str.isdigit, run)) and any(map(str.isalpha, run))):
        return False
    if re.search(r"(?<![0-9a-zA-Z])[0-9a-f]{24,}(?![0-9a-zA-Z])|\A[0-9A-F-]{24,}\Z", run):
        return "/" not in run
    chunks = _CHUNK.findall(run)
    # `self.dense_h_to_4h` is a name in a program, although it has as few letters as a key.
    named = _DOTTED.fullmatch(run) and not (any(map(str.isupper, run)) and sum(map(str.isdigit, run)) > 2)
    return not named and _entropy(run) > 3.2 and sum(map(len, chunks)) / len(chunks) < 2.6


def _entropy(run: str) -> float:
    """The entropy in bits per character."""
    counts = Counter(run).values()
    return -sum(count / len(run) * math.log2(count / len(run)) for count in counts)


def _is_of_the_program(value: str) -> bool:
    """Whether this is code, not a secret: a type, number, constant or attribute: `token: str`, `key=self.key`."""
    return bool(_PLAIN.fullmatch(value))


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an id without a name, as in containers
        return ""
