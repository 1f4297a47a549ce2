"""Which operations may have an infinite gradient, and how an input is masked so that they don't.

`torch.where` hands a gradient of 0 to the arm that is not taken. Times an infinite derivative this is NaN, which spoils
the gradients of the arm that is taken, too. That does not happen if such an arm gets a harmless input instead.
"""

from __future__ import annotations

import ast
import copy
import warnings

_PARTIAL_NAMES = """acos acosh asin asinh atan2 atanh cdist cosh div divide exp exp2 expm1 floor_divide fmod hypot
    layer_norm log log10 log1p log2 norm normalize pow prod reciprocal remainder rsqrt sinc sinh sqrt std tan var"""
PARTIAL = frozenset(_PARTIAL_NAMES.split())
"""Operations whose gradients are not finite everywhere: they overflow, or there is a point without one."""
_PRODUCTS = {*("baddbmm", "bmm", "dot", "einsum", "lerp", "linear"), *("matmul", "mm", "mul", "mv", "outer", "square")}
_BOUNDED_NAMES = """abs amax amin ceil clamp clamp_max clamp_min clip contiguous cos detach erf expand expand_as flatten
    flip floor full_like hardtanh max maximum mean min minimum movedim neg negative ones_like permute relu relu6 reshape
    round sgn sigmoid sign sin softmax squeeze swapaxes t tanh transpose tril triu trunc unflatten unsqueeze view
    view_as zeros_like"""
_BOUNDED = frozenset(_BOUNDED_NAMES.split())
"""Operations whose results are not much larger than their inputs."""
_SELECTING_NAMES = """clamp clamp_max clamp_min clip contiguous detach expand flatten full_like mean nan_to_num
    ones_like permute relu reshape squeeze sum t transpose unsqueeze view zeros_like"""
_SELECTING = frozenset(_SELECTING_NAMES.split())
"""Operations that give NaN and infinite inputs a finite gradient."""
_ASKS_FOR_FINITE = {"isfinite", "isinf", "isnan", "inf", "nan"}
_SMALL = 16
_LARGEST = 1000.0
"""Results and gradients at a masked input must be below this, so that no dtype overflows."""
_FILLS = (0, 1, 2)


def may_be_infinite(condition: ast.expr) -> bool:
    """Whether a condition asks if its tensors are finite, so that they are not always."""
    return any(
        (isinstance(each, ast.Attribute) and each.attr in _ASKS_FOR_FINITE)
        or (isinstance(each, ast.Compare) and ast.dump(each.left) == ast.dump(each.comparators[0]))
        for each in ast.walk(condition)
    )


def partial_operation(value: ast.expr, *, finite: bool) -> ast.expr | None:
    """An operation in the value whose gradient is not finite everywhere. `finite`: whether the inputs are finite."""
    for each in ast.walk(value):
        if isinstance(each, ast.Call) and _is_partial_call(each, finite):
            return each
        if isinstance(each, ast.BinOp) and _is_partial_operator(each, finite):
            return each
    return None


def _is_partial_call(call: ast.Call, finite: bool) -> bool:
    name = _name_of(call)
    product = name in _PRODUCTS and not (finite and all(map(_is_moderate, _operands(call))))
    return name in PARTIAL or product or not (finite or name in _SELECTING)


def _is_partial_operator(node: ast.BinOp, finite: bool) -> bool:
    if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
        return not (isinstance(node.right, ast.Constant) and _number(node.right) > 0)
    if isinstance(node.op, ast.Pow):
        squared = isinstance(node.right, ast.Constant) and node.right.value in (1, 2)
        return not (squared and finite and _is_moderate(node.left))
    if not isinstance(node.op, ast.Mult | ast.MatMult) or any(map(_is_number, (node.left, node.right))):
        return False
    return not (finite and _is_moderate(node.left) and _is_moderate(node.right))


def _is_moderate(node: ast.expr) -> bool:
    """Whether a value is not much larger than the tensors that it is made of."""
    if isinstance(node, ast.Name | ast.Attribute | ast.Constant | ast.Tuple | ast.List):
        return True
    if isinstance(node, ast.Subscript):
        return _is_moderate(node.value)
    if isinstance(node, ast.UnaryOp):
        return _is_moderate(node.operand)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        scaled = isinstance(node.op, ast.Mult) and any(
            _is_number(each) and abs(_number(each)) <= _SMALL for each in sides
        )
        return all(map(_is_moderate, sides)) and (scaled or isinstance(node.op, ast.Add | ast.Sub))
    return isinstance(node, ast.Call) and _name_of(node) in _BOUNDED and all(map(_is_moderate, _operands(node)))


def _name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _operands(call: ast.Call) -> list[ast.expr]:
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return [*owner, *call.args, *(keyword.value for keyword in call.keywords)]


def _is_number(node: ast.expr) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def _number(node: ast.expr) -> float:
    value = ast.literal_eval(node)
    return float(value) if isinstance(value, int | float) else 0.0


def find_mask(value: ast.expr) -> tuple[str, int] | None:
    """(the one name that the value is computed from, a number for which value and gradient are finite), if any."""
    names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)} - {"torch", "abs"}
    if len(names) != 1:
        return None
    (name,) = names
    return next(((name, fill) for fill in _FILLS if _is_finite_at(value, name, fill)), None)


def _is_finite_at(value: ast.expr, name: str, fill: int) -> bool:
    """Compute the value, which must be pure, and its gradient for a tensor of this number."""
    import torch

    tensor = torch.full((2, 2), float(fill), requires_grad=True)
    code = compile(ast.fix_missing_locations(ast.Expression(copy.deepcopy(value))), "<arm>", "eval")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(code, {"__builtins__": {"abs": abs}, "torch": torch, name: tensor})
            (gradient,) = torch.autograd.grad(result.sum(), tensor)
    except (RuntimeError, TypeError, ValueError, ArithmeticError, AttributeError, LookupError):
        return False
    return all(bool((each.abs() < _LARGEST).all()) for each in (result, gradient))


def masked(value: ast.expr, name: str, mask: str) -> str:
    """The text of the value with `mask`, an expression, instead of the name."""
    instead = ast.parse(mask, mode="eval").body

    class Masking(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return instead if node.id == name else node

    return ast.unparse(Masking().visit(copy.deepcopy(value)))
