"""Where logs come from: blocks of whole lines, packed and damaged files, folders, files that grow."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from registry.matching import Matcher
from repro_runner.logs import blocks
from repro_runner.logs.analysis import LogFile, analyse, find_format, read_source
from repro_runner.logs.blocks import BLOCK, Stream
from repro_runner.logs.sources import Source, find_sources
from tests.committed import committed_registry

REPORT = b"""\
Graph break in user code at /home/ann/project/model.py:%d
Graph Break Reason: Data-dependent branching
  Explanation: Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Nothing new.

  Developer debug context: attempted to jump with TensorVariable()

 For more details about this graph break, please visit: https://example.invalid/gb/gb0170.html
"""
NOISE = b"".join(b"step %d loss 0.123 lr 1e-4 tokens/s 123456\n" % number for number in range(120_000))


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.from_registry(committed_registry())


def all_blocks(content: bytes) -> tuple[list[bytes], str]:
    stream = Stream(io.BytesIO(content))
    found = list(stream.blocks())
    assert stream.unpacked_bytes == sum(map(len, found))
    return found, stream.cut


def read(path: Path, matcher: Matcher) -> LogFile:
    return read_source(Source(name=path.name, path=path, named=True), matcher)


def lines_of(file: LogFile) -> list[tuple[int, int]]:
    return [(one.line, one.count) for one in file.part.breaks]


def test_blocks_are_whole_lines_and_together_the_whole_file() -> None:
    found, cut = all_blocks(NOISE * 2)
    assert b"".join(found) == NOISE * 2
    assert len(found) > 1
    assert not cut
    assert all(block.endswith(b"\n") for block in found)
    assert max(map(len, found)) < 2 * BLOCK


@pytest.mark.parametrize(
    ("content", "end"),
    [(b"a word ", b" "), (b"10%\r", b"\r"), (b"x", b"x"), (b'{"a":1},', b",")],
    ids=["words", "progress bar", "no end at all", "JSON"],
)
def test_a_line_longer_than_a_block_comes_in_pieces_cut_between_words(content: bytes, end: bytes) -> None:
    line = content * (3 * BLOCK // len(content))
    found, _ = all_blocks(line)
    assert b"".join(found) == line
    assert max(map(len, found)) <= BLOCK
    assert all(block.endswith(end) for block in found)


@given(st.lists(st.binary(max_size=30), max_size=30), st.integers(1, 64))
def test_any_bytes_come_out_as_they_went_in(pieces: list[bytes], size: int) -> None:
    content = b"\n".join(pieces)
    if content.startswith((b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", size)
        found, cut = all_blocks(content)
    assert b"".join(found) == content
    assert not cut


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: gzip.compress(content),
    "zstd": lambda content: zstandard.ZstdCompressor(write_checksum=True).compress(content),
    "zstd, long window": lambda content: zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    ).compress(content),
    "several gzip files in one": lambda content: gzip.compress(content[:1000]) + gzip.compress(content[1000:]),
    "several zstd files in one": lambda content: PACKERS["zstd"](content[:1000]) + PACKERS["zstd"](content[1000:]),
    "gzip with padding": lambda content: gzip.compress(content) + bytes(5000),
    "UTF-8 with a mark": lambda content: b"\xef\xbb\xbf" + content,
    "UTF-16, as PowerShell writes": lambda content: b"\xff\xfe" + content.decode().encode("utf-16-le"),
}


@pytest.mark.parametrize("name", PACKERS)
def test_packed_files_are_known_by_their_first_bytes_whatever_their_name(name: str) -> None:
    content = REPORT % 7 + NOISE[:100_000]
    found, cut = all_blocks(PACKERS[name](content))
    assert b"".join(found) == content
    assert not cut


@pytest.mark.parametrize("name", ["gzip", "zstd", "several gzip files in one", "several zstd files in one"])
@pytest.mark.parametrize("damage", ["cut", "overwritten"])
def test_of_a_packed_file_that_is_damaged_all_before_the_damage_is_kept(
    name: str, damage: str, tmp_path: Path, matcher: Matcher
) -> None:
    noise = os.urandom(400_000).hex().encode()
    packed = PACKERS[name](REPORT % 7 + b"\n".join(noise[at : at + 100] for at in range(0, len(noise), 100)))
    half = len(packed) // 2
    path = tmp_path / "a.log"
    path.write_bytes(packed[:half] if damage == "cut" else packed[:half] + b"\xff" * 500 + packed[half + 500 :])
    file = read(path, matcher)
    assert lines_of(file) == [(7, 1)]
    assert name.split()[0 if " " not in name else 1] in file.cut
    assert file.bytes > 100_000


def test_a_zstd_file_that_asks_for_gigabytes_of_memory_is_refused_in_a_line() -> None:
    params = zstandard.ZstdCompressionParameters(window_log=31, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=params).compressobj()
    _, cut = all_blocks(packer.compress(NOISE) + packer.flush())
    assert "zstd data is damaged" in cut


@pytest.mark.parametrize(
    ("content", "binary"),
    [
        (bytes(range(256)) * 100, True),
        (b"\x7fELF" + bytes(5000), True),
        (b"\x89PNG\r\n\x1a\n" + bytes(random % 251 for random in range(20_000)), True),
        (REPORT % 7 + bytes(20) + REPORT % 8, False),
        (b"\x1b[31mred\x1b[0m\n" * 3, False),
        ("Größe: 日本\n".encode("latin-1", "replace") * 5, False),
        (b"\xff\xfe\xfd" * 5, False),
        (b"", False),
    ],
    ids=["all bytes", "program", "picture", "a few zeros", "colours", "latin-1", "no UTF-8", "empty"],
)
def test_what_is_no_text_is_known_by_its_control_characters(content: bytes, binary: bool) -> None:
    assert (find_format(content) is None) is binary


def test_bytes_that_are_no_utf_8_do_not_hide_the_break_beside_them(tmp_path: Path, matcher: Matcher) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"caf\xe9 \xff\xfe\n" + REPORT.replace(b"model", b"mod\xe9l") % 7 + b"\xc3")
    file = read(path, matcher)
    assert lines_of(file) == [(7, 1)]
    assert file.part.breaks[0].file == "/home/ann/project/mod�l.py"


def test_a_file_that_grows_while_it_is_read_is_read_to_the_size_it_had(tmp_path: Path, matcher: Matcher) -> None:
    path = tmp_path / "growing.log"
    path.write_bytes(REPORT % 7 + NOISE)
    grown: list[int] = []

    def append(count: int) -> None:
        with path.open("ab") as more:
            more.write(NOISE + REPORT % 8)
        grown.append(count)

    file = read_source(Source(name="growing.log", path=path, named=True), matcher, advance=append)
    assert lines_of(file) == [(7, 1)]
    assert file.bytes == sum(grown) == len(REPORT % 7 + NOISE)
    assert path.stat().st_size > 2 * file.bytes


def test_a_folder_is_gone_through_once_whatever_links_are_in_it(tmp_path: Path, matcher: Matcher) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner / "one.log").write_bytes(REPORT % 1)
    (tmp_path / "two.log").write_bytes(REPORT % 2)
    (inner / "up").symlink_to(tmp_path)
    (inner / "self").symlink_to("self")
    (inner / "nowhere").symlink_to("gone.log")
    (inner / "again.log").symlink_to(tmp_path / "two.log")
    (tmp_path / "hard.log").hardlink_to(inner / "one.log")
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it: reading would wait for ever
    sources = find_sources([str(tmp_path), str(tmp_path / "two.log"), str(inner)])
    assert sources.problems == []
    analysis = analyse(sources, matcher)
    assert sorted((one.line, one.count) for one in analysis.breaks) == [(1, 1), (2, 1)]
    assert analysis.problems == ()


def test_what_can_not_be_read_is_named_and_the_others_are_read(tmp_path: Path, matcher: Matcher) -> None:
    (tmp_path / "a.log").write_bytes(REPORT % 1)
    (tmp_path / "picture.log").write_bytes(bytes(1000))
    named = [str(tmp_path / "gone.log"), str(tmp_path / "picture.log"), str(tmp_path / "a.log")]
    analysis = analyse(find_sources(named), matcher)
    assert [one.line for one in analysis.breaks] == [1]
    assert [problem.where for problem in analysis.problems] == named[:2]
    in_folder = analyse(find_sources([str(tmp_path)]), matcher)
    assert in_folder.problems == ()
    assert [file.part.format for file in in_folder.files] == ["graph_breaks", "binary"]


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("train_rank3.log", "3"),
        ("dedicated_log_torch_trace_rank_0_x1y2.log", "0"),
        ("attempt_0/2/stderr.log", "2"),
        ("frank.log", ""),
        ("stderr.log", ""),
    ],
)
def test_the_rank_is_in_the_name_of_the_file_or_of_torchruns_folder(name: str, rank: str) -> None:
    assert Source(name=name, path=Path("logs") / name, named=True).rank == rank


def test_files_of_several_ranks_are_compared(tmp_path: Path, matcher: Matcher) -> None:
    (tmp_path / "rank0.log").write_bytes(REPORT % 1)
    (tmp_path / "rank1.log").write_bytes(REPORT % 1 + REPORT % 2)
    analysis = analyse(find_sources([str(tmp_path)]), matcher)
    assert {one.line: dict(one.ranks) for one in analysis.breaks} == {1: {"0": 1, "1": 1}, 2: {"1": 1}}
    assert analysis.differences == ("GB0170 at /home/ann/project/model.py:2: 0× on rank 0, 1× on rank 1",)


def in_docker(text: str) -> str:
    return "".join(json.dumps({"log": line, "stream": "stderr"}) + "\n" for line in text.splitlines(keepends=True))


def in_notebook(text: str) -> str:
    output = {"name": "stderr", "output_type": "stream", "text": text.splitlines(keepends=True)}
    cell = {"cell_type": "code", "source": ["import torch\n", "f(torch.ones(3))"], "outputs": [output]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4}, indent=1)


@pytest.mark.parametrize("keep", [in_docker, in_notebook])
def test_lines_kept_in_json_are_read_as_if_they_were_not(
    keep: Callable[[str], str], tmp_path: Path, matcher: Matcher
) -> None:
    text = "".join((REPORT % line).decode().replace("Nothing new", 'A "quoted" ✓') for line in (3, 3, 4))
    for name, content in (("plain", text), ("kept", keep(text))):
        (tmp_path / name).write_text(content, "utf-8")
    plain, kept = (read(tmp_path / name, matcher).part for name in ("plain", "kept"))
    assert kept.format == plain.format == "graph_breaks"
    assert lines_of(read(tmp_path / "kept", matcher)) == [(3, 2), (4, 1)]
    assert [one.message for one in kept.breaks] == [one.message for one in plain.breaks]
    assert [note.partition(":")[0] for note in kept.notes] == (["a notebook"] if keep is in_notebook else [])


def test_damaged_lines_of_json_are_left_as_they_are_and_pieces_of_a_line_are_joined(
    tmp_path: Path, matcher: Matcher
) -> None:
    first, rest = in_docker((REPORT % 3).decode()).split("\n", 1)
    torn = [json.dumps({"log": part, "stream": "stderr"}) for part in ("Graph break in user code ", "at /a/b.py:3\n")]
    assert "b.py" not in first.replace("model.py", "")
    path = tmp_path / "container.log"
    path.write_bytes(b"\n".join([torn[0].encode(), torn[1].encode(), b'{"log":"\\q\xff"}', rest.encode()]))
    (one,) = read(path, matcher).part.breaks
    assert (one.gb_ids, one.where) == (("GB0170",), "/a/b.py:3")


def test_an_error_in_a_notebook_is_one_fatal_break(tmp_path: Path, matcher: Matcher) -> None:
    message = (REPORT % 3).decode().partition("\nGraph Break Reason: ")[2]
    stack = f'\x1b[31mUnsupported\x1b[39m: {message}\nfrom user code:\n   File "/tmp/cell.py", line 5, in f\n    g()\n'
    error = {"output_type": "error", "ename": "Unsupported", "evalue": message, "traceback": ["---", stack]}
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "outputs": [error]}], "nbformat": 4}, indent=1))
    (one,) = read(path, matcher).part.breaks
    assert (one.gb_ids, one.kind, one.where, one.source, one.count) == (
        ("GB0170",),
        "fatal",
        "/tmp/cell.py:5",
        "g()",
        1,
    )
