from __future__ import annotations

import textwrap

import pytest

from registry.callsites import Emission, find_emissions


def emissions(source: str) -> tuple[Emission, ...]:
    return find_emissions(textwrap.dedent(source), "torch/_dynamo/x.py")


@pytest.mark.parametrize(
    "call",
    ["unimplemented", "unimplemented_v2", "unimplemented_with_warning", "exc.unimplemented", "self.unimplemented_v2"],
)
def test_a_call_of_every_emitter_is_found_with_file_line_and_enclosing_function(call: str) -> None:
    found = emissions(f"""
        class Tensor:
            def item(self):
                {call}(gb_type="no item", context="", explanation="", hints=[])
        """)
    assert [(one.gb_type, one.line, one.function, one.file) for one in found] == [
        ("no item", 4, "Tensor.item", "torch/_dynamo/x.py")
    ]


def test_other_functions_that_take_a_gb_type_emit_nothing() -> None:
    assert emissions('format_graph_break_message(gb_type="x")\nunimplemented("positional")') == ()


def test_adjacent_literals_in_hints_are_one_hint_and_starred_hints_are_none() -> None:
    (found,) = emissions("""
        unimplemented(gb_type="t", hints=["Set `a` " "or `b` " f"on {self.x()}.", *hints.FUNDAMENTAL, "Else."])
        """)
    assert found.hints == ("Set `a` or `b` on {self.x()}.", "Else.")


def test_a_type_that_is_no_literal_is_the_code_as_upstream_registers_it() -> None:
    found = emissions('unimplemented(gb_type=_gb_type)\nunimplemented(gb_type=f"no {attr} here")')
    assert [one.gb_type for one in found] == ["_gb_type", "no {attr} here"]


def test_a_helper_that_makes_the_type_from_its_argument_emits_where_it_is_called() -> None:
    found = emissions("""
        def call(self):
            def refuse(api_name):
                _unimplemented = unimplemented
                _unimplemented(gb_type=f"Call to `{api_name}()`", hints=["one " "hint"])

            if a:
                refuse("torch.compiler.disable")
            refuse(api_name="torch._dynamo.disable")
            refuse(unknown)
        """)
    assert [(one.gb_type, one.line, one.function) for one in found] == [
        ("Call to `torch.compiler.disable()`", 8, "call"),
        ("Call to `torch._dynamo.disable()`", 9, "call"),
    ]
    assert found[0].hints == ("one hint",)


def test_a_wrapper_that_only_passes_the_type_on_emits_nothing_by_itself() -> None:
    assert emissions("def wrapper(gb_type):\n    unimplemented(gb_type=gb_type)") == ()


def test_code_outside_any_function_is_said_to_be_in_the_module() -> None:
    (found,) = emissions('unimplemented(gb_type="t")')
    assert found.function == "<module>"
