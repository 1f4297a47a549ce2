"""torch's wheels on the package index that pip is configured for: which there are, and single files out of one.

A wheel of torch has 800 MB. Files come out of it by HTTP ranges; it is never downloaded.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html.parser import HTMLParser
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from registry.errors import PullFailed
from registry.http import PATIENCE, Patience, explain_failure, fetch, new_session, shown_url
from registry.upstream import OLDEST_RELEASE

if TYPE_CHECKING:
    import requests
    from packaging.version import Version

MAX_MEMBER_BYTES = 64 * 1024 * 1024

_ATTEMPTS = 3
_PIP_SECONDS = 30
_PIP_SETTING = re.compile(r"""(\S+)\.([\w-]+)=('.*'|".*")""")
_Answer = TypeVar("_Answer")


def list_torch_releases() -> tuple[str, ...]:
    """Every final release that has a registry, oldest first; a release that was yanked whole is left out."""
    from packaging.version import Version

    oldest = Version(OLDEST_RELEASE)
    finals = {Version(wheel.version.public) for wheel in _torch_wheels() if not wheel.yanked and wheel.final}
    return tuple(str(version) for version in sorted(finals) if version >= oldest)


class WheelReader:
    """The files of one torch release, read by HTTP ranges. Always the same wheel for the same release.

    with WheelReader("2.15.0") as wheel:
        raw = wheel.read("torch/_dynamo/graph_break_registry.json")
    """

    def __init__(self, release: str, *, patience: Patience = PATIENCE) -> None:
        self._wheel = _choose_wheel(release)
        self._patience = patience
        self._session = new_session()
        self._session.hooks["response"].append(_close_unless_partial)
        self._zip: zipfile.ZipFile | None = None

    @property
    def name(self) -> str:
        """The wheel's file name."""
        return self._wheel.name

    @property
    def release(self) -> str:
        """The version as the index spells it, without a local part such as +cpu."""
        return self._wheel.version.public

    def names(self) -> tuple[str, ...]:
        """The path of every file in the wheel."""
        return self._persist(lambda wheel: tuple(wheel.namelist()))

    def day_of(self, path: str) -> str:
        """The day that one file was packed, 2026-10-28."""
        year, month, day, *_ = self._persist(lambda wheel: wheel.getinfo(path)).date_time
        return f"{year:04}-{month:02}-{day:02}"

    def read(self, path: str) -> bytes:
        """The content of one file."""
        return self._persist(lambda wheel: self._read(wheel, path))

    def close(self) -> None:
        self._drop_zip()
        self._session.close()

    def __enter__(self) -> WheelReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _read(self, wheel: zipfile.ZipFile, path: str) -> bytes:
        try:
            member = wheel.getinfo(path)
        except KeyError:
            raise PullFailed(f"{self.name} holds no {path}") from None
        if member.file_size > MAX_MEMBER_BYTES:
            raise PullFailed(f"{path} in {self.name} has {member.file_size:,} bytes; that cannot be right")
        return wheel.read(member)

    def _persist(self, question: Callable[[zipfile.ZipFile], _Answer]) -> _Answer:
        """Ask again, with a new connection, when an answer breaks off midway: the session retries only before that."""
        import urllib3
        from remotezip import RangeNotSupported, RemoteIOError, RemoteZipError

        failure = ""
        for _ in range(_ATTEMPTS):
            try:
                return question(self._open_zip())
            except RangeNotSupported:
                raise self._failed("this server sends whole files only; a wheel is too large") from None
            except RemoteIOError as error:  # of the error beneath, it keeps only a text that names the whole address
                raise self._failed(explain_failure(error.__context__ or error)) from None
            except RemoteZipError:
                raise self._failed("this server's answers to range requests make no sense") from None
            except (zipfile.BadZipFile, zlib.error, EOFError):
                failure = "not a readable wheel"
            except (urllib3.exceptions.HTTPError, OSError) as error:
                failure = explain_failure(error)
            self._drop_zip()
        raise self._failed(failure)

    def _open_zip(self) -> zipfile.ZipFile:
        if self._zip is None:
            self._zip = _open_remote_zip(self._wheel.url, self._session, self._patience)
        return self._zip

    def _drop_zip(self) -> None:
        if self._zip is not None:
            self._zip.close()
            self._zip = None

    def _failed(self, reason: str) -> PullFailed:
        return PullFailed(f"{shown_url(self._wheel.url)}: {reason}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wheel:
    """A file on an index."""

    name: str
    url: str
    version: Version
    python: int
    platform: str
    yanked: bool

    @property
    def final(self) -> bool:
        return not self.version.is_prerelease

    @property
    def preference(self) -> tuple[object, ...]:
        """Smallest first. The registry is the same in all wheels of a release; the choice only has to be stable."""
        usual = bool(re.search(r"manylinux.*x86_64", self.platform))
        return self.yanked, bool(self.version.local), not usual, self.python, self.name


def _choose_wheel(release: str) -> _Wheel:
    from packaging.version import InvalidVersion, Version

    try:
        wanted = Version(release)
    except InvalidVersion:
        raise PullFailed(f"{release!r} is not a version of torch; one looks like {OLDEST_RELEASE}") from None
    wheels = [wheel for wheel in _torch_wheels() if Version(wheel.version.public) == wanted]
    if not wheels:
        raise PullFailed(f"the package index has no wheel of torch {wanted}")
    return min(wheels, key=lambda wheel: wheel.preference)


def _torch_wheels() -> list[_Wheel]:
    """From every index that pip asks. One that is down matters only when no other has torch."""
    wheels: list[_Wheel] = []
    failures = []
    for index in _index_urls():
        try:
            page = fetch(f"{index.rstrip('/')}/torch/")
        except PullFailed as failure:
            failures.append(str(failure))
            continue
        wheels += _parse_index_page(page.body.decode("utf-8", "replace"), page.url)
    if not wheels:
        reasons = "; ".join(failures) or "none that is configured for pip does"
        raise PullFailed(f"no package index offers torch: {reasons}")
    return wheels


def _parse_index_page(text: str, page_url: str) -> Iterator[_Wheel]:
    """The wheels that a page of the simple repository API (PEP 503) links to."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    links = _Links()
    links.feed(text)
    for attributes in links.found:
        address = urldefrag(urljoin(page_url, attributes.get("href") or "")).url
        name = unquote(urlsplit(address).path.rpartition("/")[2])
        try:
            project, version, _, tags = parse_wheel_filename(name)
        except InvalidWheelFilename:
            continue  # an sdist, a signature, a link home
        if project != "torch":
            continue
        tag = min(tags, key=str)
        yield _Wheel(
            name=name,
            url=_with_credentials(page_url, address),
            version=version,
            python=int(re.sub(r"\D", "", tag.interpreter) or 0),
            platform=name.rpartition("-")[2],
            yanked="data-yanked" in attributes,
        )


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Mapping[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.append(dict(attrs))


def _with_credentials(page_url: str, address: str) -> str:
    """Give the index's user and password to links on the same server, and, as pip does, to no other."""
    page, link = urlsplit(page_url), urlsplit(address)
    credentials, at, server = page.netloc.rpartition("@")
    if at and link.scheme == page.scheme and link.netloc == server:
        return link._replace(netloc=f"{credentials}@{server}").geturl()
    return address


def _index_urls() -> tuple[str, ...]:
    """What pip would ask: its index and the extra ones. Local folders (file://) hold no torch, and are passed over."""
    settings = _pip_settings()
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        raise PullFailed("pip is configured to use no package index (no-index)")
    index = settings.get("index-url") or _pip_default_index()
    urls = (index, *settings.get("extra-index-url", "").split())
    return tuple(url for url in dict.fromkeys(urls) if urlsplit(url).scheme in ("http", "https"))


def _pip_settings() -> dict[str, str]:
    """pip's settings from its files and from the environment, the latter also where pip itself is not installed."""
    sections: dict[str, dict[str, str]] = {}
    for line in (_ask_python("-m", "pip", "config", "list") or "").splitlines():
        setting = _PIP_SETTING.fullmatch(line)
        if setting:
            section, key, value = setting.groups()
            sections.setdefault(section, {})[key] = str(ast.literal_eval(value))
    environment = {
        name.removeprefix("PIP_").lower().replace("_", "-"): value
        for name, value in os.environ.items()
        if name.startswith("PIP_") and value
    }
    return {**sections.get("global", {}), **sections.get("install", {}), **environment}


def _pip_default_index() -> str:
    default = _ask_python("-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)")
    if default is None:
        raise PullFailed(f"no package index: {sys.executable} has no pip; install it, or set PIP_INDEX_URL")
    return default.strip()


def _ask_python(*arguments: str) -> str | None:
    """What this interpreter prints when asked in a process of its own; None when it cannot say."""
    try:
        answer = subprocess.run(
            [sys.executable, *arguments], capture_output=True, encoding="utf-8", timeout=_PIP_SECONDS, check=True
        )
    except (subprocess.SubprocessError, OSError, UnicodeError):
        return None
    return answer.stdout


def _close_unless_partial(response: requests.Response, **_settings: object) -> None:
    """remotezip leaves an answer that it cannot use open, and that answer may be a whole wheel."""
    if "Content-Range" not in response.headers:
        response.close()


def _open_remote_zip(url: str, session: requests.Session, patience: Patience) -> zipfile.ZipFile:
    from remotezip import RemoteFetcher, RemoteZip

    class WholeRanges(RemoteFetcher):  # type: ignore[misc]
        """Reads each range to its end: the connection can then be used again, and a cut answer is noticed."""

        def fetch(self, data_range: tuple[int, int | None], stream: bool = False) -> Any:  # noqa: ARG002
            return super().fetch(data_range, stream=False)

    archive: zipfile.ZipFile = RemoteZip(
        url,
        session=session,
        fetcher=WholeRanges,
        timeout=(patience.connect, patience.read),
        headers={"Accept-Encoding": "identity"},
    )
    return archive
