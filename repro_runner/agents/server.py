"""The server of the Model Context Protocol: its tools, and what they say to a language model.

Look-ups are answered in this process, which never imports torch. Scripts run in children. Standard output belongs to
the protocol, so nothing here prints.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp_types import ToolAnnotations
from pydantic import Field, ValidationError

from registry.errors import InvalidInput
from repro_runner.agents.lookups import MOST_HITS, Lookups, shared_lookups
from repro_runner.agents.workspace import Call, CommandRun, Workspace, inert
from repro_runner.exit_codes import REFUSED
from repro_runner.output.places import shown_place
from repro_runner.process.isolated import remedy_for

INSTRUCTIONS = """\
A registry of every graph break that torch.compile can report. Each id, such as GB0124, has a program that breaks and \
fixes that were run. To fix a break in a script: explain_script, then verified_fix, then write a patch, then \
verify_patch. A patch counts only if verify_patch says "holds"; if it says "holds for what ran", tell the user what \
never ran. Deleting a print, or switching compilation off, is not a fix.
Each tool is also a command: graphbreak show, search, log, explain, explain --try.\
"""
_MOST_STDERR = 4_000
_LOOKS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
"""A script may do anything that its user may do."""


# No slots in what tools return: the library takes a slot for a default value, and then has no schema.


@dataclass(frozen=True, kw_only=True)
class LogReport:
    """What a log tells."""

    report: str
    """Markdown: each break with its id, what it means, and its fixes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """A line of the program at which the graph breaks."""

    where: str
    gb_ids: list[str]
    title: str
    source: str
    kind: str
    ran: int | None


@dataclass(frozen=True, kw_only=True)
class ScriptReport:
    """What a run of a script showed."""

    exit_code: int | None
    """Of `graphbreak explain`: 1 if the script failed. None if the process died; `failure` says how."""
    failure: str
    report: str
    """Markdown: each break with its id, its line, what it means, and its fixes."""
    breaks: list[Break]
    standard_error: str
    """The end of what the script and the command wrote there. What the script prints stands here, too."""


@dataclass(frozen=True, kw_only=True)
class PatchReport:
    """What became of a patch."""

    verdict: str
    """holds, holds for what ran, or refused."""
    sentence: str
    notes: list[str]
    breaks_before: int | None
    breaks_after: int | None
    breaks_left: list[dict[str, Any]]


GbId = Annotated[str, Field(description="GB0124, gb0124, or only the number")]
Torch = Annotated[str, Field(description="the user's torch release, such as 2.13.0; empty: the newest")]
Script = Annotated[str, Field(description="a Python script, relative to the server's folder")]
Arguments = Annotated[list[str] | None, Field(description="the script's own command-line arguments")]


class Tools:
    """The tools. Every public method is one; its docstring is what the language model reads."""

    def __init__(self, lookups: Lookups, workspace: Workspace) -> None:
        self._lookups, self._workspace = lookups, workspace

    def look_up(self, gb_id: GbId, torch: Torch = "") -> dict[str, Any]:
        """Say all that the registry knows about one graph break.

        Its meaning, the smallest program that breaks, every fix that was run, and the torch release it held on.
        """
        return self._lookups.look_up(gb_id, torch=torch)

    def search(
        self,
        words: Annotated[str, Field(description="words, code such as `x.item()`, or a message that torch printed")],
        limit: Annotated[int, Field(ge=1, le=100)] = MOST_HITS,
    ) -> dict[str, Any]:
        """Find graph breaks by words, by code or by a message, best first. Use it if you have no id."""
        return self._lookups.search(words, limit=limit)

    def verified_fix(
        self,
        break_or_message: Annotated[str, Field(description="an id, or a whole message as torch printed it")],
        torch: Torch = "",
    ) -> dict[str, Any]:
        """Give the fixes of a graph break that were run: they compile as one graph and equal eager.

        For a message, only the fixes for what the message names. If there is no fix, it says why.
        """
        return self._lookups.verified_fix(break_or_message, torch=torch)

    def explain_log(
        self,
        text: Annotated[str, Field(description="a log, a traceback or a message; give this or a path")] = "",
        path: Annotated[str, Field(description="a log file, relative to the server's folder")] = "",
    ) -> LogReport:
        """Find the graph breaks in a log or a traceback, with their fixes. Nothing is run."""
        if bool(text) == bool(path):
            raise ToolError("give either text or path")
        if path:
            ran = self._run(["log", "--format", "md", self._workspace.word_for(path)])
        else:
            with self._workspace.scratch_folder() as scratch:
                Path(scratch, "pasted.log").write_text(text, "utf-8", "replace")
                ran = self._run(["log", "--format", "md", "pasted.log"], folder=Path(scratch))
        return LogReport(report=ran.stdout)

    def explain_script(
        self,
        path: Script,
        arguments: Arguments = None,
        summary: Annotated[bool, Field(description="only by kind: which kind of break to work on first")] = False,
        fix: Annotated[bool, Field(description="also try mechanical fixes, and show those that work")] = False,
        no_fullgraph: Annotated[bool, Field(description="list all breaks of code with fullgraph=True")] = False,
        share: Annotated[bool, Field(description="also measure how much ran inside graphs")] = False,
        compile: Annotated[
            list[str] | None,
            Field(description="functions to compile, `module:Net.forward`, if the script does not call torch.compile"),
        ] = None,
    ) -> ScriptReport:
        """Run a script, and show each line at which its graphs break, how often, why, and the fixes.

        The script runs as it is, with the user's rights, in the server's folder. fix and share run it again.
        """
        switches = {"--summary": summary, "--fix": fix, "--no-fullgraph": no_fullgraph, "--share": share}
        words = [switch for switch, wanted in switches.items() if wanted]
        words += [f"--compile={each}" for each in compile or ()]
        with self._workspace.scratch_folder() as scratch:
            saved = Path(scratch, "report.json")
            script = self._workspace.word_for(path)
            words = ["explain", "--format", "md", "--save", str(saved), *words, script, *(arguments or ())]
            ran = self._run(words, needs_end=False)
            document = json.loads(saved.read_bytes()) if saved.is_file() else {"sites": []}
        return ScriptReport(
            exit_code=ran.code,
            failure=ran.failure,
            report=ran.stdout,
            breaks=[self._break(site) for site in document["sites"]],
            standard_error=ran.stderr.replace(f"{saved} written", "")[-_MOST_STDERR:],
        )

    def verify_patch(
        self,
        path: Script,
        patch: Annotated[str, Field(description="a unified diff of files in the folder, or the whole changed script")],
        arguments: Arguments = None,
        allow_less_output: Annotated[bool, Field(description="the user wants the script to print less")] = False,
    ) -> PatchReport:
        """Say whether a patch is a fix: fewer breaks, equal results on several random inputs, the same output.

        No file is changed: the script runs with changed copies. Apply the patch yourself if it holds.
        """
        with self._workspace.scratch_folder() as scratch:
            script = self._workspace.word_for(path)
            file = Path(scratch, "patch")
            file.write_text(patch, "utf-8", "replace")
            less = ["--allow-less-output"] * allow_less_output
            ran = self._run(
                ["explain", "--format", "json", "--try", str(file), *less, script, *(arguments or ())], hidden=scratch
            )
        document = json.loads(ran.stdout)
        return PatchReport(**{each.name: document[each.name] for each in fields(PatchReport)})

    def _run(
        self, words: list[str], *, folder: Path | None = None, hidden: str = "", needs_end: bool = True
    ) -> CommandRun:
        """Run a command. Raises ToolError, with what the command says, if it was refused or died without a report.

        `hidden` is a folder that the caller can't see, so its errors don't name it. Without `needs_end`, a script may
        end its process, as `os._exit(3)` does, after the report is written.
        """
        ran = self._workspace.run(words, folder)
        ran = replace(ran, stderr=(ran.stderr.replace(f"{hidden}/", "") if hidden else ran.stderr).strip())
        if ran.code == REFUSED:
            raise ToolError(inert(ran.stderr[-_MOST_STDERR:]) or "the command refused these arguments")
        if ran.code is None and (needs_end or not ran.stdout):
            remedy = remedy_for(ran.failure, " of the server")
            last = ran.stderr.rpartition("\n")[2][-_MOST_STDERR:]
            raise ToolError(inert(f"the process {ran.failure}{remedy}" + (f": {last}" if last else "")))
        return ran

    def _break(self, site: Mapping[str, Any]) -> Break:
        return Break(
            where=shown_place(site["file"], site["line"], self._workspace.folder),
            gb_ids=site["gb_ids"],
            title=next(iter(site["gb_types"]), ""),
            source=site["source"],
            kind=site["kind"],
            ran=site["ran"],
        )


class _Server(MCPServer[Any]):
    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool. What a caller can correct is one line, without the library's own words around it."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                wrong = error.__cause__.errors(include_url=False, include_context=False)
                lines = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in wrong)
                raise ToolError(inert("; ".join(lines))) from error.__cause__
            if type(error.__cause__) is ToolError:
                raise error.__cause__ from None
            raise


def make_server(workspace: Workspace) -> MCPServer[Any]:
    """A server with all tools. Its `run("stdio")` serves until standard input is closed."""
    tools = Tools(shared_lookups(), workspace)
    server = _Server("graphbreak", instructions=INSTRUCTIONS, log_level="WARNING")
    one_at_a_time = anyio.CapacityLimiter(1)  # two scripts at once would disturb each other's measurements
    many = anyio.CapacityLimiter(8)
    offered: list[tuple[Callable[..., Any], anyio.CapacityLimiter, ToolAnnotations]] = [
        (tools.look_up, many, _LOOKS),
        (tools.search, many, _LOOKS),
        (tools.verified_fix, many, _LOOKS),
        (tools.explain_log, one_at_a_time, _LOOKS),
        (tools.explain_script, one_at_a_time, _RUNS),
        (tools.verify_patch, one_at_a_time, _RUNS),
    ]
    for tool, limiter, hints in offered:
        server.add_tool(_answering(tool, limiter), annotations=hints)

    @server.resource("graphbreak://{gb_id}", mime_type="application/json")
    def graph_break(gb_id: str) -> str:
        """All that the registry knows about one graph break, as JSON."""
        try:
            return json.dumps(tools.look_up(gb_id), indent=1)
        except InvalidInput as error:
            raise ResourceNotFoundError(inert(str(error))) from error

    return server


def _answering(tool: Callable[..., Any], limiter: anyio.CapacityLimiter) -> Callable[..., Awaitable[Any]]:
    """The tool in a thread, so that the server goes on to listen. What a user can correct becomes one clear line."""

    @functools.wraps(tool)
    async def answer(**arguments: Any) -> Any:
        work = functools.partial(tool, **arguments)
        call = Call()
        Call.current.set(call)  # the thread gets a copy of these variables
        try:
            found = await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=limiter)
            return inert(found if isinstance(found, dict) else asdict(found))
        except InvalidInput as error:
            raise ToolError(inert(str(error))) from error
        except anyio.get_cancelled_exc_class():
            call.give_up()
            raise

    return answer
