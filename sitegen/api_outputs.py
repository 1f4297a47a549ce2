"""What programs read: the API, the feed, the list for language models."""

from __future__ import annotations

import jinja2

from registry.model import Registry
from sitegen.api import render_api
from sitegen.feeds import render_feed, render_llms


def render_api_outputs(registry: Registry, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    return {
        **render_api(registry),
        **render_feed(registry, environment),
        **render_llms(registry, environment),
    }
