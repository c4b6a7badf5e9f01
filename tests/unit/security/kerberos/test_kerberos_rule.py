"""A rule takes a principal's parts, checks them, substitutes, and never makes a path of a name."""

from __future__ import annotations

import pytest

from kafka_lite.common.java.java_pattern import JavaPatternError
from kafka_lite.security.kerberos.kerberos_rule import (
    BadFormatStringError,
    DefaultKerberosRule,
    KerberosRule,
    NoMatchingKerberosRuleError,
    replace_parameters,
)

FILLED = [
    ("", ["too", "many"], ""),
    ("hello", ["too", "many"], "hello"),
    ("hello $0", ["too", "many"], "hello too"),
    ("hello $0", ["no recursion $1"], "hello no recursion $1"),
    ("$1-$2@$0", ["R", "kafka", "host"], "kafka-host@R"),
    ("$10", [str(number) for number in range(11)], "10"),
]


@pytest.mark.parametrize(("template", "params", "filled"), FILLED)
def test_parts_are_put_in(template: str, params: list[str], filled: str) -> None:
    assert replace_parameters(template, params) == filled


@pytest.mark.parametrize(
    ("template", "says"),
    [("$3", "index 3 from \\$3 is outside of the valid range 0 to 2"), ("$a", "without a number"), ("$", "number")],
)
def test_a_part_that_is_not_there(template: str, says: str) -> None:
    with pytest.raises(BadFormatStringError, match=says):
        replace_parameters(template, ["R", "kafka", "host"])


def test_the_default_rule_is_about_the_default_realm() -> None:
    rule = DefaultKerberosRule("R")
    assert rule.apply(["R", "alice"]) == "alice"
    assert rule.apply(["R", "kafka", "host"]) == "kafka"
    assert rule.apply(["S", "alice"]) is None
    with pytest.raises(NoMatchingKerberosRuleError, match="Non-simple name a@b after auth_to_local rule DEFAULT"):
        rule.apply(["R", "a@b"])


def test_a_rule_is_about_names_of_so_many_parts() -> None:
    assert KerberosRule(1, "$1").apply(["R", "alice"]) == "alice"
    assert KerberosRule(1, "$1").apply(["R", "kafka", "host"]) is None
    assert KerberosRule(2, "$2").apply(["R", "kafka", "host"]) == "host"


def test_the_whole_text_must_match() -> None:
    assert KerberosRule(1, "$1@$0", "alice").apply(["R", "alice"]) is None
    assert KerberosRule(1, "$1@$0", "alice@.", ("@.*", "")).apply(["R", "alice"]) == "alice"


def test_the_first_match_or_each_is_substituted() -> None:
    assert KerberosRule(1, "$1", None, ("a", "o")).apply(["R", "banana"]) == "bonana"
    assert KerberosRule(1, "$1", None, ("a", "o"), repeat=True).apply(["R", "banana"]) == "bonono"
    assert KerberosRule(1, "$1", None, ("(a)(n)", "$2$1"), repeat=True).apply(["R", "banana"]) == "bnanaa"


def test_upper_and_lower_case_come_last() -> None:
    assert KerberosRule(1, "$1", None, ("A", "B"), case="L").apply(["R", "Aa"]) == "ba"
    assert KerberosRule(1, "$1", case="U").apply(["R", "alice"]) == "ALICE"


@pytest.mark.parametrize("template", ["$1@$0", "$1/$0", "/$1"])
def test_a_name_that_is_not_simple_is_refused(template: str) -> None:
    with pytest.raises(NoMatchingKerberosRuleError, match="Non-simple name"):
        KerberosRule(1, template).apply(["R", "alice"])


@pytest.mark.parametrize(("pattern", "replacement"), [("(", ""), ("a", "$1"), ("a", "$")])
def test_a_bad_substitution_is_found_at_once(pattern: str, replacement: str) -> None:
    with pytest.raises(JavaPatternError):
        KerberosRule(1, "$1", None, (pattern, replacement))
