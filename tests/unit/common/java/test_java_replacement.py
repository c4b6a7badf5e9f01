import pytest

from kafka_lite.common.java.java_pattern import JavaPatternError, java_pattern
from kafka_lite.common.java.java_replacement import java_replacement


@pytest.mark.parametrize(
    ("pattern", "replacement", "text", "expected"),
    [
        ("(.)-(.)", "$2-$1", "a-b", "b-a"),
        ("(?<first>.)-(.)", "${first}", "a-b", "a"),
        ("(a)|(b)", "<$1$2>", "b", "<b>"),
        ("(a)", "$12", "a", "a2"),
        ("a", r"\$\\$0", "a", r"$\a"),
        ("a", "", "a", ""),
    ],
)
def test_groups_and_escapes(pattern: str, replacement: str, text: str, expected: str) -> None:
    compiled = java_pattern(pattern)

    assert compiled.sub(java_replacement(replacement, compiled), text) == expected


@pytest.mark.parametrize(
    ("replacement", "says"),
    [("$", "Illegal group reference"), ("$x", "Illegal group reference"), ("a\\", "ends in a backslash"),
     ("$2", "No group 2"), ("${x}", "No group with name {x}")],
)  # fmt: skip
def test_what_is_not_a_replacement(replacement: str, says: str) -> None:
    with pytest.raises(JavaPatternError, match=says):
        java_replacement(replacement, java_pattern("(a)"))
