"""Names as znodes and tags."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lite.zookeeper.sanitizer import desanitize, sanitize


@pytest.mark.parametrize(
    ("name", "sanitized"),
    [
        ("ANONYMOUS", "ANONYMOUS"),
        ("a.b-c_d", "a.b-c_d"),
        ("CN=alice, O=Shop", "CN%3Dalice%2C%20O%3DShop"),
        ("a/b*c~d+e", "a%2Fb%2Ac%7Ed%2Be"),
        ("<default>", "%3Cdefault%3E"),
        ("郑", "%E9%83%91"),
        ("", ""),
        ("..", "%2E%2E"),
        ("...", "..."),
    ],
)
def test_names_are_sanitised_as_kafka_does(name: str, sanitized: str) -> None:
    assert sanitize(name) == sanitized
    assert desanitize(sanitized) == name


def test_a_plus_of_other_tools_is_a_space() -> None:
    assert desanitize("a+b") == desanitize("a%20b") == "a b"
    assert desanitize("a+%2B") == "a +"


def test_what_is_no_utf_8_is_refused() -> None:
    with pytest.raises(ValueError, match="not a sanitised name"):
        desanitize("%ff")


@given(st.text())
def test_any_name_survives_and_needs_no_path_of_its_own(name: str) -> None:
    assert desanitize(sanitize(name)) == name
    assert set(sanitize(name)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_%")
