"""How much of what people really paste is recognised. posts.md says where the posts are from.

A post is right if its label is the first answer for one of the messages found in it, among if it is a further
candidate, family if another id of the same category was named, what the label describes in words, or only a message
whose page says that it wraps another one. Whether the
advice agrees with what solved the problem in the thread was judged by hand, for the advice that was shown then.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from registry.advice import Advisor  # noqa: E402
from registry.knowledge import read_package  # noqa: E402
from registry.matching import Match, Matcher  # noqa: E402
from registry.merge import merge_registry  # noqa: E402
from registry.model import Registry  # noqa: E402
from repro_runner.explain.render.terminal import Screen, render_terminal  # noqa: E402
from repro_runner.logs.analysis import analyse, with_titles  # noqa: E402
from repro_runner.logs.sources import find_sources  # noqa: E402
from repro_runner.logs.view import view_analysis  # noqa: E402

POSTS, JUDGED = ROOT / "benchmarks" / "posts.jsonl", ROOT / "benchmarks" / "posts_advice.jsonl"
PARTS = {
    "aot-autograd-error": {
        "leaf-in-place",
        "output-view-in-place",
        "subclass-tangent",
        "boxed-arguments",
        "donated-buffer",
    },
    "control-flow-user-error": {"cond-arguments"},
    "cudagraph-skipped": {"cudagraph-sizes"},
    "data-dependent-guard": {"pending-unbacked-symbol"},
    "GB4315": {"fake-tensor-error"},
    "inductor-crash": {"unexpected-size"},
    "no-triton": {"triton-dll"},
    "tf32": {"tf32-mixed", "tf32-old-settings"},
    "triton-crash": {"autotune-choice-failed", "triton-dll"},
    "new: compiled backward function called inside vmap/grad/vjp": {"backward-in-vmap"},
}
"""Subjects that labels name, and that have more than one page, or got one later; before torch 2.13, the message of
GB4315 has none of its words, and a page of its own."""
VERDICTS = ("right", "among", "family", "not", "wrong")
ADVICE = ("agrees", "partly", "no", "not judged")


def read_posts() -> list[dict[str, Any]]:
    """Every post, with `held`."""
    posts = [json.loads(line) for line in POSTS.read_text("utf-8").splitlines()]
    return [{**post, "held": int(hashlib.sha256(post["address"].encode()).hexdigest(), 16) % 3 == 0} for post in posts]


def names_of(match: Match) -> tuple[str, ...]:
    """The ids or the page that a match stands for, likeliest first."""
    return (match.form.slug,) if match.form and match.form.slug else match.gb_ids


def judge(post: dict[str, Any], matcher: Matcher, registry: Registry) -> str:
    """One of VERDICTS."""
    labels = set(post["ids"]) or {post["page"]} - {""}
    wanted = labels.union(*(PARTS.get(label, ()) for label in labels))
    found = [names for match in matcher.name_text("\n".join(post["lines"])) if (names := names_of(match))]
    if any(names[0] in wanted for names in found):
        return "right"
    if any(wanted.intersection(names) for names in found):
        return "among"
    categories = {gb.gb_id: gb.category for gb in registry}
    kin = {gb_id for gb_id, category in categories.items() if category in {categories.get(one) for one in wanted}}
    named = {name for names in found for name in names}
    wrappers = {one.slug for one in registry.other_messages if one.surface}
    if named & kin or any(name in post["family"] for name in named) or (named and named <= wrappers):
        return "family"
    return "wrong" if found and wanted else "not"


def shown(post: dict[str, Any], matcher: Matcher, answers: Advisor) -> str:
    """What `graphbreak log` shows for a post."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "post.log")
        path.write_text("\n".join(post["lines"]) + "\n", "utf-8")
        release = post["torch"] if post["torch"].count(".") == 2 and post["torch"].replace(".", "").isdigit() else None
        analysis = with_titles(analyse(find_sources([str(path)]), matcher, torch=release), answers)
        text = render_terminal(view_analysis(analysis, answers, folder=Path(folder)), Screen(width=110))
        return text.replace(f"{folder}/", "")


def main() -> None:
    """Print the tables; --show and --wrong print what they are made of."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", metavar="FILE", type=Path, help="write the answers that are judged by hand")
    parser.add_argument("--wrong", action="store_true", help="list the posts that are not held and not right")
    arguments = parser.parse_args()
    registry = merge_registry(read_package())
    matcher, answers = Matcher.from_registry(registry), Advisor(registry)
    judged = (
        {one["address"]: one for one in map(json.loads, JUDGED.read_text("utf-8").splitlines())}
        if JUDGED.exists()
        else {}
    )
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    advice: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    asked = []
    for post in read_posts():
        verdict = judge(post, matcher, registry)
        counts[post["held"]][verdict] += 1
        if arguments.wrong and not post["held"] and verdict != "right":
            print(verdict, post["ids"] or post["page"] or post["family"], post["lines"][:3])
        if post["answer"]:
            text = shown(post, matcher, answers)
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            opinion = judged.get(post["address"], {})
            advice[post["held"]][opinion["verdict"] if opinion.get("shown") == digest else "not judged"] += 1
            asked.append({"address": post["address"], "answer": post["answer"], "shown": digest, "text": text})
    print("| posts | number | right | among the candidates | family | not recognised | wrong |")
    print("|---|---|---|---|---|---|---|")
    for held, name in ((True, "held"), (False, "the others")):
        print(f"| {name} | {counts[held].total()} |", " | ".join(str(counts[held][one]) for one in VERDICTS), "|")
    print(
        "\n| posts with a known answer | number | advice agrees | partly | no | not judged |\n|---|---|---|---|---|---|"
    )
    for held, name in ((True, "held"), (False, "the others")):
        print(f"| {name} | {advice[held].total()} |", " | ".join(str(advice[held][one]) for one in ADVICE), "|")
    if arguments.show:
        arguments.show.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in asked), "utf-8")


if __name__ == "__main__":
    main()
