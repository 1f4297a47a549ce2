"""torch's wheels on a package index: which there are, and files out of one without downloading it."""

from __future__ import annotations

import base64
import io
import os
import random
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from registry import wheels
from registry.errors import PullFailed
from registry.http import Patience
from registry.upstream import REGISTRY_PATH, parse_registry
from registry.wheels import WheelReader, list_torch_releases
from tests.loopback import Answer, Exchange, Loopback, serve

pytestmark = pytest.mark.slow

WHEEL = "torch-2.15.0-cp310-cp310-manylinux_2_28_x86_64.whl"
REGISTRY = b'{"GB0001": [{"Gb_type": "t", "Context": "", "Explanation": "", "Hints": []}]}'
QUICK = Patience(connect=2.0, read=2.0)


def make_wheel() -> bytes:
    """A registry and a megabyte that nobody wants, which does not compress."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("torch/__init__.py", "raise ImportError\n")
        wheel.writestr(REGISTRY_PATH, REGISTRY)
        wheel.writestr("torch/lib/libtorch.so", random.Random(0).randbytes(1_000_000))
    return packed.getvalue()


BYTES = make_wheel()


def send_wheel(exchange: Exchange) -> None:
    exchange.send_range_of(BYTES)


def links(*names: str, attributes: str = "") -> str:
    return "".join(f'<a href="../../files/{name}#sha256=0" {attributes}>{name}</a><br/>\n' for name in names)


@pytest.fixture(autouse=True)
def no_pip_settings(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Each test says by itself which index pip is configured for."""
    if "index" in request.keywords:
        return
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@contextmanager
def index(page: str, file_answer: Answer = send_wheel) -> Iterator[Loopback]:
    """A simple repository (PEP 503) that has torch alone."""

    def answer(exchange: Exchange) -> None:
        if exchange.path == "/simple/torch/":
            exchange.send(200, page.encode(), {"Content-Type": "text/html"})
        elif exchange.path.startswith("/files/"):
            file_answer(exchange)
        else:
            exchange.send(404)

    with serve(answer) as server:
        yield server


def use(monkeypatch: pytest.MonkeyPatch, server: Loopback) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple")


def test_one_file_comes_out_of_a_wheel_without_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    with index(links(WHEEL)) as server:
        use(monkeypatch, server)
        with WheelReader("2.15.0", patience=QUICK) as wheel:
            assert wheel.name == WHEEL
            assert wheel.release == "2.15.0"
            assert wheel.names() == ("torch/__init__.py", REGISTRY_PATH, "torch/lib/libtorch.so")
            assert wheel.read(REGISTRY_PATH) == REGISTRY
            assert wheel.read("torch/__init__.py") == b"raise ImportError\n"
    assert server.sent < 100_000 < len(BYTES)


def test_a_server_without_ranges_is_refused_before_it_sends_the_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    with index(links(WHEEL), lambda exchange: exchange.send(200, BYTES)) as server:
        use(monkeypatch, server)
        with WheelReader("2.15.0", patience=QUICK) as wheel, pytest.raises(PullFailed, match="whole files only"):
            wheel.read(REGISTRY_PATH)
    assert sum(seen.path.startswith("/files/") for seen in server.seen) == 1


def test_a_server_that_starts_to_send_the_whole_wheel_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_off = threading.Event()

    def send_for_ever(exchange: Exchange) -> None:
        exchange.send_response(200)
        exchange.send_header("Content-Length", str(10**12))
        exchange.end_headers()
        try:
            while True:
                exchange.wfile.write(bytes(65_536))
        except OSError:
            cut_off.set()

    with index(links(WHEEL), send_for_ever) as server:
        use(monkeypatch, server)
        with WheelReader("2.15.0", patience=QUICK) as wheel:
            with pytest.raises(PullFailed) as failure:
                wheel.names()
            assert cut_off.wait(5), f"still being sent after: {failure.value}"


def test_the_choice_of_the_wheel_does_not_depend_on_the_order_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [
        "torch-2.15.0-cp39-cp39-macosx_14_0_arm64.whl",
        "torch-2.15.0-cp39-cp39-manylinux_2_28_aarch64.whl",
        "torch-2.15.0-cp311-cp311-manylinux_2_28_x86_64.whl",
        WHEEL,
        "torch-2.15.0-cp313-cp313t-manylinux_2_28_x86_64.whl",
        "torch-2.15.0+cpu-cp39-cp39-manylinux_2_28_x86_64.whl",
        "torch-2.15.1-cp39-cp39-manylinux_2_28_x86_64.whl",
    ]
    for order in (names, names[::-1]):
        with index(links(*order)) as server:
            use(monkeypatch, server)
            assert WheelReader("2.15.0").name == WHEEL


def test_releases_are_final_not_yanked_since_2_8_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def name(version: str) -> str:
        return f"torch-{version}-cp310-cp310-manylinux_2_28_x86_64.whl"

    page = links(*map(name, ["2.10.0", "2.9.1", "2.8.0", "2.7.1", "1.13.0", "2.11.0rc1", "2.12.0.dev1", "2.9.0+cpu"]))
    page += links(name("2.14.0"), attributes='data-yanked=""') + links(name("2.13.0"), attributes="data-yanked")
    page += links("torch-2.16.0.tar.gz", "torchvision-2.16.0-py3-none-any.whl", "torch-2.16.0-py3.whl", "..")
    with index(page) as server:
        use(monkeypatch, server)
        assert list_torch_releases() == ("2.8.0", "2.9.0", "2.9.1", "2.10.0")


def test_a_yanked_wheel_is_the_last_choice_but_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    other = WHEEL.replace("cp310", "cp312")
    with index(links(WHEEL, attributes="data-yanked='broken'") + links(other)) as server:
        use(monkeypatch, server)
        assert WheelReader("2.15.0").name == other
    with index(links(WHEEL, attributes="data-yanked='broken'")) as server:
        use(monkeypatch, server)
        assert WheelReader("2.15").name == WHEEL


def test_pips_own_settings_file_names_the_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with index(links(WHEEL)) as server:
        settings = tmp_path / "pip.conf"
        settings.write_text(f"[global]\nindex-url = {server.url}/simple/\n")
        monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
        assert list_torch_releases() == ("2.15.0",)


def test_the_environment_goes_before_the_settings_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = tmp_path / "pip.conf"
    settings.write_text("[global]\nindex-url = http://127.0.0.1:1/simple/\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(settings))
    with index(links(WHEEL)) as server:
        use(monkeypatch, server)
        assert list_torch_releases() == ("2.15.0",)


def test_an_extra_index_is_asked_too_and_folders_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with serve(lambda exchange: exchange.send(404)) as empty, index(links(WHEEL)) as extra:
        monkeypatch.setenv("PIP_INDEX_URL", f"{empty.url}/simple")
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"{tmp_path.as_uri()}  {extra.url}/simple")
        assert list_torch_releases() == ("2.15.0",)
    assert empty.seen


def ask_pip_for_its_default() -> str:
    command = [sys.executable, "-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def test_without_any_setting_pip_itself_says_which_index() -> None:
    assert wheels._index_urls() == (ask_pip_for_its_default(),)


def test_no_index_means_no_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(PullFailed, match="no-index"):
        list_torch_releases()


def test_no_source_file_names_an_index() -> None:
    host = urlsplit(ask_pip_for_its_default()).netloc
    sources = Path(wheels.__file__).parent.glob("*.py")
    assert host
    assert [path.name for path in sources if host in path.read_text(encoding="utf-8")] == []


@pytest.mark.parametrize(
    ("release", "says"),
    [
        ("2.99.0", "the package index has no wheel of torch 2.99.0"),
        ("newest", "'newest' is not a version of torch"),
        ("2.15.0rc1", "no wheel of torch 2.15.0rc1"),
    ],
)
def test_a_release_that_is_not_there_is_a_failure(release: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with index(links(WHEEL)) as server:
        use(monkeypatch, server)
        with pytest.raises(PullFailed, match=says):
            WheelReader(release)


def test_a_file_that_the_wheel_lacks_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    with index(links(WHEEL)) as server:
        use(monkeypatch, server)
        with WheelReader("2.15.0", patience=QUICK) as wheel, pytest.raises(PullFailed) as failure:
            wheel.read("torch/nothing.py")
    assert str(failure.value) == f"{WHEEL} holds no torch/nothing.py"


def test_a_file_of_absurd_size_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wheels, "MAX_MEMBER_BYTES", 10)
    with index(links(WHEEL)) as server:
        use(monkeypatch, server)
        with WheelReader("2.15.0", patience=QUICK) as wheel, pytest.raises(PullFailed, match="cannot be right"):
            wheel.read(REGISTRY_PATH)


def cut_short(exchange: Exchange) -> None:
    exchange.send(206, b"PK", {"Content-Length": "1000", "Content-Range": "bytes 0-999/1000"})


@pytest.mark.parametrize("trouble", [cut_short, lambda exchange: exchange.send(503)])
def test_trouble_that_passes_is_survived(trouble: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = iter([trouble, trouble])
    with index(links(WHEEL), lambda asked: next(turns, send_wheel)(asked)) as server:
        use(monkeypatch, server)
        with WheelReader("2.15.0", patience=QUICK) as wheel:
            assert wheel.read(REGISTRY_PATH) == REGISTRY


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (lambda exchange: exchange.send(404), "answered 404 Not Found"),
        (lambda exchange: exchange.send(503), "answered 503 Service Unavailable"),
        (cut_short, "the answer was cut short"),
        (Exchange.hang, "no answer in time"),
        (lambda exchange: exchange.send_range_of(b"not a zip" * 100), "not a readable wheel"),
        (
            lambda exchange: exchange.send(206, b"", {"Content-Range": "nonsense"}),
            "answers to range requests make no sense",
        ),
    ],
    ids=["404", "503", "cut", "hang", "no zip", "bad range"],
)
def test_trouble_that_stays_is_one_sentence_without_credentials(
    answer: Answer, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with index(links(WHEEL), answer) as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.url.replace("//", "//user:secret@") + "/simple")
        with WheelReader("2.15.0", patience=QUICK) as wheel, pytest.raises(PullFailed) as failure:
            wheel.read(REGISTRY_PATH)
    assert str(failure.value).startswith(f"{server.url}/files/{WHEEL}: ")
    assert says in str(failure.value)
    assert "secret" not in str(failure.value)


def test_an_index_that_is_down_is_named_without_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://user:secret@127.0.0.1:1/simple")
    with pytest.raises(PullFailed) as failure:
        list_torch_releases()
    assert str(failure.value) == ("no package index offers torch: http://127.0.0.1:1/simple/torch/: connection refused")


@pytest.mark.parametrize("style", ["relative", "absolute"])
def test_credentials_in_the_index_address_open_the_page_and_the_wheel(
    style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = "Basic " + base64.b64encode(b"user:secret").decode()

    def answer(exchange: Exchange) -> None:
        if exchange.headers["Authorization"] != expected:
            exchange.send(401)
        elif exchange.path == "/simple/torch/":
            host = f"http://{exchange.headers['Host']}" if style == "absolute" else "../.."
            exchange.send(200, f'<a href="{host}/files/{WHEEL}">x</a>'.encode())
        else:
            exchange.send_range_of(BYTES)

    with serve(answer) as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.url.replace("//", "//user:secret@") + "/simple")
        with WheelReader("2.15.0", patience=QUICK) as wheel:
            assert wheel.read(REGISTRY_PATH) == REGISTRY


def test_credentials_go_to_no_other_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(send_wheel) as elsewhere, index(f'<a href="{elsewhere.url}/{WHEEL}">x</a>') as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.url.replace("//", "//user:secret@") + "/simple")
        with WheelReader("2.15.0", patience=QUICK) as wheel:
            assert wheel.read(REGISTRY_PATH) == REGISTRY
    assert all("Authorization" not in seen.headers for seen in elsewhere.seen)


@pytest.mark.index
def test_the_real_release_2_15_0_has_592_ids() -> None:
    assert {"2.8.0", "2.13.0", "2.15.0"} <= set(list_torch_releases())
    with WheelReader("2.15.0") as wheel:
        assert len(parse_registry(wheel.read(REGISTRY_PATH), wheel.name).wordings) == 592
