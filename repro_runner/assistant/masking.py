"""Mask what must not leave the machine: keys, passwords, addresses of people and of hosts, home folders.

What looks like a secret is one: a name that is masked for nothing costs a little understanding, a key that is not
costs a key. The same text gets the same mask in everything that one Masker sees, and nothing turns a mask back.
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
"""A name that tells, in any case: API_KEY, db_password, hf-token; not `tokenizer`, `author` or `token_type_ids`."""
_CAMEL = r"[\w.-]*[a-z](?:Token|Secret|Password|Passwd|Key|Credential)s?|[A-Z0-9_]*KEYS?"
_LOGIN = r"[\w.]*(?:login|log_in|authenticate)(?=\s*\()"
_NAMED = re.compile(
    rf"\b(?:(?P<name>(?i:{NAME})|{_CAMEL})(?:(?P<quoted>[\"'])\s*\]?\s*(?P<after>=(?!=)|:|,)|\s*(?P<sign>:=|=(?!=)|(?<!pass):(?!=)))"
    rf"|{_LOGIN}\s*(?P<call>\())"
)
"""In quotes, a comma may follow: `set_option("api_key", "…")`."""
_TO_VALUE = re.compile(r"\s*(?:[\w.\[\]| ]+=)?\s*\(?\s*")
"""What may stand between the name and a value of several lines: its type, a bracket. Other quotes may be the end of a
docstring that only speaks of a name."""
_PIECE = re.compile(
    r"(?P<string>[rbfuRBFU]{0,2}(?P<quote>\"\"\"|'''|\"|')(?P<value>(?:\\.|(?!(?P=quote))[\s\S])*?)(?P=quote))"
    r"|(?P<other>[\s\S])"
)
_FARTHEST = 4000
"""Characters after a name: a bracket that nothing closes ends there."""


def find_values(text: str) -> Iterator[tuple[int, int]]:
    """Where the contents of such texts begin and end, in order and none twice."""
    at = 0
    for named in _NAMED.finditer(text):
        for start, end in _strings_after(text, max(named.end(), at), named["after"] or named["sign"] or "("):
            if text[start:end] != named["name"]:  # `Token = NewType("Token", int)`
                yield start, end
            at = end + 1


def _strings_after(text: str, start: int, sign: str) -> Iterator[tuple[int, int]]:
    """Up to the end of the value; after a comma or a bracket, up to the end of the call."""
    depth = 1 if sign == "(" else 0
    whole_call = sign in ",("
    position = start
    while position < min(len(text), start + _FARTHEST):
        piece = _PIECE.match(text, position)
        assert piece is not None, "any character is a piece"
        if piece["string"] and _is_whole(text[start:position], piece):
            yield piece.span("value")
            position = piece.end()
            continue
        position += 1
        each = text[position - 1]
        depth += (each in "([{") - (each in ")]}")
        if depth < 0 or (sign == "(" and not depth) or (depth == 0 and _ends(each, whole_call=whole_call)):
            return


def _is_whole(before: str, piece: re.Match[str]) -> bool:
    """Not an apostrophe, and not the end of a text in which the name stands."""
    if len(piece["quote"]) == 3:
        return _TO_VALUE.fullmatch(before) is not None
    return "\n" not in piece["value"]


def _ends(character: str, *, whole_call: bool) -> bool:
    return character in ";#" or (not whole_call and character in ",\n")


_BARE = re.compile(
    rf"(?P<before>(?:^|[\s;&?#\"']){NAME}(?:=|:\s+))(?P<value>[^\s\"'&;,)(\]\[}}{{]+)",
    re.IGNORECASE | re.MULTILINE,
)
"""As shells, logs and addresses have it: `HF_TOKEN=…`, `?token=…`, `password: …`."""
_SPACED = re.compile(rf"(?P<before>\b{NAME}\s*=\s+)(?P<value>(?=\S*[\d/+])[\w/+=.~-]{{16,}})(?=\s|$)", re.IGNORECASE)
"""As files of settings have it: `aws_secret_access_key = …`."""
_SAID = re.compile(
    r"(?P<before>\b(?:password|passphrase|passwd|secret|token|pin)\s+(?:is|was)\s+[\"'`]?)(?P<value>[^\s\"'`]{4,})",
    re.IGNORECASE,
)
"""In a comment: `the password is …`."""
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
"""In an address, or quoted by itself with at least three parts."""
_PUBLIC = re.compile(
    r"(?i)(?:localhost|(?:[\w-]+\.)*(?:pytorch\.org|github\.com|github\.io|huggingface\.co|python\.org|pypi\.org|"
    r"readthedocs\.io|arxiv\.org|example\.(?:com|org)|apache\.org|opensource\.org|wikipedia\.org|w3\.org))\Z"
)
_NOT_SECRET = {"127.0.0.1", "0.0.0.0"}
_PERSON = r"[^/\\\s\"':,;]+(?:(?: [^/\\\s\"':,;]+)+(?=[/\\]))?"
_HOMES = re.compile(rf"/root(?=/)|(?:(?:/home/|(?:\b[A-Za-z]:)?(?i:[/\\]+users[/\\]+))(?:{_PERSON})?)")
"""Of Linux, macOS and Windows; a name may have spaces in it where the path goes on."""
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
    """Masks text after text; equal secrets get equal masks."""

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
        """Where a secret stands alone, it was betrayed by a name beside it elsewhere."""
        for secret in sorted(self.known, key=len, reverse=True):
            if len(secret) >= _SHORTEST_KNOWN:
                text = text.replace(secret, self.known[secret])
        return text

    def _masked_run(self, found: re.Match[str]) -> str:
        """All of it, or of a path only the parts that look random."""
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
    """Whether letters and digits follow each other as nobody writes them: a key, a digest, base64."""
    if len(run) < _SHORTEST or not (any(map(str.isdigit, run)) and any(map(str.isalpha, run))):
        return False
    if re.search(r"(?<![0-9a-zA-Z])[0-9a-f]{24,}(?![0-9a-zA-Z])|\A[0-9A-F-]{24,}\Z", run):
        return "/" not in run
    chunks = _CHUNK.findall(run)
    # `self.dense_h_to_4h` is a name of the program's, though as short of letters as a key is.
    named = _DOTTED.fullmatch(run) and not (any(map(str.isupper, run)) and sum(map(str.isdigit, run)) > 2)
    return not named and _entropy(run) > 3.2 and sum(map(len, chunks)) / len(chunks) < 2.6


def _entropy(run: str) -> float:
    """Bits per character."""
    counts = Counter(run).values()
    return -sum(count / len(run) * math.log2(count / len(run)) for count in counts)


def _is_of_the_program(value: str) -> bool:
    """A type, a number, a constant or an attribute, without quotes: `token: str`, `pad_token=0`, `key=self.key`."""
    return bool(_PLAIN.fullmatch(value))


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # an id without a name, as in containers
        return ""
