"""A run with a document of every kind, made by hand; every text in it can be replaced by a hostile one."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

from repro_runner.artifacts import RunFolder

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" width="900" height="300" viewBox="0 0 900 300">
<style>svg { background: #fff } rect { fill: red }</style><rect x="10" y="10" width="880" height="280"/></svg>
"""
HOSTILE = (
    "</script></style></pre></title><script>document.title='owned'</script><img src=x onerror=alert(1)>"
    "\"'` --><!-- {{ 7*7 }} {% raw %} &amp; \x1b[31m \x00 \u202e \ud800 \U0001fffe javascript:alert(1)"
)

Text = Callable[[str], str]


def as_it_is(text: str) -> str:
    return text


def write_sample_run(home: Path, text: Text = as_it_is) -> RunFolder:
    """A `report` run in which something is found by each part."""
    run = RunFolder.create(
        "report",
        home=home,
        subject=text("model.py:make_model"),
        environment={
            "torch": "2.13.0",
            "python": "3.11",
            "device": "cpu",
            "device_name": text("x86_64"),
            "platform": "Linux x86_64",
            "project": "0.1.0",
        },
        device_file=text("npu.yml"),
        seed=0,
    )
    for name, document in sample_documents(text).items():
        run.write_json(name, document)
    for name in ("pre_aot", "forward", "backward"):
        run.write_text(f"graphs/0000/{name}.txt", text('def forward(self, x: "f32[4, 8]"):\n    return (x,)\n'))
        run.write_text(f"graphs/0000/{name}.svg", DRAWING)
    run.write_text("graphs/0000/inductor/forward/output_code.py", text("import torch\n"))
    run.write_bytes("numerics/summary.png", PIXEL)
    run.write_bytes("numerics/output.png", PIXEL)
    run.write_text("minified/repro.py", text('"""Two of 36 operations."""\nimport torch\n\nx = torch.ones(3)\n'))
    return run


def sample_documents(text: Text = as_it_is) -> dict[str, dict[str, Any]]:
    """File -> document."""
    return {
        "violations.json": _violations(text),
        "op_support.json": _op_support(text),
        "breaks.json": _breaks(text),
        "numerics.json": _numerics(text),
        "guards.json": _guards(text),
        "minified.json": _minified(text),
        "bench.json": _bench(text),
        "break_cost.json": _break_cost(text),
        "graphs/0000/graph.json": _graph(text),
    }


def _document(kind: str, **content: Any) -> dict[str, Any]:
    return {"kind": kind, "schema": 1, **content}


def _violations(text: Text) -> dict[str, Any]:
    def violation(rule: str, op: str, message: str, line: int, graph: str, shape: list[int | str]) -> dict[str, Any]:
        return {
            "rule": text(rule),
            "op": text(op),
            "message": text(message),
            "dtype": "float32",
            "shape": shape,
            "source": f"{text('/home/me/project/model.py')}:{line}",
            "graph": graph,
            "node": "mm",
            "index": 0,
        }

    uneven = "dimension 1 is 3: not a multiple of 16"
    return _document(
        "violations",
        violations=[
            violation("shape-alignment", "aten.mm.default", uneven, 12, "forward", [4, 3]),
            violation("shape-alignment", "aten.mm.default", uneven, 12, "forward", [4, 3]),
            violation("shape-alignment", "aten.t.default", uneven, 7, "backward", ["s77", 3]),
            violation(
                "unsupported-op", "aten.erf.default", "the device has no aten.erf.default", 15, "forward", [4, 3]
            ),
        ],
    )


def _op_support(text: Text) -> dict[str, Any]:
    def op(name: str, forward: int, backward: int, refused: int) -> dict[str, Any]:
        reason = {"rule": text("unsupported-op"), "message": text(f"the device has no {name}"), "count": refused}
        return {
            "op": text(name),
            "supported": not refused,
            "count": forward + backward,
            "forward": forward,
            "backward": backward,
            "refused": refused,
            "dtypes": ["float32"],
            "sources": [f"{text('/home/me/project/model.py')}:{line}" for line in range(12, 18)],
            "reasons": [reason] * bool(refused),
        }

    transfers = {"to_device": 4, "to_host": 3, "bytes_to_device": 4096, "bytes_to_host": 2048}
    least = {"to_device": 1, "to_host": 1, "bytes_to_device": 1024, "bytes_to_host": 512}
    graph = {
        "index": 0,
        "graph": "forward",
        "peak_bytes": 1100,
        "partitions": [{"ops": {"aten.mm.default": 2}}, {"ops": {"aten.add.Tensor": 1}}],
        "fallen_back": {"aten.erf.default": 1},
        "transfers": transfers,
        "least_transfers": least,
    }
    return _document(
        "op_support",
        device=text("npu"),
        decompositions="core-aten",
        ops=[op("aten.erf.default", 1, 0, 1), op("aten.mm.default", 2, 4, 0), op("aten.add.Tensor", 1, 0, 0)],
        partition={
            "partitions": 2,
            "ops_on_device": 3,
            "ops_fallen_back": 1,
            "transfers": transfers,
            "least_transfers": least,
            "graphs": [graph, {**graph, "graph": "backward"}],
        },
    )


def _breaks(text: Text) -> dict[str, Any]:
    def a_break(gb_id: str, gb_type: str) -> dict[str, Any]:
        frames = [
            {"file": text("/home/me/project/train.py"), "line": 40, "function": "main", "source": text("model(x)")},
            {
                "file": text("/home/me/project/model.py"),
                "line": 21,
                "function": text("forward"),
                "source": text("if x.sum() > 0:"),
            },
        ]
        return {
            "gb_id": text(gb_id) if text is not as_it_is and gb_id.startswith("GBL") else gb_id,
            "gb_type": text(gb_type),
            "message": text(f"{gb_type}\n  Explanation: Dynamo can't know which branch to trace.\n"),
            "context": text("attempted to jump with TensorVariable()"),
            "explanation": text("Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`)."),
            "hints": [text("Use `torch.cond` to express dynamic control flow."), text("Rewrite it.")],
            "kind": "resumed",
            "stack": frames,
            "compile_id": "0/0",
            "surfaced_as": "",
            "count": 2,
            "link": text(f"https://example.invalid/{gb_id}"),
            "source": text("/home/me/project/model.py:21"),
        }

    return _document("breaks", breaks=[a_break("GB0170", "Data-dependent branching"), a_break("GBL-12ab34", "No id")])


def _numerics(text: Text) -> dict[str, Any]:
    def leaf(name: str, passed: bool) -> dict[str, Any]:
        reason = "" if passed else text("1 of 12 elements differs by more than 1e-05: 0.5 instead of 0.25 at (1, 2)")
        comparison = {
            "passed": passed,
            "reason": reason,
            "dtype": "float32",
            "shape": [4, 3],
            "elements": 12,
            "mismatches": 0 if passed else 1,
            "nonfinite_mismatches": 0,
            "mismatch_percentage": 0.0 if passed else 100 / 12,
            "max_absolute_error": 0.0 if passed else 0.25,
            "mean_absolute_error": 0.0 if passed else 0.0208,
            "max_relative_error": 0.0 if passed else "inf",
            "rmse": 0.0 if passed else 0.0722,
            "max_ulp": 0 if passed else 8388608,
            "cosine_similarity": 1.0 if passed else 0.9981,
            "rtol": 1.3e-06,
            "atol": 1e-05,
            "worst_reference": None if passed else 0.25,
            "worst_test": None if passed else 0.5,
            "worst_index": None if passed else [1, 2],
        }
        return {"name": text(name), "part": "output", "passed": passed, "reason": reason, "comparison": comparison}

    words = {"name": text("output.note"), "part": "output", "passed": False, "reason": text("'a' instead of 'b'")}
    return _document(
        "numerics",
        model=text("model.py:make_model"),
        reference="eager",
        test=text("faulty"),
        seed=0,
        repeats=2,
        gradients=True,
        passed=False,
        failure="",
        graphs=1,
        verdict=text("faulty differs from eager in 2 of 17 values"),
        leaves=[leaf(f"output[{number}]", True) for number in range(15)]
        + [leaf("output.logits", False), {**words, "comparison": None}],
        reference_varies={},
        test_varies={text("output.logits"): "inf"},
        first_difference=None,
        cause=[
            text("In graph 1 of 1 (9 ops) the first op that differs is gelu"),
            text("  takes float32[4, 3]"),
        ],
        pictures=["output.png", "summary.png", "../run.json", text("missing.png")],
    )


def _guards(text: Text) -> dict[str, Any]:
    def guard(kind: str, source: str, words: str, group: str = "") -> dict[str, Any]:
        return {
            "kind": kind,
            "source": text(source),
            "role": "argument of forward",
            "words": text(words),
            "user_line": text("/home/me/project/model.py:12"),
            "code": text("check_tensor(L['x'])"),
            "group": group and text(group),
        }

    tensor = "a float32 tensor of shape [4, 8] on cpu that does not require grad"
    graph = {
        "name": text("Model.forward"),
        "source": text("/home/me/project/model.py:10"),
        "compile_id": "0/0",
        "guards": [
            guard("TENSOR_MATCH", "x", tensor),
            guard("GRAD_MODE", "", "grad mode is on", "the state of torch"),
            guard("DETERMINISTIC", "", "determinism is off", "the state of torch"),
        ],
    }
    advice = {
        "words": text("let dimension 0 of x vary"),
        "how": "before the first call",
        "code": text("torch._dynamo.mark_dynamic(x, 0)"),
        "holds": True,
        "tried": text("1 graph instead of 2"),
    }
    recompile = {
        "function": text("Model.forward"),
        "source": text("/home/me/project/model.py:10"),
        "changes": [],
        "seen": [text(f"x had 4 rows, now it has {rows}") for rows in range(5, 13)],
        "compile_ids": ["0/1"],
        "reason": text("0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5"),
        "generalised": True,
        "limit": text("recompile_limit (8)"),
        "advice": [0, 1],
        "count": 8,
    }
    return _document(
        "guards",
        subject=text("model.py:make_model"),
        calls=[text("x: float32[4, 8]"), text("x: float32[5, 8]")],
        failure="",
        graphs=[graph, {**graph, "compile_id": "0/1"}],
        recompiles=[recompile],
        advice=[advice, {**advice, "words": text("compile with dynamic=True"), "holds": None, "code": ""}],
    )


def _minified(text: Text) -> dict[str, Any]:
    failure = {
        "kind": "violation",
        "summary": text("aten.mm.default float32[4, 3]: dimension 1 is 3 (shape-alignment)"),
        "rule": "shape-alignment",
        "op": "aten.mm.default",
        "graph": "forward",
        "gb_id": "",
        "source": text("/home/me/project/model.py:12"),
    }
    return _document(
        "minified",
        tried={"violation": text("found")},
        unknown=[],
        failure=failure,
        script="minified/repro.py",
        inputs=None,
        confirmed=True,
        output=text("still fails: dimension 1 is 3"),
        original_nodes=36,
        nodes=2,
        unit="operations",
        modules=[],
    )


def _bench(text: Text) -> dict[str, Any]:
    def row(backend: str, median: float, cold: float | None) -> dict[str, Any]:
        return {
            "model": text("model.py:make_model"),
            "size": None,
            "sample": None,
            "backend": backend,
            "status": "measured",
            "parameters": 1000,
            "samples": 4,
            "latency": {"median": median, "low": median * 0.9, "high": median * 1.2, "min": median * 0.8, "runs": 40},
            "throughput": 4 / median,
            "memory": 12_345_678,
            "graphs": None if cold is None else 1,
            "breaks": None if cold is None else 0,
            "break_ids": [],
            "violations": None,
            "numerics": None if cold is None else {"passed": True},
            "compile_s": {"cold": cold, "warm": None},
        }

    failed = {"model": text("model.py:make_model"), "size": None, "sample": None, "backend": "aot", "status": "failed"}
    return _document(
        "bench",
        environment={},
        memory_is=text("what torch held"),
        rows=[row("eager", 0.002, None), row("inductor", 0.0008, 21.5), {**failed, "cause": text("it hung")}],
    )


def _break_cost(text: Text) -> dict[str, Any]:
    def spread(median: float) -> dict[str, Any]:
        return {"median": median, "low": median, "high": median, "min": median, "runs": 20}

    def point(breaks: int) -> dict[str, Any]:
        time = 0.001 + 0.0002 * breaks
        return {
            "breaks": breaks,
            "graphs": breaks + 1,
            "eager": {"seconds": spread(0.002), "relative": spread(2.0)},
            "inductor": {"seconds": spread(time), "relative": spread(time / 0.001)},
            "of_eager": spread(time / 0.002),
            "added_per_break_s": spread(0.0002) if breaks else None,
        }

    block = {"name": text("small"), "layers": 17, "width": 64, "rows": 8, "dtype": "float32"}
    curve = {"block": block, "rounds": 20, "points": [point(breaks) for breaks in (0, 1, 2, 4, 8, 16)]}
    return _document("break_cost", environment={}, curves=[curve])


def _graph(text: Text) -> dict[str, Any]:
    part = {
        "nodes": 14,
        "ops": {text("aten.mm.default"): 3, "aten.add.Tensor": 1, "aten.erf.default": 1, "aten.t.default": 2},
        "dtypes": {"float32": 12},
        "inputs": 4,
        "outputs": 2,
        "inputs_bytes": 4096,
    }
    lowered = {
        **part,
        "peak_bytes": 81920,
        "peak_op": "aten.mm.default",
        "peak_source": text("/home/me/project/model.py:12"),
    }
    return _document(
        "graph",
        index=0,
        backend="check",
        compile_id="0/0",
        parameters_bytes=2048,
        graphs={"pre_aot": part, "forward": lowered, "backward": lowered},
        violations=[{}, {}],
        inductor={"forward": ["output_code.py", "missing.txt"]},
    )
