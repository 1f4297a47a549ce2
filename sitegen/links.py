"""Where things are: pages of this site, and lines in pytorch's repository."""

from __future__ import annotations

from registry.model import CallSite, GraphBreak

_PYTORCH = "https://github.com/pytorch/pytorch/blob"


def page_link(gb: GraphBreak) -> str:
    """From the root of the site to a break's page, as torch spells it."""
    return f"gb/{gb.gb_id.lower()}.html"


def page_permalink(gb: GraphBreak) -> str:
    """The address that torch prints, below the site's base."""
    return f"/{page_link(gb)}"


def source_url(site: CallSite, torch: str) -> str:
    """A permalink to the line that emits the break, at that release's tag."""
    return f"{_PYTORCH}/v{torch}/{site.file}#L{site.line}"


def source_label(site: CallSite) -> str:
    """`variables/tensor.py:123`: the part of the path that tells files apart."""
    return f"{site.file.removeprefix('torch/').removeprefix('_dynamo/')}:{site.line}"
