"""Symbols are found in the source by their names, and rendered as a reader asked for them."""

import pytest

from kafka_learn.source import UnknownSymbolError, find_symbol, render

INDEX = "kafka_lite.log.offset_index:OffsetIndex"


def test_a_method_is_found_and_dedented():
    code = render(find_symbol(f"{INDEX}.lookup"))
    assert code.startswith("def lookup(self")
    assert "return OffsetPosition" in code


def test_the_docstring_can_be_omitted():
    code = render(find_symbol(f"{INDEX}.lookup"), docstring=False)
    assert '"""' not in code
    assert "return OffsetPosition" in code


def test_a_class_can_be_shown_with_some_of_its_members():
    code = render(find_symbol(INDEX), only=("lookup",), docstring=False)
    assert "def lookup" in code
    assert "def append" not in code
    assert "# …" in code
    assert "\n    # …\n\n    # …" not in code


def test_bodies_can_be_omitted():
    code = render(find_symbol(INDEX), bodies=False)
    assert "def append(self, offset: int, position: int) -> None:" in code
    assert "_put_entry" not in code
    assert "Raises InvalidOffsetError" in code


def test_an_assignment_includes_the_comment_above_it():
    code = render(find_symbol("kafka_learn.drawing.graphviz_drawing:PLAIN"))
    assert code.splitlines()[0].startswith("# Fills")


def test_decorators_belong_to_the_symbol():
    assert render(find_symbol(f"{INDEX}.last_offset")).startswith("@property")


@pytest.mark.parametrize(
    "reference",
    [
        "kafka_lite.log.offset_index:OffsetIndex.nope",
        "kafka_lite.log.nope:X",
        "kafka_lite.log.offset_index",
        f"{INDEX}.",
    ],
)
def test_an_unknown_symbol_is_an_error(reference):
    with pytest.raises(UnknownSymbolError):
        find_symbol(reference)


def test_an_unknown_member_is_an_error():
    with pytest.raises(UnknownSymbolError, match="nope"):
        render(find_symbol(INDEX), only=("nope",))
