"""Pages that are not about one break: dashboard, glossary, releases, kinds, cost, fix benchmark, messages, lessons."""

from __future__ import annotations

import jinja2

from registry.model import Registry
from registry.snippets import Programs
from sitegen.break_cost import render_cost
from sitegen.categories import render_categories
from sitegen.dashboard import dashboard_context
from sitegen.fix_benchmark import render_fix_benchmark
from sitegen.learn import render_learn
from sitegen.messages import render_messages
from sitegen.releases_page import render_releases


def render_overview(registry: Registry, programs: Programs, environment: jinja2.Environment) -> dict[str, str]:
    """Return {path under docs/: text}."""
    return {
        "dashboard.md": environment.get_template("dashboard.md.j2").render(dashboard_context(registry)),
        "glossary.md": environment.get_template("glossary.md.j2").render(terms=registry.glossary.items()),
        **render_cost(registry, environment),
        **render_fix_benchmark(registry, environment),
        **render_releases(registry, environment),
        **render_categories(registry, programs, environment),
        **render_messages(registry, environment),
        **render_learn(registry, environment),
    }
