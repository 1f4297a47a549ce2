"""assets/data/answers.js: what the paste box tells of an id besides its name; registry.advice, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.advice import Advice
from registry.model import Fits, Registry
from registry.snippets import with_settings
from sitegen.compact import compact, data_script


def render_answers(registry: Registry, advice: Mapping[str, Advice]) -> dict[str, str]:
    """Return {path under docs/: text}; one line per id."""
    lines = [f"{compact(gb_id)}:{compact(_answer(known, registry.fits.get(gb_id)))}" for gb_id, known in advice.items()]
    ways_out = {category.key: category.way_out for category in registry.categories}
    text = f'{{"ways_out":{compact(ways_out)},\n"answers":{{\n' + ",\n".join(lines) + "\n}}\n"
    return data_script("answers", text)


def _answer(advice: Advice, fits: Fits | None) -> dict[str, Any]:
    known = {
        "why": "" if "{" in advice.explanation else advice.explanation,
        "category": advice.category.key,
        "no_fix": advice.no_fix,
        "fixes": [
            {
                "name": fix.name,
                "when": fix.caption,
                "code": with_settings(fix.settings, fix.code),
                "release": fix.verified_on,
            }
            for fix in advice.fixes
        ],
        "isolated": [{"when": when, "code": code} for when, code in advice.isolated[:1]],
        "fits": fits
        and {
            "names": fits.names,
            "fixes": fits.fixes,
            "counsels": [
                {"globs": one.globs, "text": one.text} | ({"proven": 1} if one.program else {}) for one in fits.counsels
            ],
        },
        "tested": advice.tested,
    }
    return {name: value for name, value in known.items() if value}
