"""A device in YAML: read as what it says, or refused with everything that is wrong, each with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import yaml

from registry.errors import InvalidInput
from repro_runner.adapters import AcceleratorCapabilities, OpRule, read_capabilities
from repro_runner.constraints import DtypeConstraint, LayoutConstraint, MemoryConstraint, ShapeConstraint
from repro_runner.constraints.narrowing import Narrowing
from tests.conftest import ROOT
from tests.repro_runner.fixtures.known_limits import device_keys, device_options, rule_keys, rule_options, settings

pytestmark = pytest.mark.torch

EXAMPLE = ROOT / "repro_runner" / "adapters" / "example_device.yml"


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yml"
    path.write_text(text, "utf-8")
    return path


def problems(folder: Path, text: str) -> list[str]:
    """What is said about a file, without its folder."""
    path = written(folder, text)
    with pytest.raises(InvalidInput) as refused:
        read_capabilities(path)
    return [line.removeprefix(f"{path}:") for line in str(refused.value).splitlines()]


def test_the_example_has_every_key_there_is() -> None:
    """`check` holds the keys of a file against it before torch is imported."""
    example = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    assert set(example) - {"name", "rules"} == {*device_keys(), *device_options()}
    assert {key for rule in example["rules"] for key in rule} == {"ops", "arguments", *rule_keys(), *rule_options()}


def test_the_example_is_a_device() -> None:
    device = read_capabilities(EXAMPLE)
    assert device.name == "example-npu"
    assert device.max_memory_bytes == 16 * 2**30
    assert {constraint.rule for constraint in device.constraints()} == {kind.rule for kind in settings()}


def test_the_limits_of_the_project_are_known_by_these_keys_in_this_order() -> None:
    """Further ones may stand among them. The other tests take all keys from the constraints."""
    device = ["dtypes", "ops", "unsupported_ops", "memory", "largest_tensor", "alignment", "layouts", "dynamic_shapes"]
    assert [key for key in device_keys() if key in device] == device
    rule = ["dtypes", "alignment", "layouts", "largest_tensor"]
    assert [key for key in rule_keys() if key in rule] == rule
    assert rule_options()[:3] == ["dims", "spare_ones", "unit"]
    assert device_options()[:3] == ["alignment_dims", "alignment_spare_ones", "alignment_unit"]


def test_every_key_becomes_the_limit_that_it_names(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        name: mine
        dtypes: [float32, torch.bfloat16]
        ops: [mm, "aten::relu", core-aten]
        unsupported_ops: sort
        memory: 1.5 GiB
        largest_tensor: 2048
        alignment: 4
        alignment_dims: [-1]
        alignment_spare_ones: no
        alignment_unit: bytes
        layouts: [contiguous]
        dynamic_shapes: no
        rules:
          - ops: [mm]
            arguments: [mat2, 0]
            dims: [-1, 0]
            spare_ones: false
            unit: elements
            alignment: 16
            dtypes: bfloat16
            layouts: strided
            largest_tensor: 16 kB
        """,
    )
    assert read_capabilities(path) == AcceleratorCapabilities(
        name="mine",
        supported_dtypes=("float32", "bfloat16"),
        supported_ops=("mm", "aten::relu", "core-aten"),
        unsupported_ops=("sort",),
        max_memory_bytes=3 * 2**29,
        max_tensor_bytes=2048,
        alignment_requirement=4,
        alignment_dims=(-1,),
        alignment_spare_ones=False,
        alignment_unit="bytes",
        layouts=("contiguous",),
        supports_dynamic_shapes=False,
        rules=(
            OpRule(
                ops=("mm",),
                arguments=("mat2", 0),
                dims=(-1, 0),
                spare_ones=False,
                unit="elements",
                alignment=16,
                dtypes=("bfloat16",),
                layouts=("strided",),
                max_tensor_bytes=16000,
            ),
        ),
    )


def test_a_rule_is_narrowed_in_all_its_limits() -> None:
    rule = OpRule(
        ops=["mm"], arguments=["mat2"], dims=[-1], alignment=16, dtypes=["float16"], layouts=["strided"],
        max_tensor_bytes=9,
    )  # fmt: skip
    dtype, shape, layout, memory = AcceleratorCapabilities(rules=[rule]).constraints()
    assert isinstance(dtype, DtypeConstraint) and dtype.allowed_dtypes == {torch.float16}
    assert isinstance(shape, ShapeConstraint) and (shape.alignment, shape.dims) == (16, (-1,))
    assert isinstance(layout, LayoutConstraint) and layout.allowed == {"strided"}
    assert isinstance(memory, MemoryConstraint) and memory.max_bytes == 9
    for constraint in (dtype, shape, layout, memory):
        assert constraint.narrowing == Narrowing(frozenset({"aten.mm"}), frozenset({"mat2"}))


@pytest.mark.parametrize(
    ("text", "dims", "spare_ones", "unit"),
    [
        ("alignment: 16", None, True, "elements"),
        ("alignment: 16\nalignment_dims: [-1]\nalignment_spare_ones: false", (-1,), False, "elements"),
        ("alignment: 64\nalignment_unit: bytes", (-1,), True, "bytes"),
        ("rules: [{ops: [mm], alignment: 16}]", None, True, "elements"),
        ("rules: [{ops: [mm], alignment: 16, spare_ones: false, dims: 0}]", (0,), False, "elements"),
        ("rules: [{ops: [mm], alignment: 64, unit: bytes}]", (-1,), True, "bytes"),
    ],
)
def test_an_alignment_has_the_same_options_for_a_device_and_for_a_rule(
    tmp_path: Path, text: str, dims: tuple[int, ...] | None, spare_ones: bool, unit: str
) -> None:
    (shape,) = read_capabilities(written(tmp_path, text)).constraints()
    assert isinstance(shape, ShapeConstraint)
    assert (shape.dims, shape.spare_ones, shape.unit) == (dims, spare_ones, unit)


@pytest.mark.parametrize("text", ["", "# nothing\n", "{}\n"])
def test_an_empty_file_is_a_device_without_limits_named_after_it(tmp_path: Path, text: str) -> None:
    assert read_capabilities(written(tmp_path, text)) == AcceleratorCapabilities(name="mine")
    assert AcceleratorCapabilities().constraints() == ()


def test_everything_that_is_wrong_is_said_at_once_with_what_may_be_meant(tmp_path: Path) -> None:
    text = """\
dtype: [float32]
dtypes: [float32, flaot16, fp32, bf16, i8]
ops:
  - mm
  - relux
  - matmul
  - atn.add
  - mm.defualt
unsupported_ops: [sotr]
layouts: [contigous]
memory: 16 gigs
rules:
  - ops: [addmm]
    arguments: [mat3, 9, alpha]
    alignment: 0
  - ops: [mm]
    alignmnet: 8
  - alignment: 8
  - ops: [bmm]
    dims: [0]
    dtypes: [float32]
"""
    found = problems(tmp_path, text)
    assert found[:9] == [
        "1: dtype: no such key; did you mean dtypes?",
        "2: dtypes: bf16: no such dtype; did you mean bfloat16?",
        "2: dtypes: flaot16: no such dtype; did you mean float16 or bfloat16?",
        "2: dtypes: fp32: no such dtype; did you mean float32?",
        "2: dtypes: i8: no such dtype; did you mean int8?",
        "5: ops: aten.relux: no such op; did you mean aten.relu or aten.rrelu or aten.relu_?",
        "6: ops: aten.matmul: is made of other ops, and a backend sees only those; name them instead",
        "7: ops: atn.add: no such op; did you mean aten.add?",
        "8: ops: aten.mm.defualt: no such overload; there are default, dtype, dtype_out, out",
    ]
    assert found[9].startswith("9: unsupported_ops: aten.sotr: no such op; did you mean aten.sort")
    assert found[10] == "10: layouts: contigous: no such layout; did you mean contiguous?"
    assert found[11:] == [
        "11: memory: must be a size in bytes, such as 4096 or 16 GiB, and is '16 gigs'",
        "14: arguments: 'alpha' takes no tensor in aten.addmm",
        "14: arguments: 'mat3' is no argument of aten.addmm; did you mean 'mat2'?",
        "14: arguments: 9 is no argument of aten.addmm; there are mat1, mat2, self",
        "15: alignment: must be a whole number, at least 1, and is '0' (a number)",
        f"16: a rule without a limit; give one or more of {', '.join(rule_keys())}",
        "17: alignmnet: no such key; did you mean alignment?",
        "18: a rule without ops; name some, or set the limit for the whole device",
        "20: dims: belongs to alignment; set that, too",
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("dtypes: 3", "dtypes: must be a name, and is '3' (a number)"),
        ("dtypes:", "dtypes: must be a list, and is nothing"),
        ("dtypes: {float32: true}", "dtypes: must be a list, and is a group of keys"),
        ("ops: [[mm]]", "ops: must be a name, and is a list"),
        ("name: ''", "name: must be a name, and is ''"),
        ("alignment: 1.5", "alignment: must be a whole number, at least 1, and is '1.5' (a number)"),
        ("alignment: sixteen", "alignment: must be a whole number, at least 1, and is 'sixteen'"),
        ("dynamic_shapes: maybe", "dynamic_shapes: must be true or false, and is 'maybe'"),
        ("memory: -1", "memory: must be a size in bytes, such as 4096 or 16 GiB, and is '-1' (a number)"),
        ("memory: [1]", "memory: must be a size in bytes, such as 4096 or 16 GiB, and is a list"),
        ("rules: [{ops: [mm], alignment: 2, dims: [x]}]", "dims: must be a whole number, and is 'x'"),
        ("rules: [mm]",
         f"'mm' stands where keys must: {', '.join(['ops', 'arguments', *rule_options(), *rule_keys()])}"),
        ("rules: [{ops: [core-aten], alignment: 2}]",
         "ops: core-aten is for the list of ops that the device has; name each op here"),
        ("alignment: 2\nalignment: 4", "alignment: is given twice"),
        ("alignment_dims: [0]", "alignment_dims: belongs to alignment; set that, too"),
        ("alignment: 4\nalignment_unit: byte", "alignment_unit: must be elements or bytes, and is 'byte'"),
        ("alignment: 4\nalignment_spare_ones: 7",
         "alignment_spare_ones: must be true or false, and is '7' (a number)"),
        ("memory: 1.5", "memory: must be a size in bytes, such as 4096 or 16 GiB, and is '1.5' (a number)"),
        ("zzz: 1", f"zzz: no such key; there are {', '.join(['name', *device_keys(), *device_options(), 'rules'])}"),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_refused(tmp_path: Path, line: str, told: str) -> None:
    assert problems(tmp_path, line) == [f"{line.count(chr(10)) + 1}: {told}"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("dtypes: [float32\nops: [mm]\n", "2: not YAML: "),
        ("a: b: c\n", "1: not YAML: mapping values are not allowed here"),
        ("\tname: x\n", "1: not YAML: "),
        ("name: \x00\n", "1: not YAML: "),
        ("- mm\n", "1: a list stands where keys must: name, "),
        ("mm\n", "1: 'mm' stands where keys must: name, "),
    ],
)
def test_what_is_not_such_a_document_is_refused_in_one_line(tmp_path: Path, text: str, told: str) -> None:
    (line,) = problems(tmp_path, text)
    assert line.startswith(told)


def test_a_file_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"none\.yml: No such file or directory; name a capability file"):
        read_capabilities(tmp_path / "none.yml")
    with pytest.raises(InvalidInput, match="Is a directory"):
        read_capabilities(tmp_path)
    path = tmp_path / "latin.yml"
    path.write_bytes("name: Gerät\n".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"latin\.yml: not UTF-8"):
        read_capabilities(path)


@pytest.mark.parametrize(
    ("size", "size_in_bytes"),
    [("0", 0), ("512", 512), ("1 B", 1), ("2KiB", 2048), ("2 kb", 2000), ("1.5 MiB", 3 * 2**19), ("1 TiB", 2**40)],
)
def test_sizes(tmp_path: Path, size: str, size_in_bytes: int) -> None:
    assert read_capabilities(written(tmp_path, f"memory: {size}\n")).max_memory_bytes == size_in_bytes


def test_ops_of_a_library_that_is_not_imported_are_taken_at_their_word(tmp_path: Path) -> None:
    assert read_capabilities(written(tmp_path, "ops: [mylib.op, cond]\n")).supported_ops == ("mylib.op", "cond")
