"""A registry in which every field of the API has something to show, some of it hostile; and the committed one."""

from __future__ import annotations

from pathlib import Path

from registry.merge import merge_registry
from registry.model import (
    VERIFIER,
    Environment,
    Evidence,
    Finding,
    Note,
    Registry,
    Release,
    Repro,
    Revision,
    Unreached,
)
from sitegen.render import render_site
from tests.conftest import ROOT
from tests.samples import HOSTILE, captured, knowledge, release, revision, site

CPU = Environment(torch="2.9.0", python="3.11", device="cpu", date="2026-01-01")
GPU = Environment(torch="2.9.0", python="3.12", device="cuda")
OTHER = Environment(torch="2.9.0", python="3.12", device="xpu")
SOURCE = '''"""A `lead`."""
import torch

FLAGS = {"fixed_flag": {"capture_scalar_outputs": True}}


def broken(x):
    return x.item()


def fixed(x):
    """Nobody needs
    the number."""
    return x


def fixed_flag(x):
    """You need it."""
    return x.item()


@torch.compiler.disable
def isolated(x):
    """You can't change it."""
    return x.item()
'''
REPRO = Repro(
    name="GB0001",
    gb_id="GB0001",
    lead="A `lead`.",
    source=SOURCE,
    sha256="a1",
    fixes={"fixed": "rewrite", "fixed_flag": "flag"},
    isolated=("isolated",),
    reach="config",
    limits={"fixed": {"nan": "A `NaN` is dropped.", "size": "It counts to 8."}},
)


def hostile_id(number: int) -> str:
    return f"GB{1000 + number}"


def small_registry() -> Registry:
    """GB0001 has everything, GB0002 nothing, GB0003 is retired, GB0004 dropped, GB0005 in no release yet."""
    old, new = revision("old type"), revision("new type", hints=("Set a ", "to b.", "Or not."))
    retired, bare = revision("retired"), revision("bare", "", "", ())
    hostile = {hostile_id(number): [_hostile(text)] for number, text in enumerate(HOSTILE)}
    known = knowledge(
        {"GB0001": [new, old], "GB0002": [bare], "GB0003": [retired], "GB0005": [revision("fresh")], **hostile},
        superseded={"GB0004": (revision("dropped"),)},
        releases=[
            _dated(release("2.8.0", {"GB0001": [old], "GB0003": [retired]}), "2025-08-01"),
            _dated(
                release(
                    "2.9.0",
                    {"GB0001": [new, old], "GB0002": [bare], "GB0003": [retired], **hostile},
                    [site("new type", "GB0001", 7, ["Set a to b."]), site("bare", "GB0002"), site("no id", None)],
                ),
                "2025-10-01",
            ),
        ],
        repros={"GB0001": REPRO},
        evidence={"GB0001": (_ran(CPU, "a1", "the message"), _ran(GPU, "a1", ""), _ran(OTHER, "older", "old message"))},
        unreached={"GB0002": Unreached(category="dead code", evidence="`f` returns before that.")},
        findings=[Finding(gb_id="GB0002", kind="other", finding="A `hint` is wrong.", evidence="It was run.")],
        captured=[
            captured("a-model", CPU, "new type", "nobody knows this", compiled=3),
        ],
    )
    return merge_registry(known, {"GB0001": Note(text="my *note*\r\n", written_for="old type")})


def _hostile(text: str) -> Revision:
    return revision(text, text, text, (text,))


def _dated(one: Release, built: str) -> Release:
    return Release(torch=one.torch, wheel=one.wheel, wordings=one.wordings, call_sites=one.call_sites, built=built)


def _ran(environment: Environment, sha256: str, message: str) -> Evidence:
    return Evidence(
        environment=environment,
        repro_sha256=sha256,
        verdicts={"mock": "failed", "eager": "verified"},
        message=message,
        fixes={"fixed_flag": False, "fixed": True},
        ids=("GB0001",),
        kind="resumed",
        graphs=2,
        function="broken",
        line=2,
        gradients={"fixed": "equal"},
        fails_with={"fixed": {"mock": "in training"}},
        verifier=VERIFIER,
    )


def api_files(registry: Registry, templates: Path = ROOT / "templates") -> dict[str, str]:
    return render_site(registry, templates)
