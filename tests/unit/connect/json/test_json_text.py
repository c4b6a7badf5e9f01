from decimal import Decimal
from typing import Any

import pytest

from kafka_lite.connect.json.json_text import double_json, float_json, parse_json, quoted


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", '"a"'),
        ('a"b\\c', '"a\\"b\\\\c"'),
        ("\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'),
        ("\x00\x1f\x7f", '"\\u0000\\u001F\x7f"'),
        ("\\u001f\x1f", '"\\\\u001f\\u001F"'),
        ("中/\u2028", '"中/\u2028"'),
        ("a😀\U0010ffff", '"a\\uD83D\\uDE00\\uDBFF\\uDFFF"'),
    ],
)
def test_strings_are_escaped_as_by_jackson(text: str, expected: str) -> None:
    assert quoted(text) == expected
    assert parse_json(expected.encode()) == text


def test_numbers_that_json_has_no_word_for_are_strings() -> None:
    numbers = [float("nan"), float("inf"), float("-inf")]

    assert [double_json(number) for number in numbers] == ['"NaN"', '"Infinity"', '"-Infinity"']
    assert [float_json(number) for number in numbers] == ['"NaN"', '"Infinity"', '"-Infinity"']
    assert (double_json(0.1), float_json(0.1), float_json(1e39)) == ("0.1", "0.1", '"Infinity"')


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b" 1 2", 1),
        (b'{"a":1}x', {"a": 1}),
        (b'"s"x', "s"),
        (b"[1]]", [1]),
        (b"1.50", Decimal("1.50")),
        (b"1e400", Decimal("1e400")),
        (b'{"a":1,"a":2}', {"a": 2}),
        ("\ufeff[]".encode(), []),
        ('"x"'.encode("utf-16"), "x"),
    ],
)
def test_the_first_value_is_read(data: bytes, value: Any) -> None:
    assert parse_json(data) == value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"01",
        b"1x",
        b"truex",
        b"NaN",
        b"[Infinity]",
        b"'a'",
        b'"\n"',
        b'{"a"}',
        b"\xff",
        b"[" * 100_000,
        b"1" * 5_000,
        b"1e" + b"9" * 30,
    ],
)
def test_what_is_not_json(data: bytes) -> None:
    with pytest.raises(ValueError):
        parse_json(data)
