"""explain against torch's own log: the same places, as often, for programs of many kinds."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import importlib
import logging
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from repro_runner.explain import Report, explain
from repro_runner.torch_seams import dynamo_config, reset
from tests.conftest import ROOT
from tests.repro_runner.explain.torchs_log import places_in_log
from tests.repro_runner.fixtures.hugging_face_captures import NAMES
from tests.scheduling import sampled

pytestmark = [pytest.mark.torch, pytest.mark.slow]

X: Any = torch.ones(4)
compiled = torch.compile(backend="eager")
whole = torch.compile(backend="eager", fullgraph=True)
SCENARIOS: list[Callable[[], object]] = []
LIMIT = "Dynamo recompile limit exceeded"


MORE = {"the_recompile_limit": LIMIT, "errors_that_are_suppressed": "BackendCompilerFailed"}
"""What torch reports as a warning, and not in its log of breaks: explain has it, too."""


def scenario(function: Callable[[], object]) -> Callable[[], object]:
    SCENARIOS.append(function)
    return function


def broken_inside(x: Any) -> Any:
    x = x.sin()
    print("inside")
    return x.cos()


@scenario
def a_guard_on_data() -> None:
    @compiled
    def run(x: Any) -> Any:
        return torch.zeros(int(x.sum().long().item())).reshape(2, -1).sum() if x.sum().item() > 2 else x

    with dynamo_config.patch(capture_scalar_outputs=True):
        run(X)


@scenario
def a_guard_on_data_in_a_whole_graph() -> None:
    @whole
    def run(x: Any) -> Any:
        return x + 1 if x.sum().item() > 2 else x

    run(X)


@scenario
def a_slice_that_depends_on_data() -> None:
    @compiled
    def run(x: Any, y: Any) -> Any:
        n = x.sum().long().item()
        return x + 1 if y[:n].shape[0] == 3 else x

    with dynamo_config.patch(capture_scalar_outputs=True):
        run(X, torch.ones(7))


@scenario
def a_marked_dimension_that_is_fixed() -> None:
    @whole
    def run(x: Any) -> Any:
        assert x.shape[0] == 5
        return x + 1

    x = torch.ones(5)
    torch._dynamo.mark_dynamic(x, 0)
    run(x)


@scenario
def branches_of_cond_that_differ() -> None:
    @compiled
    def run(x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x.sum(), lambda x: x, (x,))

    run(X)


@scenario
def an_item() -> None:
    compiled(lambda x: x + x.sum().item())(X)


@scenario
def nonzero_and_tolist() -> None:
    @compiled
    def run(x: Any) -> Any:
        return x.nonzero().sum().sin().tolist()

    run(X)


@scenario
def a_branch_on_data() -> None:
    @compiled
    def run(x: Any) -> Any:
        y = x * 2
        if y.sum() > 0:
            y = y + 1
        return y.sin()

    run(X)
    run(-X)


@scenario
def a_print_in_a_whole_graph() -> None:
    whole(broken_inside)(X)


@scenario
def breaks_as_errors_for_a_while() -> None:
    @compiled
    def run(x: Any) -> Any:
        print("allowed")
        with torch._dynamo.error_on_graph_break(True):
            x = x + 1
            torch._dynamo.graph_break()
        return x

    run(X)


@scenario
def a_hook_on_a_gradient() -> None:
    @compiled
    def run(x: Any) -> Any:
        y = x.sin()
        y.register_hook(lambda gradient: gradient * 2)
        return y.sum()

    run(X.clone().requires_grad_()).backward()


@scenario
def a_hook_of_a_module() -> None:
    layer = torch.nn.Linear(4, 4)
    layer.register_forward_hook(lambda *_: print("hook"))
    compiled(torch.nn.Sequential(layer, torch.nn.ReLU()))(X)


@scenario
def a_checkpoint() -> None:
    @compiled
    def run(x: Any) -> Any:
        return checkpoint(broken_inside, x, use_reentrant=False)

    run(X.clone().requires_grad_()).sum().backward()


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(_: Any, x: Any) -> Any:
        print("forward")
        return x * 2

    @staticmethod
    def backward(_: Any, gradient: Any) -> Any:
        return gradient * 2


@scenario
def an_autograd_function() -> None:
    apply: Any = Doubled.apply
    compiled(lambda x: apply(x.sin()).sum())(X.clone().requires_grad_()).backward()


@scenario
def an_optimizer() -> None:
    layer = torch.nn.Linear(4, 2)
    optimizer = torch.optim.Adam(layer.parameters())

    @compiled
    def step() -> None:
        loss = layer(X).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    step()


@scenario
def a_compiled_function_in_another() -> None:
    inner = torch.compile(broken_inside, backend="eager")
    compiled(lambda x: inner(x) + 1)(X)


@scenario
def a_coroutine() -> None:
    async def run(x: Any) -> Any:
        await asyncio.sleep(0)
        return broken_inside(x)

    asyncio.run(compiled(run)(X))


@scenario
def a_generator() -> None:
    def parts(x: Any) -> Iterator[Any]:
        yield x.sin()
        print("between")
        yield x.cos()

    compiled(lambda x: sum(parts(x)))(X)


@scenario
def threads() -> None:
    run = torch.compile(broken_inside, backend="eager")
    others = [threading.Thread(target=run, args=(torch.ones(size),)) for size in (2, 3)]
    for one in others:
        one.start()
        one.join()


@scenario
def a_break_in_try() -> None:
    @compiled
    def run(x: Any) -> Any:
        try:
            print("try")
            x = x + 1
        finally:
            x = x.sin()
        return x

    run(X)


@scenario
def a_break_under_a_context_manager() -> None:
    @contextlib.contextmanager
    def area() -> Iterator[None]:
        yield

    @compiled
    def run(x: Any) -> Any:
        with area():
            print("with")
            return x.sin()

    run(X)


@scenario
def a_break_without_gradients() -> None:
    @compiled
    def run(x: Any) -> Any:
        with torch.no_grad():
            x = x.sin()
            print("no grad")
            return x.cos()

    run(X)


@scenario
def a_break_in_a_loop() -> None:
    @compiled
    def run(x: Any) -> Any:
        for _ in range(3):
            x = x + 1
            print("loop")
        return x

    run(X)


@scenario
def a_break_two_calls_deep() -> None:
    def middle(x: Any) -> Any:
        return broken_inside(x) + 1

    compiled(lambda x: middle(x).sin())(X)


@scenario
def a_recursion() -> None:
    def down(x: Any, depth: int) -> Any:
        print(depth)
        return down(x + 1, depth - 1) if depth else x

    compiled(down)(X, 2)


@scenario
def the_recompile_limit() -> None:
    @compiled
    def run(x: Any, n: float) -> Any:
        return x * n if n > 1 else x

    with dynamo_config.patch(recompile_limit=2, specialize_float=True, automatic_dynamic_shapes=False):
        for n in range(5):
            run(torch.ones(n + 2), 1.5 + n)


@scenario
def a_disabled_function() -> None:
    plain: Any = torch.compiler.disable
    sine = plain(torch.sin)
    compiled(lambda x: sine(x.cos()) + 1)(X)


@scenario
def a_warning_and_a_log() -> None:
    @compiled
    def run(x: Any) -> Any:
        warnings.warn("careful", stacklevel=1)
        logging.getLogger("mine").warning("here")
        return x.sin()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run(X)


@scenario
def a_backend_that_fails() -> None:
    def backend(*_: Any) -> Any:
        raise ValueError("no kernels here")

    torch.compile(lambda x: x.sin(), backend=backend)(X)


@scenario
def errors_that_are_suppressed() -> None:
    def backend(*_: Any) -> Any:
        raise ValueError("no kernels here")

    with dynamo_config.patch(suppress_errors=True):
        torch.compile(broken_inside, backend=backend)(X)


@scenario
def an_exception_of_the_program() -> None:
    @compiled
    def run(x: Any) -> Any:
        x = x.sin()
        raise ValueError("mine")

    run(X)


@scenario
def an_exception_that_is_caught() -> None:
    @compiled
    def run(x: Any) -> Any:
        try:
            return x[dict[str, int]()["missing"]]
        except KeyError:
            print("caught")
            return x.cos()

    run(X)


@scenario
def a_copy() -> None:
    layer = torch.nn.Linear(4, 4)
    compiled(lambda x: copy.deepcopy(layer)(x))(X)


@scenario
def numpy() -> None:
    compiled(lambda x: torch.from_numpy(x.numpy().astype("U4").astype("f4")))(X)


@scenario
def a_class_within() -> None:
    @compiled
    def run(x: Any) -> Any:
        class Local:
            value = 2

        return x * Local.value

    run(X)


@scenario
def sizes_that_change() -> None:
    run = torch.compile(broken_inside, backend="eager", dynamic=True)
    for size in (3, 5, 9):
        run(torch.ones(size))


@scenario
def what_does_not_break() -> None:
    compiled(lambda x: x.sin().cos())(X)


@pytest.mark.parametrize("run", sampled(SCENARIOS, 12), ids=lambda one: one.__name__)
def test_the_same_places_as_often_as_torchs_log(run: Callable[[], object]) -> None:
    more = MORE.get(run.__name__, "nothing")
    report = compare_with_log(run, more=more)
    assert any(one.gb_type.startswith(more) for one in report) == (run.__name__ in MORE)


def compare_with_log(run: Callable[[], object], *, more: str) -> Report:
    """Run it twice: with torch's log, and with explain, which may have `more`. Both have to say the same."""
    reset()
    logged = places_in_log(run)
    reset()
    with explain() as report, contextlib.suppress(Exception):
        run()
    assert report.compared
    assert report.unlisted == {}
    places: Counter[tuple[str, int]] = Counter()
    for one in report:
        # A break that ends a compilation is an exception of the program. Torch may have reported it before.
        if not one.gb_type.startswith(more) and (one.kind != "fatal" or (one.file, one.line) in logged):
            places[one.file, one.line] += one.compiled
    assert places == logged
    return report


def train(name: str) -> None:
    """Two steps of one of the models."""
    models = importlib.import_module("tests.repro_runner.fixtures.hugging_face_models")
    example = models.build(name)
    example.model.train()
    compiled: Any = torch.compile(example.model, backend="eager")
    for _ in range(2):
        outputs = compiled(**example.inputs).to_tuple()
        loss: Any = sum(one.sum() for one in outputs if isinstance(one, torch.Tensor) and one.requires_grad)
        loss.backward()


@pytest.mark.prove
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:.*lru_cache:UserWarning")
def test_a_model_in_training_breaks_where_torchs_log_says(name: str) -> None:
    compare_with_log(partial(train, name), more=LIMIT)


@pytest.mark.prove
@pytest.mark.parametrize("models", [False, True], ids=["small programs", "models"])
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore")
def test_the_advice_shown_is_the_one_that_was_judged(models: bool) -> None:
    """Else `python benchmarks/advice.py --show FILE` writes what is to be judged anew."""
    advice: Any = importlib.import_module("benchmarks.advice")
    judged = advice.read_judged()
    chosen = {name: run for name, run in advice.programs().items() if (", " in name) == models}
    changed = [row for row in advice.rows(chosen) if advice.verdict_of(row, judged) == "not judged"]
    assert [(row["program"], row["line"], row["advice"]) for row in changed] == []


def test_most_advice_fits_and_hardly_any_misleads() -> None:
    advice: Any = importlib.import_module("benchmarks.advice")
    verdicts = Counter(one["verdict"] for one in advice.read_judged().values())
    assert verdicts.total() >= 60
    assert verdicts["fits"] >= 0.7 * verdicts.total()
    assert verdicts["misleads"] < 0.05 * verdicts.total()


@pytest.mark.parametrize("gb_id", ["GB0052", "GB0219"])
@pytest.mark.filterwarnings("ignore")
def test_explain_lacks_nothing_where_torchs_log_does_not_list_the_users_frames(gb_id: str) -> None:
    """A function that is given up before its first line, and a backend that fails: the log shows torch's own frames."""
    source = (ROOT / "registry" / "repros" / f"{gb_id}.py").read_text("utf-8")
    program: dict[str, Any] = {"__name__": gb_id}
    exec(compile(source, f"{gb_id}.py", "exec"), program)
    reset()
    with dynamo_config.patch(**program.get("CONFIG", {})), explain() as report:
        broken: Any = torch.compile(program["broken"], backend="aot_eager")
        broken(*program["inputs"]())
    assert report.reports
    assert report.unlisted == {}


def a_function_in_another() -> None:
    compiled(lambda x: broken_inside(x) + 1)(X)


@pytest.mark.parametrize("run", [a_function_in_another, a_hook_of_a_module, an_autograd_function, a_generator])
def test_prints_that_are_to_come_later_are_lost_but_in_the_compiled_function_itself(
    run: Callable[[], object], capsys: pytest.CaptureFixture[str]
) -> None:
    """The advice says so. If torch no longer loses them, take the sentence out of fits.yml and taxonomy.yml."""
    run()
    assert capsys.readouterr().out
    reset()
    with dynamo_config.patch(reorderable_logging_functions={print}):
        run()
        assert capsys.readouterr().out == ""
        compiled(broken_inside)(X)
        assert capsys.readouterr().out == "inside\n"
