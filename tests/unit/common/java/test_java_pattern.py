r"""Patterns of Java: the same meaning as in Java, or refused with the construct that is not known."""

import warnings

import pytest

from kafka_lite.common.java.java_pattern import JavaPatternError, java_pattern


@pytest.mark.parametrize(
    ("pattern", "names", "others"),
    [
        ("flights.*", ["flights", "flights-2013"], ["my-flights"]),
        ("a|b", ["a", "b"], ["ab"]),
        (r"t\d{1,2}", ["t1", "t22"], ["t", "t333", "t\u0663"]),
        (r"\w+", ["a_1"], ["\u00e9"]),
        (r"\Qa.b\E.*", ["a.b", "a.b.c"], ["axb"]),
        (r"\Qa.b", ["a.b"], ["axb"]),
        (r"(?<first>[a-z])x\k<first>", ["axa"], ["axb"]),
        (r"(?:a|b)(?!c)(?=d)d(?<=d)(?<!e)", ["ad", "bd"], ["ac"]),
        (r"^a\z", ["a"], ["b"]),
        (r"(?i)FLIGHTS", ["flights"], ["weather"]),
        (r"(?i:F)lights", ["flights", "Flights"], ["fLights"]),
        (r"[^]a]", ["b"], ["]", "a"]),
        (r"[\[\]&|~.-]", ["[", "]", "&", "|", "~", ".", "-"], ["a", "\\"]),
        (r"[a||b]", ["a", "|", "b"], ["c"]),
        (r"\x41\u0042\.", ["AB."], ["ABx"]),
        (r"a++b", ["aab"], ["b"]),
        (r"", [""], ["a"]),
    ],
)
def test_a_pattern_matches_what_it_matches_in_java(pattern, names, others):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = java_pattern(pattern)
    assert [name for name in [*names, *others] if compiled.fullmatch(name)] == names


@pytest.mark.parametrize(
    ("pattern", "construct"),
    [
        ("[a-z&&[^b]]", "&& at position 4"),
        ("[a-d[m-p]]", r"\[ at position 4"),
        ("[[:alpha:]]", r"\[ at position 1"),
        (r"\p{Alpha}+", r"\\p\{Alpha\} at position 0"),
        (r"\pL", r"\\p at position 0"),
        (r"[\P{L}]", r"\\P\{L\} at position 1"),
        (r"a\h", r"\\h at position 1"),
        (r"\x{41}", r"\\x at position 0"),
        (r"\0101", r"\\0 at position 0"),
        (r"\v", r"\\v"),
        (r"\R", r"\\R"),
        (r"\G", r"\\G"),
        (r"\N{DIGIT ONE}", r"\\N"),
        ("(?P<n>a)", r"\(\?P at position 0"),
        ("(?(1)a|b)", r"\(\?\( at position 0"),
        ("(?#comment)a", r"\(\?#"),
        ("(?x)a b", r"\(\?x"),
        ("(?U)a", r"\(\?U"),
        ("(?a)a", r"\(\?a"),
        ("a(?i)b", r"\(\?i at position 1"),
        ("a{,3}", r"\{ at position 1"),
        ("a{b}", r"\{ at position 1"),
    ],
)
def test_a_construct_with_another_meaning_or_none_is_named(pattern, construct):
    with pytest.raises(JavaPatternError, match=f"^{construct}.* is not known here"):
        java_pattern(pattern)


@pytest.mark.parametrize("pattern", ["*", "(", ")", "[a", "a**", "\\", r"\u12", "(?<n>a)(?<n>b)", "[b-a]"])
def test_an_invalid_pattern_is_an_error_with_a_reason(pattern):
    with pytest.raises(JavaPatternError, match="at position"):
        java_pattern(pattern)
