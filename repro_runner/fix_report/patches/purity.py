"""Which expressions only compute: evaluated once more, or in vain, they change nothing and raise nothing new."""

from __future__ import annotations

import ast

_ELEMENTWISE = """abs add ceil clamp clamp_max clamp_min clip cos cosh deg2rad detach double elu eq erf exp exp2
    expm1 float floor full_like ge gelu gt half hardtanh heaviside hypot isfinite isinf isnan le leaky_relu lerp
    logical_and logical_not logical_or logsigmoid lt maximum minimum mul nan_to_num ne neg negative ones_like relu relu6
    round selu sgn sigmoid sign silu sin sinc sinh softplus square sub subtract tan tanh tanhshrink trunc where
    zeros_like"""
_REDUCTIONS = "all amax amin any argmax argmin count_nonzero cumsum logsumexp max mean min prod softmax log_softmax sum"
_MOVED = """contiguous expand expand_as flatten movedim permute repeat reshape roll squeeze swapaxes t transpose type_as
    unflatten unsqueeze view view_as flip tril triu cat stack chunk to bfloat16 long int bool"""
_PRODUCTS = "baddbmm bmm dot einsum linear matmul mm mv outer layer_norm"
_PARTIAL_NAMES = """acos acosh asin asinh atan2 atanh cdist div divide floor_divide fmod log log10 log1p log2 norm
    normalize pow reciprocal remainder rsqrt sqrt std var"""
PARTIAL = frozenset(_PARTIAL_NAMES.split())
"""Their gradients are not finite everywhere: in the arm that is not taken, that spoils the gradients of both."""
_PURE = PARTIAL | frozenset(f"{_ELEMENTWISE} {_REDUCTIONS} {_MOVED} {_PRODUCTS}".split())
_VIEWS = frozenset(f"{_MOVED} detach".split()) - {"cat", "stack", "repeat", "roll", "flip", "tril", "triu"}


def why_not_pure(node: ast.expr, modules: frozenset[str] = frozenset()) -> str:
    """What it may do besides computing; empty if it only computes. `modules` are those that are not torch's."""
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


_ALLOWED = (
    ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List,
    ast.keyword, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip


def other_modules(tree: ast.Module) -> frozenset[str]:
    """The names by which a program knows what it imports from elsewhere than torch."""
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


def partial_operation(node: ast.expr) -> str:
    """An operation in it that has no finite gradient everywhere, as it is written; empty if there is none."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in PARTIAL:
            return _short(each)
        if isinstance(each, ast.BinOp):
            divides = isinstance(each.op, ast.Div | ast.FloorDiv | ast.Mod)
            if (divides and not _is_nonzero(each.right)) or (
                isinstance(each.op, ast.Pow) and not _is_nonzero(each.right)
            ):
                return _short(each)
    return ""


def _is_nonzero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and node.value > 0


def may_be_alias(node: ast.expr) -> bool:
    """Whether its value may share memory with something that has a name already."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS


def writes_in_place(function: ast.AST) -> str:
    """The first thing in a function that writes into a tensor, as it is written; empty if nothing does."""
    for each in ast.walk(function):
        if isinstance(each, ast.AugAssign):
            return _short(each)
        if isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            return _short(each)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            name = each.func.attr
            if name.endswith("_") and not name.endswith("__"):
                return _short(each)
    return ""


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else text[:57] + "..."
