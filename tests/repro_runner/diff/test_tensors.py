"""Two tensors: every measure, every kind of number, and the reason in words."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from repro_runner.diff import measures
from repro_runner.diff.config import ComparisonConfig
from repro_runner.diff.tensors import compare_tensors

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:ComplexHalf support", "ignore:torch.quantize_per", "ignore:Sparse"),
]

FLOATS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
FLOAT8 = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]
COMPLEX = [torch.complex128, torch.complex64, torch.complex32]
SIGNED = [torch.int8, torch.int16, torch.int32, torch.int64]
UNSIGNED = [torch.uint8, torch.uint16, torch.uint32, torch.uint64]
INTEGERS = [*SIGNED, *UNSIGNED]
EXACT = ComparisonConfig(rtol=0, atol=0)
NAN, INF = math.nan, math.inf


def test_the_measures_are_those_of_the_textbook() -> None:
    reference, test = torch.tensor([[1.0, 2.0], [4.0, 8.0]]), torch.tensor([[1.0, 2.5], [4.0, 7.0]])
    found = compare_tensors(reference, test)
    assert not found.passed
    assert (found.elements, found.mismatches, found.mismatch_percentage) == (4, 2, 50.0)
    assert found.max_absolute_error == 1.0
    assert found.mean_absolute_error == 1.5 / 4
    assert found.max_relative_error == 0.25
    assert found.rmse == math.sqrt(1.25 / 4)
    assert found.max_ulp == 2**21  # there are 2**23 numbers from 2 to 4 and from 4 to 8; both are off by a quarter
    assert (found.worst_index, found.worst_reference, found.worst_test) == ((1, 1), 8.0, 7.0)
    expected = torch.nn.functional.cosine_similarity(reference.double().ravel(), test.double().ravel(), dim=0)
    assert found.cosine_similarity == pytest.approx(float(expected), abs=1e-15)
    assert found.reason == (
        "2 of 4 elements differ by more than atol=1e-05 and rtol=1.3e-06; the worst at [1, 1] is 7.0 instead of 8.0"
    )


def test_the_worst_index_is_that_of_a_mismatch_though_what_is_close_may_have_a_larger_error() -> None:
    found = compare_tensors(torch.tensor([1e6, 0.0]), torch.tensor([1e6 + 1, 0.5]))
    assert (found.mismatches, found.worst_index, found.max_absolute_error) == (1, (1,), 1.0)


@pytest.mark.parametrize("dtype", [*FLOATS, *FLOAT8, *COMPLEX, *INTEGERS, torch.bool], ids=str)
def test_a_tensor_equals_its_copy_and_no_other(dtype: torch.dtype) -> None:
    reference = torch.tensor([0, 1, 1, 0]).to(dtype)
    same = compare_tensors(reference, reference.clone())
    assert same.passed and same.reason == ""
    assert (same.max_absolute_error, same.mismatch_percentage, same.worst_index) == (0.0, 0.0, None)
    assert same.cosine_similarity == pytest.approx(1.0)
    other = compare_tensors(reference, torch.tensor([0, 1, 0, 0]).to(dtype))
    assert not other.passed
    assert (other.mismatches, other.worst_index, other.max_absolute_error) == (1, (2,), 1.0)


# Integers are never rounded.


@pytest.mark.parametrize(
    ("dtype", "one", "other"),
    [
        (torch.int64, 2**24, 2**24 + 1),
        (torch.int64, 2**53, 2**53 + 1),
        (torch.int64, 2**63 - 1, 2**63 - 2),
        (torch.int64, -(2**63), -(2**63) + 1),
        (torch.uint64, 2**64 - 1, 2**64 - 2),
        (torch.uint64, 2**63, 2**63 - 1),
        (torch.int32, 2**31 - 1, 2**31 - 2),
    ],
)
@pytest.mark.parametrize(
    "config", [ComparisonConfig(), ComparisonConfig(rtol=0.1, atol=10.0)], ids=["default", "loose"]
)
def test_integers_one_apart_differ(dtype: torch.dtype, one: int, other: int, config: ComparisonConfig) -> None:
    """A tolerance for floats is none for an index or a count."""
    found = compare_tensors(torch.tensor([one], dtype=dtype), torch.tensor([other], dtype=dtype), config)
    assert not found.passed
    assert (found.mismatches, found.max_absolute_error) == (1, 1.0)
    assert (found.worst_reference, found.worst_test, found.max_ulp) == (one, other, None)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_the_extremes_of_an_integer_dtype_are_its_whole_range_apart(dtype: torch.dtype) -> None:
    limits = torch.iinfo(dtype)
    found = compare_tensors(torch.tensor([limits.min], dtype=dtype), torch.tensor([limits.max], dtype=dtype))
    assert found.max_absolute_error == float(limits.max - limits.min)


def test_integers_have_a_tolerance_if_their_dtype_is_named() -> None:
    pixels = torch.tensor([200, 10], dtype=torch.uint8), torch.tensor([201, 9], dtype=torch.uint8)
    assert compare_tensors(*pixels, ComparisonConfig(atol={torch.uint8: 1})).passed
    assert not compare_tensors(*pixels, ComparisonConfig(atol={torch.int8: 1})).passed


# Floats.


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_neighbours_are_one_ulp_apart(dtype: torch.dtype) -> None:
    integer = {8: torch.int64, 4: torch.int32, 2: torch.int16}[dtype.itemsize]
    limits = torch.finfo(dtype)
    numbers = torch.tensor([1.0, 3.14, limits.smallest_normal, limits.smallest_normal / 4, 0.0], dtype=dtype)
    after = (numbers.view(integer) + 1).view(dtype)
    assert (after > numbers).all()
    for one, other in ((numbers, after), (-numbers, -after)):
        assert compare_tensors(one, other).max_ulp == 1
    assert compare_tensors(after, -after).max_ulp == 2 * (int(after.view(integer).max()))


@pytest.mark.parametrize("dtype", FLOAT8, ids=str)
def test_ulps_of_float8_count_its_values_in_order(dtype: torch.dtype) -> None:
    every = torch.arange(256, dtype=torch.int16).to(torch.uint8).view(dtype)
    rank = {value: place for place, value in enumerate(sorted({float(v) for v in every.double() if not v.isnan()}))}
    numbers = torch.stack([value for value in every if not value.double().isnan()])
    for shift in (1, 5, 100):
        other = numbers.view(torch.uint8).roll(shift).view(dtype)
        apart = [abs(rank[float(a)] - rank[float(b)]) for a, b in zip(numbers, other, strict=True)]
        assert compare_tensors(numbers, other).max_ulp == max(apart)


def test_scales_of_float8_have_no_sign() -> None:
    powers = torch.tensor([0, 127, 254], dtype=torch.uint8).view(torch.float8_e8m0fnu)
    found = compare_tensors(powers, torch.tensor([1, 127, 252], dtype=torch.uint8).view(torch.float8_e8m0fnu))
    assert (found.passed, found.mismatches, found.max_ulp) == (False, 2, 2)


def test_float8_may_be_off_by_one_in_the_last_place() -> None:
    for dtype in FLOAT8:
        numbers = torch.tensor([1.0, 0.0, 1.75], dtype=torch.float32).to(dtype)
        assert compare_tensors(numbers, (numbers.view(torch.uint8) + 1).view(dtype)).passed, dtype
        assert not compare_tensors(numbers, (numbers.view(torch.uint8) + 2).view(dtype)).passed, dtype


@pytest.mark.parametrize("dtype", [*FLOATS, torch.float8_e5m2], ids=str)
def test_equal_nan_and_equal_infinities_are_equal(dtype: torch.dtype) -> None:
    numbers = torch.tensor([NAN, INF, -INF, 1.0], dtype=dtype)
    found = compare_tensors(numbers, numbers.clone())
    assert found.passed
    assert (found.max_absolute_error, found.rmse, found.max_relative_error, found.max_ulp) == (0.0, 0.0, 0.0, 0)
    assert found.cosine_similarity == 1.0
    strict = compare_tensors(numbers, numbers.clone(), ComparisonConfig(equal_nan=False))
    assert (strict.passed, strict.mismatches, strict.worst_index) == (False, 1, (0,))


@pytest.mark.parametrize(
    ("one", "other"), [(NAN, 1.0), (1.0, NAN), (INF, 1e30), (1e30, INF), (INF, -INF), (INF, NAN), (-INF, INF)]
)
@pytest.mark.parametrize("config", [ComparisonConfig(), ComparisonConfig(max_ulp=2**62, atol=1e38)], ids=["", "loose"])
def test_nan_or_infinity_on_one_side_is_infinitely_wrong(one: float, other: float, config: ComparisonConfig) -> None:
    found = compare_tensors(torch.tensor([2.0, one]), torch.tensor([2.0, other]), config)
    assert (found.passed, found.mismatches, found.nonfinite_mismatches, found.worst_index) == (False, 1, 1, (1,))
    metrics = (found.max_absolute_error, found.mean_absolute_error, found.max_relative_error, found.rmse)
    assert metrics == (INF, INF, INF, INF)
    assert found.cosine_similarity == 1.0
    assert "1 of them NaN or infinite" in found.reason


def test_only_nan_has_no_cosine() -> None:
    assert compare_tensors(torch.tensor([NAN]), torch.tensor([NAN])).cosine_similarity is None


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_zeros_are_equal_with_either_sign_and_next_to_subnormals(dtype: torch.dtype) -> None:
    zeros = torch.tensor([0.0, -0.0], dtype=dtype), torch.tensor([-0.0, 0.0], dtype=dtype)
    assert compare_tensors(*zeros, EXACT).passed
    assert compare_tensors(*zeros).max_ulp == 0
    smallest = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    found = compare_tensors(zeros[0], torch.tensor([smallest, -smallest], dtype=dtype), EXACT)
    assert (found.mismatches, found.max_ulp, found.max_absolute_error) == (2, 1, smallest)
    assert (found.max_relative_error, found.cosine_similarity) == (INF, 0.0)


def test_squares_that_are_no_float64_do_no_harm() -> None:
    for scale in (1e300, 1e-300):
        found = compare_tensors(torch.tensor([3.0, 4.0]).double() * scale, torch.zeros(2).double(), EXACT)
        assert found.rmse == pytest.approx(5 / math.sqrt(2) * scale)
        assert compare_tensors(
            torch.tensor([3.0, 4.0]).double() * scale, torch.tensor([4.0, 3.0]).double() * scale
        ).cosine_similarity == pytest.approx(24 / 25)


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_both_parts_of_a_complex_number_count(dtype: torch.dtype) -> None:
    one = torch.tensor([1 + 1j, 2 + 2j]).to(dtype)
    assert compare_tensors(one, torch.tensor([1 + 1j, 2 + 3j]).to(dtype)).mismatches == 1
    assert compare_tensors(one, torch.tensor([1 + 1j, 3 + 2j]).to(dtype)).mismatches == 1
    turned = compare_tensors(one, one * torch.tensor(1j).to(dtype))
    assert turned.max_absolute_error == pytest.approx(4.0)
    assert turned.cosine_similarity == pytest.approx(0.0, abs=1e-9)
    assert compare_tensors(one.conj(), torch.tensor([1 - 1j, 2 - 2j]).to(dtype)).max_ulp == 0
    assert not compare_tensors(one.conj(), one).passed


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (complex(NAN, 1), complex(NAN, 1), True),
        (complex(NAN, 1), complex(NAN, 2), False),
        (complex(NAN, 1), complex(1, NAN), False),
        (complex(INF, 1), complex(INF, 1), True),
        (complex(INF, 1), complex(INF, 2), False),
        (complex(INF, NAN), complex(INF, NAN), True),
        (complex(1, INF), complex(1, -INF), False),
        (complex(1e3, 0), complex(1e3, 1e-4), True),
    ],
)
def test_parts_of_a_complex_number_that_are_not_finite(one: complex, other: complex, equal: bool) -> None:
    """The last: noise in a part that is next to nothing beside the other."""
    found = compare_tensors(torch.tensor([one]), torch.tensor([other]))
    assert found.passed is equal
    assert not math.isnan(found.max_absolute_error) and not math.isnan(found.max_relative_error)


# Tolerances.


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX], ids=str)
def test_the_default_tolerance_is_that_of_torch_testing(dtype: torch.dtype) -> None:
    from torch.testing._comparison import default_tolerances

    assert ComparisonConfig().tolerance(dtype) == default_tolerances(dtype)


def test_a_tolerance_can_be_given_by_dtype() -> None:
    config = ComparisonConfig(rtol={torch.float16: 0.5}, atol=0.0)
    assert config.tolerance(torch.float16) == (0.5, 0.0)
    assert config.tolerance(torch.float32) == (1.3e-6, 0.0)
    assert config.tolerance(torch.int64) == (0.0, 0.0)


def test_max_ulp_takes_the_place_of_rtol() -> None:
    one = torch.tensor([1.0, 1e-8])
    other = torch.tensor([1.0 + 3 * 2**-23, -1e-8])
    assert not compare_tensors(one, other, ComparisonConfig(max_ulp=2, atol=1e-7)).passed
    assert compare_tensors(one, other, ComparisonConfig(max_ulp=3, atol=1e-7)).passed
    found = compare_tensors(one, other, ComparisonConfig(max_ulp=3, atol=0))
    assert (found.mismatches, found.worst_index) == (1, (1,))
    assert "max_ulp=3" in found.reason


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"rtol": -1.0, "atol": {torch.float32: NAN}}, ["rtol=-1.0", "atol=nan"]),
        ({"repeats": 0, "max_ulp": -1}, ["repeats=0", "max_ulp=-1"]),
        ({"rtol": "a", "max_probes": "2"}, ["rtol=a", "max_probes=2: must be a whole number"]),
        ({"rtol": 0.1, "max_ulp": 1}, ["max_ulp takes the place of rtol"]),
    ],
)
def test_a_config_that_makes_no_sense_is_refused_with_every_problem(
    arguments: dict[str, Any], problems: list[str]
) -> None:
    with pytest.raises(ValueError) as refused:
        ComparisonConfig(**arguments)
    assert all(problem in str(refused.value) for problem in problems)


# Shapes, dtypes, devices, layouts.


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), ()], ids=str)
def test_empty_tensors_and_scalars_are_compared(shape: tuple[int, ...]) -> None:
    found = compare_tensors(torch.ones(shape), torch.ones(shape))
    assert found.passed and found.elements == math.prod(shape) and found.mismatch_percentage == 0.0
    assert found.rmse == 0.0
    if shape == ():
        wrong = compare_tensors(torch.tensor(1.0), torch.tensor(2.0))
        assert (wrong.worst_index, wrong.mismatch_percentage) == ((), 100.0)
        assert wrong.reason.endswith("the worst is 2.0 instead of 1.0")


@pytest.mark.parametrize(("one", "other"), [((2, 3), (3, 2)), ((1,), ()), ((0,), (0, 1)), ((3,), (1,))], ids=str)
def test_unlike_shapes_are_not_broadcast(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    found = compare_tensors(torch.ones(one), torch.ones(other))
    assert (found.passed, found.mismatch_percentage, found.max_absolute_error) == (False, 100.0, INF)
    assert found.reason == f"shape {other} instead of {one}"


def test_unlike_dtypes_differ_and_are_measured_all_the_same() -> None:
    one, other = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.5], dtype=torch.float16)
    found = compare_tensors(one, other)
    assert found.reason.startswith("dtype float16 instead of float32; 1 of 2 elements differ")
    assert (found.max_absolute_error, found.max_ulp) == (0.5, None)
    lenient = ComparisonConfig(check_dtype=False)
    assert compare_tensors(torch.tensor([1.0, 2.0]), torch.tensor([1, 2]), lenient).passed
    assert compare_tensors(torch.tensor([1.0, 2.0]), torch.tensor([1 + 0j, 2]), lenient).passed
    assert not compare_tensors(torch.tensor([1.0, 2.0]), torch.tensor([1 + 1j, 2]), lenient).passed
    assert compare_tensors(torch.tensor([1, 0], dtype=torch.int8), torch.tensor([True, False]), lenient).passed
    unlike = compare_tensors(torch.tensor([1]), torch.tensor([1], dtype=torch.uint64), lenient)
    assert "no integer dtype in common" in unlike.reason


def test_layout_counts_only_if_asked_for() -> None:
    one, strict = torch.randn(3, 4), ComparisonConfig(check_layout=True)
    turned = one.t().contiguous().t()
    assert compare_tensors(one, turned, EXACT).passed
    assert compare_tensors(one, turned, strict).reason == "strides (1, 3) instead of (4, 1)"
    assert compare_tensors(one, one.to_sparse(), EXACT).passed
    assert compare_tensors(one, one.to_sparse(), strict).reason == "layout sparse_coo instead of strided"
    for sparse in (one.to_sparse(), one.to_sparse_csr()):
        assert compare_tensors(sparse, sparse, strict).passed
        assert compare_tensors(sparse, (one + 1).to_sparse()).mismatches == 12


def test_what_a_view_shows_is_compared() -> None:
    base = torch.arange(24.0).reshape(4, 6)
    for view in (base[::2, 1:], base.expand(2, 4, 6), base.t(), torch.view_as_complex(base.reshape(-1, 2)).conj().imag):
        assert compare_tensors(view, view.clone()).max_ulp == 0
        assert compare_tensors(view, view.clone() + 1).mismatches == view.numel()


def test_quantised_nested_and_packed_tensors_are_compared_by_what_they_hold() -> None:
    quantised = torch.quantize_per_tensor(torch.tensor([0.0, 1.0]), 0.1, 0, torch.qint8)
    assert compare_tensors(quantised, quantised).passed
    assert compare_tensors(
        quantised, torch.quantize_per_tensor(torch.tensor([0.0, 1.1]), 0.1, 0, torch.qint8)
    ).mismatches
    rows = [torch.ones(2), torch.zeros(3)]
    nested = torch.nested.nested_tensor(rows, layout=torch.jagged)
    assert compare_tensors(nested, torch.nested.nested_tensor(rows, layout=torch.jagged)).passed
    assert compare_tensors(nested, torch.nested.nested_tensor(rows[::-1], layout=torch.jagged)).reason.startswith(
        "shape"
    )
    packed = torch.tensor([0x12, 0x34], dtype=torch.uint8)
    for dtype in (torch.float4_e2m1fn_x2, torch.bits8):
        assert compare_tensors(packed.view(dtype), packed.clone().view(dtype)).passed
        loose = ComparisonConfig(rtol=1.0, atol=1.0)
        assert compare_tensors(packed.view(dtype), (packed + 1).view(dtype), loose).mismatches == 2


def test_tensors_without_values_can_not_be_equal() -> None:
    found = compare_tensors(torch.ones(2, device="meta"), torch.ones(2, device="meta"))
    assert not found.passed and "no values" in found.reason


def test_tensors_that_require_grad_are_left_alone() -> None:
    one = torch.ones(2, requires_grad=True)
    assert compare_tensors(one, one * 1).passed
    assert one.grad is None and one.requires_grad


# Numbers.


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1.0, 1.0 + 1e-7, True),
        (1.0, 1.001, False),
        (NAN, NAN, True),
        (2**53, 2**53 + 1, False),
        (2**64 - 1, 2**64 - 1, True),
        (1 + 1j, 1 + 1j, True),
        (True, True, True),
        (True, False, False),
        (0.1, torch.tensor(0.1), True),
        (torch.tensor(0.1, dtype=torch.float16), 0.1, True),
        (3, torch.tensor(3), True),
        (3, torch.tensor([3]), False),
    ],
)
def test_a_number_is_a_tensor_without_dimensions(one: Any, other: Any, equal: bool) -> None:
    assert compare_tensors(one, other).passed is equal


def test_what_is_neither_a_tensor_nor_a_number_is_refused() -> None:
    with pytest.raises(TypeError, match="not str"):
        compare_tensors("1", "1")  # type: ignore[arg-type]


# Pieces, and the document.


@given(st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=1, max_size=40), st.integers(1, 7))
def test_pieces_and_the_whole_measure_the_same(pairs: list[tuple[float, float]], piece: int) -> None:
    one, other = (torch.tensor(column) for column in zip(*pairs, strict=True))
    whole = compare_tensors(one, other)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measures, "_PIECE", piece)
        pieces = compare_tensors(one, other)
    for name in ("passed", "mismatches", "max_absolute_error", "max_relative_error", "max_ulp", "worst_index"):
        assert getattr(pieces, name) == getattr(whole, name)
    for name in ("rmse", "mean_absolute_error", "cosine_similarity"):
        expected = getattr(whole, name)
        found = getattr(pieces, name)
        assert found is expected is None or found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=1, max_size=8))
def test_the_verdict_is_that_of_torch_testing(pairs: list[tuple[float, float]]) -> None:
    one, other = (torch.tensor(column) for column in zip(*pairs, strict=True))
    close = torch.isclose(other, one, rtol=1.3e-6, atol=1e-5, equal_nan=True)
    clear = torch.isclose(other.double(), one.double(), rtol=1.3e-6, atol=1e-5, equal_nan=True)
    if bool((close == clear).all()):  # torch computes the limit itself in float32
        assert compare_tensors(one, other).passed is bool(close.all())


def test_the_document_has_nothing_that_json_lacks() -> None:
    found = compare_tensors(torch.tensor([NAN, 1 + 1j]), torch.tensor([1, 1 + 2j]))
    document = found.to_document()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert (document["max_absolute_error"], document["worst_reference"]) == ("inf", "(nan+0j)")
    assert (document["mismatch_percentage"], document["worst_index"]) == (100.0, [0])
