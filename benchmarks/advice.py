"""How often the advice of `explain` fits the line that breaks: in twelve models, eval and training, and small programs.

Each site was judged by hand, for the advice that was shown then: fits, misleads, or none (no advice is shown). A site
whose advice has changed since is not judged. `--show FILE` writes what is to be judged.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from repro_runner.explain import Report, explain  # noqa: E402
from repro_runner.explain.render.formats import read_answers  # noqa: E402
from repro_runner.explain.render.view import SiteView, view_report  # noqa: E402
from repro_runner.torch_seams import reset  # noqa: E402
from tests.repro_runner.fixtures.hugging_face_captures import NAMES  # noqa: E402

JUDGED = ROOT / "benchmarks" / "advice.jsonl"
VERDICTS = ("fits", "misleads", "none", "not judged")


def programs() -> dict[str, Callable[[], object]]:
    """What is run, by name."""
    from tests.repro_runner.explain.test_torchs_log import SCENARIOS, train
    from tests.repro_runner.fixtures import hugging_face_models as models

    found: dict[str, Callable[[], object]] = {one.__name__: one for one in SCENARIOS}
    for name in NAMES:
        found[f"{name}, eval"] = partial(_evaluate, models, name)
        found[f"{name}, training"] = partial(train, name)
    return found


def _evaluate(models: Any, name: str) -> None:
    models.run_compiled(models.build(name))


def watch(run: Callable[[], object]) -> Report:
    """Run it quietly. What it raises is dropped."""
    reset()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception), explain() as report:
        run()
    return report


def advice_of(site: SiteView) -> str:
    """The advice that is shown for a site; empty if there is none."""
    parts = [f"fix: {fix.when}\n{fix.code}" for fix in site.fixes[:2]]
    parts += [f"no fix: {site.misfit or site.no_fix}"] if not site.fixes and (site.misfit or site.no_fix) else []
    parts += [f"try: {text}" for text in site.counsels[:3]]
    parts += [f"contain: {fix.when}\n{fix.code}" for fix in site.isolated[:1]] if not site.fixes else []
    return "\n".join(parts)


def rows(chosen: dict[str, Callable[[], object]]) -> Iterator[dict[str, str]]:
    """Each line and id once, in the first of these programs that hits it."""
    answers = read_answers()
    seen: set[tuple[str, str]] = set()
    for name, run in chosen.items():
        report = watch(run)
        view = view_report(report, answers, folder=ROOT)
        for site, shown in zip(report.sites, view.sites, strict=True):
            if (site.source, shown.gb_id) in seen:
                continue
            seen.add((site.source, shown.gb_id))
            text = advice_of(shown)
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            yield {
                "program": name,
                "line": site.source,
                "id": shown.gb_id,
                "title": shown.title,
                "context": site.context[:400],
                "advice": text,
                "shown": digest,
            }


def read_judged() -> dict[tuple[str, str], dict[str, str]]:
    """(line, id) -> the judgement."""
    lines = JUDGED.read_text("utf-8").splitlines() if JUDGED.exists() else []
    return {(one["line"], one["id"]): one for one in map(json.loads, lines)}


def verdict_of(row: dict[str, str], judged: dict[tuple[str, str], dict[str, str]]) -> str:
    """One of VERDICTS."""
    opinion = judged.get((row["line"], row["id"]), {})
    return opinion["verdict"] if opinion.get("shown") == row["shown"] else "not judged"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", metavar="FILE", type=Path, help="write the sites that are to be judged")
    arguments = parser.parse_args()
    judged, found = read_judged(), list(rows(programs()))
    counts = Counter(verdict_of(row, judged) for row in found)
    print("| sites | " + " | ".join(VERDICTS) + " |\n|" + "---|" * (len(VERDICTS) + 1))
    print(f"| {len(found)} | " + " | ".join(str(counts[one]) for one in VERDICTS) + " |")
    if arguments.show:
        arguments.show.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found), "utf-8")


if __name__ == "__main__":
    main()
