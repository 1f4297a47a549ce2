"""What a program does beside its result, as data: text, log records, warnings, files, processes, modes, random numbers,
and whether torch itself is still what it was."""

from __future__ import annotations

import contextlib
import decimal
import gc
import hashlib
import importlib
import logging
import os
import random
import re
import sys
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from repro_runner.judge import ERR, EVENTS, OUT, RECORDS, WARNINGS
from repro_runner.judge.leaves import Flat, described
from repro_runner.torch_seams import dispatch_modes, function_modes

_TORCH = f"{Path(torch.__file__).parent}{os.sep}"
_OURS = tuple(f"{Path(__file__).parents[2] / name}{os.sep}" for name in ("repro_runner", "registry"))
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC
_EVENTS: tuple[str, ...] = (
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.chmod", "os.kill", "os.system"),
    *("os.truncate", "os.chown", "os.utime", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "subprocess.Popen"),
    *("socket.sendto", "socket.sendmsg", "socket.connect", "socket.bind"),
)
_LONGEST_FILE = 64 << 20


@dataclass(slots=True)
class Effects:
    """What was seen inside of a block."""

    text: dict[str, str] = field(default_factory=dict)
    """By stream."""
    records: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    opened: dict[Path, None] = field(default_factory=dict)
    """Files that were opened for writing."""

    def flat(self) -> dict[str, Flat]:
        """By aspect."""
        return {
            **{name: {name: text} for name, text in self.text.items()},
            RECORDS: _numbered("log record", self.records),
            WARNINGS: _numbered("warning", self.warned),
            EVENTS: _numbered("event", self.events),
        }


def _numbered(name: str, texts: list[str]) -> Flat:
    return {**{f"{name} {at}": text for at, text in enumerate(texts, 1)}, f"{name}s": len(texts)}


@contextlib.contextmanager
def watched(*, streams: bool = True) -> Iterator[Effects]:
    """Record what happens inside the block. What torch itself logs and warns of is about compiling, and is left out.

    Without `streams`, what is written to standard output and error goes there.
    """
    effects = Effects()
    with contextlib.ExitStack() as undo:
        undo.enter_context(_records(effects.records))
        undo.enter_context(_warnings(effects.warned))
        undo.enter_context(_events(effects))
        texts = {name: undo.enter_context(written_to(stream)) for name, stream in _STREAMS.items() if streams}
        yield effects
    effects.text = {name: "".join(parts) for name, parts in texts.items()}


_STREAMS = {OUT: 1, ERR: 2}


@contextlib.contextmanager
def written_to(stream: int) -> Iterator[list[str]]:
    """Add what is written to standard output (1) or error (2) inside the block, by C++ too, to the list."""
    found: list[str] = []
    python = sys.stdout if stream == 1 else sys.stderr
    python.flush()
    before = os.dup(stream)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), stream)
        try:
            yield found
        finally:
            with contextlib.suppress(Exception):  # the program may have closed it
                (sys.stdout if stream == 1 else sys.stderr).flush()
                python.flush()
            os.dup2(before, stream)
            os.close(before)
            file.seek(0)
            found.append(file.read().decode("utf-8", "replace"))


@contextlib.contextmanager
def _records(found: list[str]) -> Iterator[None]:
    """All records of the program's loggers, from DEBUG on."""
    handle, level = logging.Logger.handle, logging.root.level

    def handle_and_note(logger: logging.Logger, record: logging.LogRecord) -> None:
        if not record.pathname.startswith(_TORCH) and not record.name.startswith("torch"):
            text = f"{record.levelname} {record.name}: {record.getMessage()}"
            found.append(text + (f" ({record.exc_info[0].__name__})" if record.exc_info and record.exc_info[0] else ""))
        handle(logger, record)

    logging.Logger.handle = handle_and_note  # type: ignore[method-assign, assignment]
    logging.root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        logging.Logger.handle = handle  # type: ignore[method-assign]
        if logging.root.level == logging.DEBUG:
            logging.root.setLevel(level)


@contextlib.contextmanager
def _warnings(found: list[str]) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        filters = _filters()

        def note(message: Any, category: type[Warning], filename: str, *rest: Any) -> None:
            of_numbers = " encountered in " in str(message)  # NumPy says so, and torch does not
            if not (filename.startswith(_TORCH) or of_numbers or "Triggered internally at" in str(message)):
                found.append(f"{category.__name__}: {message}")
            del rest

        warnings.showwarning = note  # type: ignore[assignment]
        yield
        if _filters() != filters:  # they are put back when this block ends
            found.append("other filters of warnings")


def _filters() -> list[Any]:
    known = ((one[0], getattr(one[2], "__name__", ""), getattr(one[3], "pattern", "")) for one in warnings.filters)
    return [one for one, name in zip(warnings.filters, known, strict=True) if name not in _SET_WHEN_COMPILING]


_SET_WHEN_COMPILING = {("ignore", "UserWarning", "torch.distributed"), ("once", "SymPyDeprecationWarning", "")}
"""Torch 2.8 imports what sets them when it first compiles: action, category and module."""


_listening: list[Effects] = []


@contextlib.contextmanager
def _events(effects: Effects) -> Iterator[None]:
    """Files that are opened for writing and what they hold then, processes and sockets. What torch does while it
    compiles is its own."""
    if not _hooked:
        sys.addaudithook(_hear)
        _hooked.append(True)
    _listening.append(effects)
    try:
        yield
    finally:
        _listening.pop()
        held = {path: _content(path) for path in effects.opened if path.is_file()}
        effects.events += [
            f"{_short(path)} holds {_told(content)}" for path, content in held.items() if content is not None
        ]


_hooked: list[bool] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if not _listening or (event not in _EVENTS and event != "open"):
        return
    if event == "open":
        path, mode, flags = arguments
        writes = flags & _WRITES if isinstance(flags, int) else set(mode or "") & set("wax+")
        if not writes or isinstance(path, int) or _by_torch():
            return
        said = f"opens {_short(path)} for writing"
        _listening[-1].opened[Path(os.fsdecode(path)).absolute()] = None
    elif _by_torch():
        return
    else:
        said = f"{event} {', '.join(map(_short, arguments[:2]))}"
    _listening[-1].events.append(said)


def _short(value: Any) -> str:
    text = os.fsdecode(value) if isinstance(value, str | bytes | os.PathLike) else f"{value!r:.80}"
    return re.sub(r"/tmp/tmp\w+", "/tmp/…", text.replace(f"{Path.cwd()}/", ""))


def _by_torch() -> bool:
    """Whether torch or this project asks: the nearest frame that is not of Python's own library is theirs."""
    frame = sys._getframe(2)
    library = str(Path(os.__file__).parent)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith((_TORCH, *_OURS)):
            return True
        if not file.startswith((library, "<frozen")) or "site-packages" in file:
            return "torch" in Path(file).parts
        frame = frame.f_back  # type: ignore[assignment]
    return False


def files_below(folder: Path, ignored: Callable[[Path], bool] = lambda _: False) -> Flat:
    """Each file below a folder: its size and the hash of its content."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink() and not ignored(path))
    return {str(path.relative_to(folder)): _told(content) for path in paths if (content := _content(path)) is not None}


class WrittenFiles:
    """The files below a user's folder that are written from now on. Of one that only grew, what was added."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = {path: (path.stat().st_mtime_ns, *_size_and_hash(path)) for path in self._files()}

    def flat(self) -> Flat:
        """What was written until now, by path; and what is gone."""
        now = {path: content for path in self._files() if (content := self._new_content(path)) is not None}
        gone = {path: "gone" for path in self._before if not path.exists()}
        return {str(path.relative_to(self._folder)): said for path, said in sorted({**now, **gone}.items())}

    def _new_content(self, path: Path) -> str | None:
        changed, size, digest = self._before.get(path, (0, 0, ""))
        if path.stat().st_mtime_ns == changed or (content := _content(path)) is None:
            return None
        has_grown = size < len(content) and digest and _digest(content[:size]) == digest
        return _told(content[size:] if has_grown else content)

    def _files(self) -> Iterator[Path]:
        """Not those of libraries and tools, and not too many."""
        seen = 0
        for root, folders, names in os.walk(self._folder):
            folders[:] = [name for name in folders if not name.startswith((".", "__")) and name not in _NOT_WRITTEN]
            for path in (Path(root, name) for name in names if not name.endswith(".pyc")):
                if (seen := seen + 1) > _MOST_FILES:
                    return
                if path.is_file() and not path.is_symlink():
                    yield path


_NOT_WRITTEN = {"site-packages", "node_modules"}
_MOST_FILES = 5000
_SMALL = 1 << 20


def _size_and_hash(path: Path) -> tuple[int, str]:
    size = path.stat().st_size
    return size, _digest(_content(path) or b"") if size <= _SMALL else ""


def _content(path: Path) -> bytes | None:
    with contextlib.suppress(OSError), path.open("rb") as file:
        return file.read(_LONGEST_FILE)
    return None


def _told(content: bytes) -> str:
    return f"{len(content)} bytes, sha256 {_digest(content)}"


def modes() -> Flat:
    """The settings of the process that a function has to leave as they were for its caller."""
    cuda = torch.backends.cuda.matmul.allow_tf32
    return {
        "gradients recorded": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        **{f"autocast on {kind}": torch.is_autocast_enabled(kind) for kind in ("cpu", "cuda")},
        **{f"dtype of autocast on {kind}": str(torch.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")},
        "default dtype": str(torch.get_default_dtype()),
        "default device": str(torch.get_default_device()),
        "threads": torch.get_num_threads(),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
        "only warns of what is not deterministic": torch.is_deterministic_algorithms_warn_only_enabled(),
        "precision of float32 products": f"{torch.get_float32_matmul_precision()}, tf32 {cuda}",
        "anomaly detection": torch.is_anomaly_enabled(),
        "denormals flushed": bool(torch.tensor([1e-310], dtype=torch.float64).mul(1.0).item() == 0.0),
        "function modes": function_modes(),
        "dispatch modes": dispatch_modes(),
        "recursion limit": sys.getrecursionlimit(),
        "garbage collection": gc.isenabled(),
        "environment variables": _digest(str(sorted(one for one in os.environ.items() if one[0] not in _OF_A_RUN))),
        "level of the root logger": logging.getLogger().level,
        "loggers switched off below": logging.root.manager.disable,
        "context of decimals": f"{decimal.getcontext().prec} places, {decimal.getcontext().rounding}",
        "how torch prints": str(torch.tensor([1 / 3, 1e4])),
        **_modes_of_numpy(),
    }


def _modes_of_numpy() -> Flat:
    if (numpy := sys.modules.get("numpy")) is None:
        return {}
    return {"errors of NumPy": str(numpy.geterr()), "how NumPy prints": str(numpy.get_printoptions())}


_OF_A_RUN = {"TMPDIR", "PYTHONPATH", "GRAPHBREAK_PROCESSES"}
"""Variables that name the folder of a run, which is another in each."""


def random_states() -> Flat:
    """How far each generator of random numbers was drawn from."""
    states = {"random": _digest(str(random.getstate())), "torch": _digest(torch.get_rng_state().numpy().tobytes())}
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        states["torch on the GPU"] = _digest(torch.cuda.get_rng_state().numpy().tobytes())
    if (numpy := sys.modules.get("numpy")) is not None and "numpy.random" in sys.modules:
        kind, keys, *rest = numpy.random.get_state()
        states["numpy"] = _digest(f"{kind} {keys.tobytes().hex()} {rest}")
    return states


def _digest(content: str | bytes) -> str:
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()[:16]


_GUARDED = (
    *("torch", "torch.Tensor", "torch._C._TensorBase", "torch.nn.functional", "torch.nn.Module", "torch.autograd"),
    *("torch.autograd.Function", "torch.testing", "torch.compiler", "torch.random", "torch.linalg", "torch.special"),
    *("torch.library", "torch._dynamo", "torch._dynamo.exc", "torch._dynamo.utils", "torch._dynamo.eval_frame"),
    *(
        "builtins",
        "math",
        "operator",
        "random",
        "time",
        "os",
        "json",
        "pickle",
        "logging",
        "logging.Logger",
        "warnings",
    ),
    *("hashlib", "copy", "functools", "sys", "contextlib", "numpy", "numpy.random", "numpy.linalg"),
    *(f"torch.nn.{name}" for name, one in vars(torch.nn).items() if isinstance(one, type)),
)
_SETTINGS = (
    *("torch._dynamo.config", "torch._inductor.config", "torch._functorch.config", "torch.fx.experimental._config"),
)
_UNSTEADY = frozenset({"torch.Storage", "torch.nn.Module.__init__", "torch.nn.Module.__setstate__"})
"""What torch replaces itself: one follows the default dtype, others count modules since Dynamo compiled something."""


_PARTS = (types.GetSetDescriptorType, property, staticmethod, classmethod, float)
"""Of what a module or a class is made, besides what can be called. The floats are math.pi and the like."""


class Integrity:
    """What torch, Python and this project are made of: taken once, before the program is loaded.

    It is made in the process that is forked: an object has the same id in the fork.
    """

    def __init__(self) -> None:
        for name in _SETTINGS:
            _found(name)
        self._owners = {name: owner for name in _GUARDED if (owner := _found(name)) is not None}
        own = {name: each for name, each in sys.modules.items() if name.startswith("repro_runner.")}
        self._owners |= own
        for name, module in own.items():
            kinds = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == name]
            self._owners |= {f"{name}.{kind.__qualname__}": kind for kind in kinds}
        self._classes = {name for name, owner in self._owners.items() if isinstance(owner, type)}
        self._before = self._look()
        self._settings = settings()

    def broken(self) -> Flat:
        """What is no longer what it was, by name."""
        now = self._look()
        hiding = {name for name in now if name.rpartition(".")[0] in self._classes}  # what is inherited
        names = (self._before.keys() | hiding) - _UNSTEADY
        changed = {name: described("replaced") for name in names if now.get(name) != self._before.get(name)}
        after = settings()
        return changed | {
            name: described(f"set to {after.get(name, 'nothing')}")
            for name, was in self._settings.items()
            if after.get(name) != was
        }

    def _look(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for name, owner in self._owners.items():
            for attribute, value in list(vars(owner).items()):
                if isinstance(value, types.FunctionType | types.MethodType):
                    function = value if isinstance(value, types.FunctionType) else value.__func__
                    inner = (getattr(function, each, None) for each in ("__code__", "__defaults__", "__kwdefaults__"))
                    found[f"{name}.{attribute}"] = (id(value), *map(id, inner))
                elif callable(value) or isinstance(value, _PARTS):
                    found[f"{name}.{attribute}"] = (id(value),)
        return found


def _found(name: str) -> Any:
    """A module, or a class in a module; None if this torch has none."""
    try:
        return importlib.import_module(name)
    except ImportError:
        module, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(module), attribute, None) if module else None


def settings() -> dict[str, str]:
    """The settings of torch's compiler, as texts."""
    found: dict[str, str] = {}
    for name in _SETTINGS:
        module = sys.modules.get(name)
        if module is not None:
            copied: Mapping[str, Any] = module.get_config_copy()
            found |= {f"{name}.{key}": _setting(value) for key, value in copied.items()}
    return found


def _setting(value: Any) -> str:
    """A copy of a set may have another order."""
    return repr(sorted(map(repr, value)) if isinstance(value, set | frozenset) else value)
