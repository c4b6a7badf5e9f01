"""Principals get user names by the first rule that applies."""

from __future__ import annotations

import pytest

from kafka_lite.security.kerberos.kerberos_name import KerberosName
from kafka_lite.security.kerberos.kerberos_rule import NoMatchingKerberosRuleError
from kafka_lite.security.kerberos.kerberos_short_namer import KerberosShortNamer

REALM = "REALM.COM"
APPS = (r"RULE:[1:$1](App\..*)s/App\.(.*)/$1/g", r"RULE:[2:$1](App\..*)s/App\.(.*)/$1/g", "DEFAULT")
LOWER = (
    "RULE:[1:$1]/L",
    "RULE:[2:$1](Test.*)s/ABC///L",
    "RULE:[2:$1](ABC.*)s/ABC/XYZ/g/L",
    r"RULE:[2:$1](App\..*)s/App\.(.*)/$1/g/L",
    "RULE:[2:$1]/L",
    "DEFAULT",
)
UPPER = tuple(rule.replace("/L", "/U") for rule in LOWER)

TABLE = [
    (("DEFAULT",), "alice@REALM.COM", "alice"),
    (("DEFAULT",), "kafka/host@REALM.COM", "kafka"),
    (("DEFAULT",), "alice@OTHER.COM", None),
    (("DEFAULT",), "alice", "alice"),
    ((), "alice@REALM.COM", None),
    (APPS, "App.service-name/example.com@REALM.COM", "service-name"),
    (APPS, "App.service-name@REALM.COM", "service-name"),
    (APPS, "user/host@REALM.COM", "user"),
    (LOWER, "User@REALM.COM", "user"),
    (LOWER, "TestABC/host@FOO.COM", "test"),
    (LOWER, "ABC_User_ABC/host@FOO.COM", "xyz_user_xyz"),
    (LOWER, "App.SERVICE-name/example.com@REALM.COM", "service-name"),
    (LOWER, "User/root@REALM.COM", "user"),
    (UPPER, "User@REALM.COM", "USER"),
    (UPPER, "TestABC/host@FOO.COM", "TEST"),
    (UPPER, "ABC_User_ABC/host@FOO.COM", "XYZ_USER_XYZ"),
    (("RULE:[1:$1@$0](.*@OTHER.COM)s/@.*//", "DEFAULT"), "bob@OTHER.COM", "bob"),
    (("RULE:[1:$1@$0](.*@OTHER.COM)s/@.*//", "DEFAULT"), "bob@THIRD.COM", None),
    (("RULE:[2:$1-$2]",), "kafka/broker1@REALM.COM", "kafka-broker1"),
    (("RULE:[1:$1@$0]", "DEFAULT"), "alice@REALM.COM", None),
    (("RULE:[0:x]", "DEFAULT"), "alice@REALM.COM", "alice"),
    (("RULE:[1:]",), "alice@REALM.COM", ""),
]
"""Rules, a principal, and its user name; None: it is refused. tests/jvm asks Kafka's own class the same."""


@pytest.mark.parametrize(("rules", "principal", "user"), TABLE)
def test_the_table(rules: tuple[str, ...], principal: str, user: str | None) -> None:
    namer = KerberosShortNamer(rules, REALM)
    if user is not None:
        assert namer.short_name(KerberosName.parse(principal)) == user
        return
    with pytest.raises(NoMatchingKerberosRuleError):
        namer.short_name(KerberosName.parse(principal))


INVALID = (
    *("default", "DEFAUL", "DEFAULT/L", "DEFAULT/g", "rule:[1:$1]", "RULE:[1:$1]/L/U", "RULE:[1:$1]/U/L"),
    *("RULE:[1:$1]/LU", "RULE:[1:$1/L", "RULE:[1:$1]/l", "RULE:[2:$1](ABC.*)s/ABC/XYZ/L/g", "", "RULE:[:$1]"),
)


@pytest.mark.parametrize("rule", INVALID)
def test_text_that_is_no_rule_is_named(rule: str) -> None:
    with pytest.raises(ValueError, match="Invalid rule"):
        KerberosShortNamer([rule], REALM)


@pytest.mark.parametrize("rules", [APPS, LOWER, UPPER])
def test_rules_are_shown_as_they_are_written(rules: tuple[str, ...]) -> None:
    shown = str(KerberosShortNamer(rules, REALM)).strip("[").removesuffix("]").replace("s/ABC///", "s/ABC//")
    assert shown.count("RULE") == len(rules) - 1
    with pytest.raises(NoMatchingKerberosRuleError, match="No rules apply to x/y@Z, rules "):
        KerberosShortNamer(["DEFAULT"], REALM).short_name(KerberosName("x", "y", "Z"))
