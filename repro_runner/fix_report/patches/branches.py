"""Rewrite a branch on a tensor as `torch.where`, which computes both arms and selects one.

Both arms must be pure: evaluating an arm although it is not taken must change nothing and raise no new error.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from repro_runner.fix_report.patches.finite_gradients import (
    PARTIAL,
    find_mask,
    masked,
    may_be_infinite,
    partial_operation,
)
from repro_runner.fix_report.patches.patch import Branch, Patch, Refusal, Target, has_torch
from repro_runner.fix_report.patches.source import Edit, Source

_ID = "GB0170"
"""The id of a break at a branch on a tensor."""
PROBE = "__graphbreak_where__"
"""Replaces torch.where in the run that checks both arms. Its arguments are a number and functions: condition, two
arms, tensors."""
_DECIDING = {"any", "all", "isnan", "isinf", "isfinite"}
"""Methods that return bool tensors."""

_DRAWS = {"torch.rand([])", "torch.rand(())", "torch.rand(1)"}

_ELEMENTWISE = """abs add ceil clamp clamp_max clamp_min clip cos deg2rad detach double elu eq erf float floor full_like
    ge gelu gt half hardtanh heaviside isfinite isinf isnan le leaky_relu lerp logical_and logical_not logical_or
    logsigmoid lt maximum minimum mul nan_to_num ne neg negative ones_like relu relu6 round selu sgn sigmoid sign silu
    sin softplus square sub subtract tanh tanhshrink trunc where zeros_like"""
_REDUCTIONS = "all amax amin any argmax argmin count_nonzero cumsum logsumexp max mean min softmax log_softmax sum"
_MOVED = """contiguous expand expand_as flatten movedim permute repeat reshape roll squeeze swapaxes t transpose type_as
    unflatten unsqueeze view view_as flip tril triu cat stack chunk to bfloat16 long int bool"""
_PRODUCTS = "baddbmm bmm dot einsum linear matmul mm mv outer"
_PURE = PARTIAL | frozenset(f"{_ELEMENTWISE} {_REDUCTIONS} {_MOVED} {_PRODUCTS}".split())
_VIEWS = frozenset(f"{_MOVED} detach".split()) - {"cat", "stack", "repeat", "roll", "flip", "tril", "triu"}
_ALLOWED = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List,
    ast.keyword, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Choice:
    """A condition and two values. Each value is an expression or another choice."""

    condition: ast.expr
    then: ast.expr | _Choice
    otherwise: ast.expr | _Choice

    def conditions(self) -> Iterator[ast.expr]:
        yield self.condition
        for each in (self.then, self.otherwise):
            if isinstance(each, _Choice):
                yield from each.conditions()

    def values(self) -> Iterator[ast.expr]:
        for each in (self.then, self.otherwise):
            yield from each.values() if isinstance(each, _Choice) else (each,)


class _Unfit(Exception):
    """This branch can't be rewritten. The text says why."""


def find_branches(source: Source, targets: Sequence[Target]) -> Iterator[Patch | Refusal]:
    """Yield a patch for each branch at which graphs broke, or a refusal if it can't be rewritten."""
    targets = [target for target in targets if target.site.gb_id == _ID]
    done: set[ast.AST] = set()
    lines = {target.line for target in targets if target.line}
    for target in targets:
        node = _branch_at(source, target.line, lines) if target.line else None
        if node is None:
            continue
        try:
            patch = _make_patch(source, node, targets)
        except _Unfit as error:
            yield Refusal(target=target, reason=f"the branch can't become `torch.where`: {error}")
            continue
        if node not in done:
            yield patch
        done.add(node)


def find_random_thresholds(source: Source, targets: Sequence[Target]) -> Iterator[Patch]:
    """Yield a patch for each function that skips something at random: `torch.rand([]) < p` is asked only if p > 0."""
    functions: dict[ast.AST, list[Target]] = {}
    for target in targets:
        statements = list(source.statements_at(target.line)) if target.line and target.site.gb_id == _ID else []
        if statements and (around := source.function_of(statements[-1])):
            functions.setdefault(around, []).append(target)
    for function, inside in functions.items():
        edits = []
        for each in _compared_draws(function):
            text, limit = source.text_of(each), source.text_of(each.comparators[0])
            edits.append(Edit(start=source.start(each), end=source.end(each), text=f"({limit} > 0 and {text})"))
        if edits:
            yield Patch(
                title="a random number is compared only with a probability above 0",
                targets=tuple(inside),
                edits=tuple(edits),
            )


def _compared_draws(function: ast.AST) -> Iterator[ast.Compare]:
    """Yield each `drawn < p` in which `drawn` always comes from `torch.rand`, so that it is never below 0."""
    values: dict[str, list[str]] = {}
    for each in ast.walk(function):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            values.setdefault(each.id, []).append("")
        if isinstance(each, ast.Assign) and isinstance(name := each.targets[0], ast.Name):
            values.setdefault(name.id, []).append(ast.unparse(each.value))
    drawn = {name for name, texts in values.items() if len(texts) == 2 * sum(each in _DRAWS for each in texts)}
    for each in ast.walk(function):
        if isinstance(each, ast.Compare) and [type(op) for op in each.ops] == [ast.Lt]:
            limit = each.comparators[0]
            if (
                isinstance(each.left, ast.Name)
                and each.left.id in drawn
                and isinstance(limit, ast.Name | ast.Attribute)
            ):
                yield each


def _branch_at(source: Source, line: int, broken: set[int]) -> ast.If | ast.IfExp | None:
    """The conditional expression or `if` on this line, or the outermost `if` that must be rewritten with it."""
    found: ast.If | ast.IfExp | None = None
    for node in ast.walk(source.tree):
        if isinstance(node, ast.If | ast.IfExp) and node.test.lineno <= line <= (node.test.end_lineno or 0):
            found = node
    while isinstance(found, ast.If) and isinstance(parent := source.parents[found], ast.If):
        nested = found in (*parent.body, *parent.orelse)
        # An `elif` can't be rewritten without its `if`.
        if not nested or not (parent.test.lineno in broken or source.text_of(found).startswith("elif")):
            break
        found = parent
    return found


def _make_patch(source: Source, node: ast.If | ast.IfExp, targets: Sequence[Target]) -> Patch:
    if isinstance(node, ast.IfExp):
        choice, start, end, before = (
            _Choice(node.test, node.body, node.orelse),
            source.start(node),
            source.end(node),
            "",
        )
    else:
        choice, start, end, before = _statement_choice(source, node)
    _check_pure(source, node, choice)
    lines = {line for each in choice.conditions() for line in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
    return Patch(
        title="the branch on a tensor becomes `torch.where`",
        targets=tuple(target for target in targets if target.line in lines),
        edits=(Edit(start=start, end=end, text=before + _where_text(source, choice)),),
        changes="both arms are computed each time",
        branch=Branch(
            probe=lambda number: Edit(start=start, end=end, text=before + _probe_text(source, choice, number)),
            partial=next((_short(found) for each in choice.values() if (found := _unmasked(choice, each))), ""),
        ),
    )


def _statement_choice(source: Source, node: ast.If) -> tuple[_Choice, int, int, str]:
    """(choice, start and end of the text that it replaces, text before it: comments and `return ` or `x = `)."""
    block = source.block_of(node)
    following = block[block.index(node) + 1] if block.index(node) + 1 < len(block) else None
    falls_to = following if isinstance(following, ast.Return) else None
    choice, goes_to, used = _if_choice(node, falls_to)
    if goes_to and not _has_value(source, goes_to, node):
        raise _Unfit(f"{goes_to} has no value before it, and may get none")
    last: ast.stmt = falls_to if used and falls_to is not None else node
    start, end = source.start(node), source.end(last)
    indentation = source.indentation(node)
    comments = "".join(f"{text}{source.newline}{indentation}" for text in source.comments(start, end))
    return choice, start, end, comments + (f"{goes_to} = " if goes_to else "return ")


def _has_value(source: Source, name: str, node: ast.If) -> bool:
    """Whether every arm assigns the name, or something before the branch may have."""
    before = {
        each.arg if isinstance(each, ast.arg) else each.id
        for each in ast.walk(source.function_of(node) or source.tree)
        if isinstance(each, ast.arg)
        or (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each.lineno < node.lineno)
    }
    return name in before or all(part.orelse for part in ast.walk(node) if isinstance(part, ast.If))


def _if_choice(node: ast.If, falls_to: ast.Return | None) -> tuple[_Choice, str, bool]:
    """(choice, the assigned name or "" for a return, whether the return after the `if` is one of the arms)."""
    then, to, used = _arm(node.body, falls_to)
    if node.orelse:
        otherwise, other, used_too = _arm(node.orelse, falls_to)
        if other != to:
            raise _Unfit("its arms don't do the same thing with their values")
        return _Choice(node.test, then, otherwise), to, used or used_too
    if to:
        return _Choice(node.test, then, ast.Name(to, ast.Load())), to, used
    if falls_to is None or falls_to.value is None:
        raise _Unfit("only one of its arms returns something")
    return _Choice(node.test, then, falls_to.value), "", True


def _arm(body: list[ast.stmt], falls_to: ast.Return | None) -> tuple[ast.expr | _Choice, str, bool]:
    (statement, *more) = body
    if more:
        raise _Unfit("an arm has more than one statement")
    if isinstance(statement, ast.If):
        return _if_choice(statement, falls_to)
    if isinstance(statement, ast.Return) and statement.value is not None:
        return statement.value, "", False
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.value, statement.targets[0].id, False
    raise _Unfit(f"an arm does more than give a value: `{ast.unparse(statement).splitlines()[0][:60]}`")


def _check_pure(source: Source, node: ast.AST, choice: _Choice) -> None:
    """Raise _Unfit if conditions or arms do more than compute tensors."""
    if not has_torch(source):
        raise _Unfit("the program does not import torch by that name at its top")
    modules = _other_modules(source.tree)
    for condition in choice.conditions():
        test = condition.operand if _is_negated(condition) else condition  # type: ignore[attr-defined]
        if reason := _why_not_pure(test, modules):
            raise _Unfit(f"in its condition {reason}")
    for value in choice.values():
        if isinstance(value, ast.Constant | ast.Tuple | ast.List):
            raise _Unfit(f"an arm gives `{ast.unparse(value)}`, which is no tensor")
        if reason := _why_not_pure(value, modules):
            raise _Unfit(f"in an arm {reason}")
    if any(map(_may_be_alias, choice.values())) and (writes := _later_write(source, node, choice)):
        raise _Unfit(f"its value would be a new tensor, and `{writes}` writes in place")


def _is_negated(condition: ast.expr) -> bool:
    return isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not)


def _where_text(source: Source, value: ast.expr | _Choice) -> str:
    if not isinstance(value, _Choice):
        return _text(source, value)
    condition, then, otherwise = _arm_texts(source, value, lambda each: _where_text(source, each))
    return f"torch.where({condition}, {then}, {otherwise})"


def _probe_text(source: Source, value: ast.expr | _Choice, number: int) -> str:
    if not isinstance(value, _Choice):
        return _text(source, value)
    condition, *arms = _arm_texts(source, value, lambda each: _probe_text(source, each, number))
    read = {node.id for each in value.values() for node in ast.walk(each) if isinstance(node, ast.Name)}
    parts = ", ".join(f"lambda: {each}" for each in (condition, *arms))
    return f"{PROBE}({number}, {parts}, lambda: ({''.join(f'{name}, ' for name in sorted(read))}))"


def _arm_texts(source: Source, choice: _Choice, text_of: Callable[[ast.expr | _Choice], str]) -> tuple[str, str, str]:
    """(condition, then, otherwise). If an arm is not taken and may spoil gradients, it gets a harmless input."""
    condition, *arms = _without_not(source, choice)
    texts = []
    for arm, mask in zip(arms, ("torch.where({}, {}, {})", "torch.where({0}, {2}, {1})"), strict=True):
        if isinstance(arm, _Choice) or not _partial(choice, arm) or not (found := _mask_of(choice, arm)):
            texts.append(text_of(arm))
        else:
            texts.append(masked(arm, found[0], mask.format(condition, *found)))
    return condition, texts[0], texts[1]


def _partial(choice: _Choice, value: ast.expr) -> ast.expr | None:
    return partial_operation(value, finite=not any(map(may_be_infinite, choice.conditions())))


def _mask_of(choice: _Choice, value: ast.expr) -> tuple[str, int] | None:
    """The name and the number for `masked`. An arm of a branch inside a branch would need both conditions."""
    return find_mask(value) if len(list(choice.conditions())) == 1 else None


def _unmasked(choice: _Choice, value: ast.expr) -> ast.expr | None:
    """An operation of an arm whose gradient is not finite everywhere, and that no mask helps."""
    found = _partial(choice, value)
    return None if found is None or _mask_of(choice, value) else found


def _without_not(source: Source, choice: _Choice) -> tuple[str, ast.expr | _Choice, ast.expr | _Choice]:
    """(the condition as text of a bool tensor, then, otherwise). A `not` is removed, and the arms are swapped."""
    condition, then, otherwise = choice.condition, choice.then, choice.otherwise
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        condition, then, otherwise = condition.operand, otherwise, then
    text = _text(source, condition)
    decides = isinstance(condition, ast.Compare) or (
        isinstance(condition, ast.Call)
        and isinstance(condition.func, ast.Attribute)
        and condition.func.attr in _DECIDING
    )
    return (text if decides else f"({text}) != 0"), then, otherwise


def _text(source: Source, node: ast.expr) -> str:
    """The text of a node in the source. A node that was made here has no place there, so it is unparsed."""
    return source.text_of(node) if hasattr(node, "lineno") else ast.unparse(node)


def _why_not_pure(node: ast.expr, modules: frozenset[str] = frozenset()) -> str:
    """Why an expression may do more than compute; empty if it only computes. `modules` are names of other modules."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            if reason := _why_not_pure_call(each, modules):
                return reason
        elif isinstance(each, ast.Compare):
            if len(each.ops) > 1 or isinstance(each.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
                return f"`{_short(each)}` decides in Python"
        elif not isinstance(each, _ALLOWED):
            return f"`{_short(each)}` is more than a computation on tensors"
    return ""


def _other_modules(tree: ast.Module) -> frozenset[str]:
    """The names that a program imports from other packages than torch."""
    found = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
    return frozenset(
        (alias.asname or alias.name).partition(".")[0]
        for each in found
        for alias in each.names
        if ((each.module or "") if isinstance(each, ast.ImportFrom) else alias.name).partition(".")[0] != "torch"
    )


def _why_not_pure_call(call: ast.Call, modules: frozenset[str]) -> str:
    if any(keyword.arg in ("out", "inplace", None) for keyword in call.keywords):
        return f"`{_short(call)}` may write into its arguments"
    if isinstance(call.func, ast.Name):
        return "" if call.func.id == "abs" else f"{call.func.id}() may do more than compute"
    if isinstance(call.func, ast.Attribute) and call.func.attr in _PURE:
        owner = call.func.value
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        if not (isinstance(owner, ast.Name) and owner.id in modules):
            return ""
    return f"`{_short(call.func)}()` may do more than compute"


def _may_be_alias(node: ast.expr) -> bool:
    """Whether the value may share memory with another tensor of the program."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS


def _later_write(source: Source, node: ast.AST, choice: _Choice) -> str:
    """The text of an operation after the branch that may write into the value of the branch; empty if there is none."""
    function = source.function_of(node) or source.tree
    start, names = getattr(node, "lineno", 0), _shared_names(function, node, choice)
    around = (each for each in ast.walk(function) if isinstance(each, ast.For | ast.While | ast.AsyncFor))
    loop = any(node in ast.walk(each) for each in around)
    for each in ast.walk(function):
        written: ast.AST | None = None
        if isinstance(each, ast.AugAssign):
            written = each.target
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store | ast.Del):
            written = each.value
        elif isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            name = each.func.attr
            out = any(keyword.arg in ("out", "inplace") for keyword in each.keywords)
            written = each if out or (name.endswith("_") and not name.endswith("__")) else None
        if written is not None and (loop or each.lineno >= start) and names & _names_in(written):  # type: ignore[attr-defined]
            return _short(each)
    return ""


def _shared_names(function: ast.AST, node: ast.AST, choice: _Choice) -> set[str]:
    """The names in a function that may stand for memory of the values of a branch."""
    names = {name for each in choice.values() if _may_be_alias(each) for name in _names_in(each)}
    names |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    parent = next((each for each in ast.walk(function) if node in ast.iter_child_nodes(each)), None)
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        names |= _names_in(parent)
    pairs = [_names_in(each) for each in ast.walk(function) if _may_share(each)]
    while any(names & pair and not pair <= names for pair in pairs):
        names = names.union(*(pair for pair in pairs if names & pair))
    return names


def _may_share(node: ast.AST) -> bool:
    """Whether this gives a tensor another name. An operator and a call of torch's that is no view make a new tensor."""
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension | ast.withitem):
        return True
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr) or node.value is None:
        return False
    value = node.value
    new = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _PURE - _VIEWS
    return not (new or isinstance(value, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Constant))


def _names_in(node: ast.AST) -> set[str]:
    """The names of variables, and attributes such as `self.n`. `self` alone stands for no tensor."""
    if isinstance(node, ast.For | ast.AsyncFor):
        return _names_in(node.target) | _names_in(node.iter)
    found = {ast.unparse(each) for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)}
    return found - {"self", "torch"}


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else text[:57] + "..."
