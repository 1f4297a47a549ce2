"""The server as an agent meets it: the official client, over stdio, in a small project that knows nothing of ours."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from registry.errors import InvalidInput
from repro_runner.agents.lookups import Lookups
from repro_runner.agents.server import Tools
from repro_runner.agents.workspace import Workspace
from repro_runner.cli import main
from repro_runner.exit_codes import REFUSED
from repro_runner.process import Limits
from tests.checkout import ROOT, write_files
from tests.processes import eventually, processes_with
from tests.repro_runner.fix_report.test_judging import FIXED_PARTS, PARTS, PROGRAM, WITHOUT_PRINT

pytestmark = pytest.mark.slow

LOG = "torch._dynamo.exc.Unsupported: Data-dependent branching\n"
MARK = "STARTED_BY_THIS_TEST"
FAKE = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}})
HOSTILE = f"""\
import os
import sys

print({FAKE!r}, flush=True)
os.write(1, {FAKE.encode()!r})
print("\\x1b]0;owned\\x07\\x1b[2J red", file=sys.stderr)
print("read", repr(sys.stdin.read()), file=sys.stderr)
"""
LOUD = "import sys\nfor _ in range(10_000):\n    print('x' * 1000)\n"
SCRIPTS = {
    "train.py": PROGRAM,
    "parts.py": PARTS,
    "hostile.py": HOSTILE,
    "loud.py": LOUD,
    "hang.py": "import time\ntime.sleep(600)\n",
    "grows.py": "import time\nkept = bytearray(b'x') * (1500 << 20)\ntime.sleep(600)\n",
    "leaves.py": "import os\nos._exit(7)\n",
    "breaks.log": LOG,
    "-m.py": "print('plain')\n",
    "arguments.py": "import sys\nprint(sys.argv[1:], file=sys.stderr)\n",
}


@asynccontextmanager
async def connect(folder: Path, options: Sequence[str]) -> AsyncIterator[Client]:
    command = ["-m", "repro_runner", "mcp", *options]
    environment = {"PYTHONPATH": str(ROOT), "KEPT": "as it was"}
    server = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=folder)
    async with Client(stdio_client(server)) as client:
        yield client


class Agent:
    """A client that stays connected, for tests that are not asynchronous."""

    def __init__(self, folder: Path, client: Client, loop: asyncio.AbstractEventLoop) -> None:
        self.folder, self._client, self._loop = folder, client, loop

    def wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(200)

    def tools(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self.wait(self._client.list_tools()).tools}

    def call(self, tool: str, **arguments: object) -> CallToolResult:
        result: CallToolResult = self.wait(self._client.call_tool(tool, arguments))
        return result

    def answer(self, tool: str, **arguments: object) -> Any:
        result = self.call(tool, **arguments)
        assert not result.is_error, result.content
        return result.structured_content

    def refusal(self, tool: str, **arguments: object) -> str:
        """The one line of an error, after which the server still answers."""
        result = self.call(tool, **arguments)
        assert result.is_error
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert "Traceback" not in content.text
        assert "graphbreak-mcp-" not in content.text
        assert self.answer("look_up", gb_id="GB0124")["gb_id"] == "GB0124"
        return content.text

    def resource(self, address: str) -> str:
        return str(self.wait(self._client.read_resource(address)).contents[0].text)


@contextmanager
def an_agent(folder: Path, *options: str) -> Iterator[Agent]:
    """A server with its client, in a thread with an event loop: a client is closed where it was opened."""
    ready: Future[Agent] = Future()
    done = asyncio.Event()

    async def stay() -> None:
        async with connect(folder, options) as client:
            ready.set_result(Agent(folder, client, asyncio.get_running_loop()))
            await done.wait()

    thread = threading.Thread(target=asyncio.run, args=(stay(),), daemon=True)
    thread.start()
    agent = ready.result(60)
    yield agent
    agent._loop.call_soon_threadsafe(done.set)
    thread.join(30)
    assert not thread.is_alive()


@pytest.fixture(scope="session")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    folder = tmp_path_factory.mktemp("project")
    write_files(folder, SCRIPTS)
    outside = tmp_path_factory.mktemp("outside") / "secret.py"
    outside.write_text("print('secret')\n")
    (folder / "link.py").symlink_to(outside)
    (folder / "loop.py").symlink_to(folder / "loop.py")
    with an_agent(folder, "--folder", ".", "--timeout", "120") as agent:
        yield agent


def test_every_tool_says_what_it_is_for(agent: Agent) -> None:
    tools = agent.tools()
    assert sorted(tools) == ["explain_log", "explain_script", "look_up", "search", "verified_fix", "verify_patch"]
    for tool in tools.values():
        assert tool.description and tool.output_schema, tool.name
        assert all("description" in each or "default" in each for each in tool.input_schema["properties"].values())
    assert tools["look_up"].annotations.read_only_hint
    assert tools["explain_script"].annotations.destructive_hint


def test_an_id_is_looked_up(agent: Agent) -> None:
    found = agent.answer("look_up", gb_id="gb124", torch="2.13.0")
    assert found["gb_id"] == "GB0124"
    assert found["fixes"][0]["verified_on"] == "2.13.0"
    assert "item()" in found["program_that_breaks"]
    assert json.loads(agent.resource("graphbreak://GB0124"))["gb_id"] == "GB0124"


def test_words_are_searched_for(agent: Agent) -> None:
    found = agent.answer("search", words="if on a tensor", limit=2)
    assert [hit["gb_id"] for hit in found["hits"]] == ["GB0170", "GB0124"]


def test_a_message_gives_its_fix(agent: Agent) -> None:
    found = agent.answer("verified_fix", break_or_message=LOG, torch="2.13.0")
    assert (found["gb_id"], found["fixes"][0]["verified_on"]) == ("GB0170", "2.13.0")
    assert "torch.where" in found["fixes"][0]["code"]


@pytest.mark.parametrize("given", [{"text": LOG}, {"path": "breaks.log"}])
def test_a_log_is_explained(agent: Agent, given: dict[str, str]) -> None:
    report = agent.answer("explain_log", **given)["report"]
    assert "GB0170" in report
    assert "torch.where" in report
    assert given.get("path", "pasted.log") in report
    assert "graphbreak-mcp-" not in report


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("look_up", {"gb_id": "GB99999"}, "GB99999: no such graph break; ids look like GB0042"),
        ("look_up", {"gb_id": "\x1b[31m"}, "\\x1b[31m: is not an id"),
        ("look_up", {"gb_id": "GB0124", "torch": "newest"}, "torch newest: is not a release; write one such as 2.13.0"),
        ("look_up", {}, "gb_id: Field required"),
        ("search", {"words": " "}, "there is nothing to search for"),
        ("search", {"words": "x", "limit": 0}, "limit: Input should be greater than or equal to 1"),
        ("verified_fix", {"break_or_message": "hello"}, "names no graph break"),
        ("explain_log", {}, "give either text or path"),
        ("explain_log", {"path": "/etc/passwd"}, "/etc/passwd: leads out of "),
        ("explain_script", {"path": "../x.py"}, "../x.py: leads out of "),
        ("explain_script", {"path": "link.py"}, "link.py: leads out of "),
        ("explain_script", {"path": "loop.py"}, "loop.py: "),
        ("explain_script", {"path": "none.py"}, "none.py: no such file below "),
        ("explain_script", {"path": "."}, ".: no such file below "),
        ("explain_script", {"path": "a\0b"}, "a\\x00b: is not the name of a file"),
        ("verify_patch", {"path": "/etc/hostname", "patch": ""}, "/etc/hostname: leads out of "),
        ("no_such_tool", {}, "Unknown tool"),
    ],
)
def test_a_bad_input_is_one_clear_line(agent: Agent, tool: str, arguments: dict[str, object], told: str) -> None:
    refusal = agent.refusal(tool, **arguments)
    assert told in refusal
    assert "\n" not in refusal


@pytest.mark.torch
def test_a_script_is_explained(agent: Agent) -> None:
    found = agent.answer("explain_script", path="train.py")
    assert (found["exit_code"], found["failure"]) == (0, "")
    assert [(each["where"], each["gb_ids"]) for each in found["breaks"]] == [
        ("parts.py:2", ["GB0170"]),
        ("train.py:7", ["GB0124"]),
        ("train.py:8", ["GB0059"]),
    ]
    assert "GB0170" in found["report"]
    assert {"starts", "a step"} <= set(found["standard_error"].split("\n"))
    assert "graphbreak-mcp-" not in json.dumps(found)


@pytest.mark.prove
def test_a_patch_is_verified_and_no_file_changed(agent: Agent) -> None:
    lines = [f"-{line}" for line in PARTS.splitlines()] + [f"+{line}" for line in FIXED_PARTS.splitlines()]
    patch = "\n".join(["--- a/parts.py", "+++ b/parts.py", "@@ -1,4 +1,5 @@", *lines, ""])
    found = agent.answer("verify_patch", path="train.py", patch=patch)
    assert found["sentence"] == "verified: 2 breaks instead of 3, outputs equal"
    assert (agent.folder / "parts.py").read_text() == PARTS


def test_a_patch_that_does_not_apply_is_told(agent: Agent) -> None:
    patch = "--- a/parts.py\n+++ b/parts.py\n@@ -2 +2 @@\n-    if x.sum() > 7:\n+    if True:\n"
    assert agent.refusal("verify_patch", path="train.py", patch=patch).startswith(
        "patch:3: hunk 1 of parts.py does not"
    )


@pytest.mark.prove
def test_a_patch_that_deletes_a_print_is_not_verified(agent: Agent) -> None:
    found = agent.answer("verify_patch", path="train.py", patch=WITHOUT_PRINT)
    assert found["sentence"] == "refused: the program prints less: 1 lines instead of 2"


@pytest.mark.prove
def test_what_a_script_prints_never_reaches_the_protocol(agent: Agent) -> None:
    found = agent.answer("explain_script", path="hostile.py")
    assert found["breaks"] == []
    assert FAKE in found["standard_error"]
    assert "\x1b" not in found["standard_error"]
    assert "\\x1b[2J red" in found["standard_error"]
    assert "read ''" in found["standard_error"]
    assert len(agent.tools()) == 6


@pytest.mark.prove
def test_a_loud_script_gives_a_short_answer(agent: Agent) -> None:
    found = agent.answer("explain_script", path="loud.py")
    assert len(json.dumps(found)) < 50_000


@pytest.mark.prove
@pytest.mark.parametrize(
    ("path", "arguments", "told"),
    [("-m.py", [], "plain"), ("arguments.py", ["--out", "/x", "--help"], "['--out', '/x', '--help']")],
)
def test_no_word_of_a_call_becomes_an_option_of_ours(agent: Agent, path: str, arguments: list[str], told: str) -> None:
    found = agent.answer("explain_script", path=path, arguments=arguments)
    assert (found["exit_code"], told in found["standard_error"]) == (0, True)


@pytest.mark.prove
def test_a_script_that_ends_its_process_is_reported(agent: Agent) -> None:
    found = agent.answer("explain_script", path="leaves.py")
    assert "exit code 7" in found["failure"] + found["report"] + found["standard_error"]


@pytest.mark.prove
def test_a_script_that_hangs_is_ended(agent: Agent) -> None:
    with an_agent(agent.folder, "--folder", ".", "--timeout", "15") as impatient:
        refusal = impatient.refusal("explain_script", path="hang.py")
    assert refusal.startswith("the process took longer than 15 s; --timeout of the server gives it more")


@pytest.mark.prove
def test_a_script_that_takes_too_much_memory_is_ended(agent: Agent) -> None:
    with an_agent(agent.folder, "--folder", ".", "--memory", "1") as small:
        refusal = small.refusal("explain_script", path="grows.py")
    assert refusal.startswith("the process used more than 1 GiB of memory; --memory of the server gives it more")


@contextmanager
def bare_server(folder: Path, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server without a client, after the first words of the protocol."""
    command = [sys.executable, "-m", "repro_runner", "mcp", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder), MARK: str(folder)}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        send(process, id=1, method="initialize", params=hello)
        assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "graphbreak"
        send(process, method="notifications/initialized")
        yield process
        process.kill()


def send(process: subprocess.Popen[bytes], **message: object) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def end(process: subprocess.Popen[bytes], how: str) -> None:
    """End a server as a client does, or as a user does; that is quick."""
    assert process.stdin is not None
    if how == "closed":
        process.stdin.close()
    else:
        process.send_signal(signal.SIGINT)
    started = time.monotonic()
    assert process.wait(20) == 0
    assert time.monotonic() - started < 10


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--folder", "no\x1bsuch"], "--folder no\\x1bsuch: there is no such folder"),
        ([], "graphbreak mcp: needs the package mcp; `pip install graph-break-registry[agents]`"),
    ],
)
def test_what_is_missing_is_told(
    options: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert main(["mcp", *options]) == REFUSED
    assert told in capsys.readouterr().err


def test_help_needs_no_package(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(SystemExit, match="0"):
        main(["mcp", "--help"])
    configuration = next(line for line in capsys.readouterr().out.splitlines() if "mcpServers" in line)
    assert json.loads(configuration)["mcpServers"]["graphbreak"]["command"] == "graphbreak"


@pytest.mark.prove
def test_the_server_never_imports_torch() -> None:
    """Nor does a look-up: a laptop without torch can use it."""
    code = (
        "import sys; from repro_runner.agents import server, workspace; from repro_runner.agents import lookups;"
        "lookups.Lookups().search('item'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_without_a_folder_no_file_is_read_or_run(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('ran')\n")
    tools = Tools(Lookups(), Workspace(task="", limits=Limits(), scratch=tmp_path))
    for use in (tools.explain_script, partial(tools.explain_log, ""), partial(tools.verify_patch, patch="")):
        with pytest.raises(
            InvalidInput, match=r"--folder: is not given, so no files are read or run; start `graphbreak"
        ):
            use(path=str(tmp_path / "train.py"))


@pytest.mark.parametrize("how", [pytest.param("closed", marks=pytest.mark.prove), "interrupted"])
def test_the_server_ends_well(how: str, tmp_path: Path) -> None:
    with bare_server(tmp_path) as server:
        end(server, how)
    assert list(tmp_path.glob("graphbreak-mcp-*")) == []


@pytest.mark.prove
@pytest.mark.parametrize("how", ["cancelled", "closed", "interrupted"])
def test_a_script_ends_with_its_call_and_with_the_server(how: str, tmp_path: Path) -> None:
    running = tmp_path / "running"
    (tmp_path / "hang.py").write_text("import pathlib, time\npathlib.Path('running').touch()\ntime.sleep(600)\n")
    with bare_server(tmp_path, "--folder", ".") as server:
        send(server, id=2, method="tools/call", params={"name": "explain_script", "arguments": {"path": "hang.py"}})
        assert eventually(running.exists)
        if how == "cancelled":
            send(server, method="notifications/cancelled", params={"requestId": 2})
            assert eventually(lambda: processes_with(f"{MARK}={tmp_path}") == [server.pid])
        end(server, how)
    assert eventually(lambda: not processes_with(f"{MARK}={tmp_path}"))
    assert list(tmp_path.glob("graphbreak-mcp-*")) == []
