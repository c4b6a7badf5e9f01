"""What a test may ask for, and what it is told to ask for instead."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lite.testing.security.cluster_security import ClusterSecurity


def test_a_protocol_alone_has_the_usual_users() -> None:
    security = ClusterSecurity.of("SASL_PLAINTEXT")
    assert (security.has_sasl, security.has_tls, security.acls) == (True, False, False)
    assert security.passwords == {"admin": "admin-secret", "alice": "alice-secret", "bob": "bob-secret"}
    assert ClusterSecurity.of(security) is security


def test_the_admins_password_may_be_another_one() -> None:
    assert ClusterSecurity(users={"admin": "mine"}).passwords == {"admin": "mine"}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"protocol": "PLAINTEXT"}, "one of SSL, SASL_PLAINTEXT, SASL_SSL"),
        ({"mechanism": "GSSAPI"}, "one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"),
        ({"users": {"alice": 'a"b'}}, "quotes or backslashes"),
        ({"users": {"": "secret"}}, "must not be empty"),
        ({"protocol": "SSL", "acls": True}, "only client_certificates=True tells who a client is"),
        ({"protocol": "SASL_PLAINTEXT", "client_certificates": True}, "take SSL or SASL_SSL"),
    ],
)
def test_contradictions_are_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        ClusterSecurity(**wrong)


@pytest.mark.parametrize("wrong", [True, {"alice": "secret"}])
def test_other_values_are_refused_with_an_example(wrong: Any) -> None:
    with pytest.raises(TypeError, match="a protocol such as 'SASL_SSL'"):
        ClusterSecurity.of(wrong)
    with pytest.raises(TypeError, match="users with their passwords"):
        ClusterSecurity(users=["alice"])  # type: ignore[arg-type]
