"""The settings of `graphbreak demo --quick`: from options to a run, and back from a run to its command. No torch."""

from __future__ import annotations

import importlib.util
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from registry.errors import InvalidInput, Problem
from repro_runner.bench.catalogue import MODELS
from repro_runner.output.suggestions import did_you_mean
from repro_runner.output.units import A_SIZE, parse_size
from repro_runner.process import Limits
from repro_runner.report.examine import Examination, examine
from repro_runner.runs import RunFolder

FAULTY = "repro_runner.demo.faulty:backend"
SMALL = tuple(MODELS)
_OPTIONS = {"device_file": "limits"}
"""Options that have another name than their field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickRun:
    """One run with a small model, or with yours. None, or nothing, is an option that was not given."""

    model: str = "bert"
    batch: int | None = None
    padding: int = 0
    rtol: float | None = None
    atol: float | None = None
    device_file: str | None = None
    alignment: int | None = None
    dtypes: str = ""
    max_memory: str = ""
    deny_op: tuple[str, ...] = ()
    backend: str = "aot"
    pictures: bool | None = None
    force_failure: bool = False
    gradients: bool = False
    seed: int = 0
    timeout: float = 300
    memory: float | None = None

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any]) -> QuickRun:
        """The settings with which a run was made, as far as its manifest has them in the right type."""
        known: dict[str, Any] = {"model": str(manifest.get("subject") or _DEFAULT.model)}
        for name, kinds in _KINDS.items():
            if (value := manifest.get(name)) is not None and isinstance(value, kinds):
                known[name] = tuple(map(str, value)) if isinstance(value, list) else value
        return cls(**known)

    def given(self) -> dict[str, Any]:
        """The settings that are not as they are by default."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if value != getattr(_DEFAULT, name)}

    def words(self) -> list[str]:
        """The words of the command, after `graphbreak`."""
        words = ["demo", "--quick"]
        for name, value in {"model": self.model, **self.given()}.items():
            option = f"--{_OPTIONS.get(name, name.replace('_', '-'))}"
            if isinstance(value, bool):
                words.append(option if value else option.replace("--", "--no-", 1))
                continue
            for each in map(_shortest, value if isinstance(value, tuple) else (value,)):
                words += [f"{option}={each}"] if each.startswith("-") else [option, each]
        return words

    def command(self) -> str:
        """The command as a line for a shell."""
        return shlex.join(["graphbreak", *self.words()])

    def problems(self) -> Iterator[Problem]:
        """What is wrong with the settings, as far as that can be known without torch."""
        if self.model in MODELS:
            if MODELS[self.model].module and importlib.util.find_spec("transformers") is None:
                remedy = "`pip install graph-break-registry[toolkit]`, or take --model ssm"
                yield Problem(f"--model {self.model}", f"needs transformers; {remedy}")
            if self.padding and not MODELS[self.model].padded:
                yield Problem("--padding", f"{self.model} has no mask that would leave it out; take bert or resnet")
        elif ":" not in self.model:
            near = did_you_mean(self.model, SMALL)
            yield Problem(
                f"--model {self.model}",
                f"no such model{near or '; there are ' + ', '.join(SMALL) + '.'} Your own: FILE.py:make_model",
            )
        else:
            for name in ("batch", "padding"):
                if getattr(self, name):
                    remedy = "the function in your file makes the inputs: change it there"
                    yield Problem(f"--{name}", f"only with {', '.join(SMALL)}; {remedy}")
        if self.max_memory and parse_size(self.max_memory) is None:
            yield Problem("--max-memory", f"{self.max_memory!r} is not {A_SIZE}")

    def examination(self) -> Examination:
        """What is examined. InvalidInput with everything that is wrong with the settings."""
        if problems := list(self.problems()):
            raise InvalidInput(problems)
        limits = {
            "alignment": self.alignment,
            "dtypes": [name.strip() for name in self.dtypes.split(",") if name.strip()],
            "max-memory": parse_size(self.max_memory) if self.max_memory else None,
            "deny-op": list(self.deny_op),
        }
        return Examination(
            model=self.model,
            device="cpu",
            seed=self.seed,
            device_file=self.device_file,
            backend=FAULTY if self.force_failure else self.backend,
            gradients=self.gradients,
            rtol=self.rtol,
            atol=self.atol,
            pictures=self.pictures,
            limits={option: value for option, value in limits.items() if value},
            batch=self.batch,
            padding=self.padding,
        )


_DEFAULT = QuickRun()
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("batch", "padding", "alignment", "seed"), (int,)),
    **dict.fromkeys(("rtol", "atol", "timeout", "memory"), (int, float)),
    **dict.fromkeys(("device_file", "dtypes", "max_memory", "backend"), (str,)),
    **dict.fromkeys(("pictures", "force_failure", "gradients"), (bool,)),
    "deny_op": (list,),
}
"""Field -> what it is in a manifest."""


def take_quick_run(
    quick: QuickRun, limits: Limits, environment: Mapping[str, Any], say: Callable[[str], None]
) -> RunFolder:
    """Check, diff, guards, and minify if something failed. The manifest keeps the settings and the command."""
    manifest = {name: value for name, value in quick.given().items() if name != "model"}
    return examine(
        quick.examination(),
        limits,
        environment,
        say,
        verb="demo",
        minify=True,
        **{**manifest, "backend": quick.backend, "command": quick.command()},
    )


def _shortest(value: object) -> str:
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)
