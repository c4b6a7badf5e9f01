"""The options of the login module, and the name of the service."""

from __future__ import annotations

import pytest

from kafka_lite.security.auth.jaas_config import JaasConfigError
from kafka_lite.security.kerberos.kerberos_login import KerberosLogin, service_name

KEYTAB = {"useKeyTab": "true", "keyTab": "/k", "principal": "alice@R"}


def test_a_client_has_a_keytab_or_a_ticket_cache() -> None:
    assert KerberosLogin.of_client(KEYTAB) == KerberosLogin("alice@R", uses_keytab=True, keytab="/k")
    assert KerberosLogin.of_client(KEYTAB | {"keyTab": "FILE:/k"}).keytab == "/k"
    assert KerberosLogin.of_client({"useTicketCache": "TRUE"}) == KerberosLogin(None, uses_keytab=False)
    of_file = KerberosLogin.of_client({"useTicketCache": "true", "ticketCache": "/c", "principal": "bob"})
    assert of_file == KerberosLogin("bob", uses_keytab=False, ticket_cache="/c")
    both = KerberosLogin.of_client(KEYTAB | {"useTicketCache": "true"})
    assert both.uses_keytab


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "needs useKeyTab=true"),
        ({"username": "alice", "password": "secret"}, "useTicketCache=true"),
        ({"useKeyTab": "true", "keyTab": "/k"}, "principal is missing"),
        ({"useKeyTab": "false"}, "needs useKeyTab=true"),
    ],
)
def test_a_client_without_either(options: dict[str, str], says: str) -> None:
    with pytest.raises(JaasConfigError, match=says) as raised:
        KerberosLogin.of_client(options)
    assert "secret" not in str(raised.value)


def test_a_broker_has_a_keytab_and_keeps_its_key() -> None:
    options = KEYTAB | {"storeKey": "true"}
    assert KerberosLogin.of_server(options) == KerberosLogin("alice@R", uses_keytab=True, keytab="/k")
    assert KerberosLogin.of_server({**options, "keyTab": ""}).keytab == ""
    for missing in ("useKeyTab", "storeKey", "principal"):
        with pytest.raises(JaasConfigError, match=missing):
            KerberosLogin.of_server({key: value for key, value in options.items() if key != missing})


def test_the_service_name_comes_from_either_place() -> None:
    assert service_name({"serviceName": "kafka"}, None) == "kafka"
    assert service_name({}, "kafka") == "kafka"
    assert service_name({"serviceName": "kafka"}, "kafka") == "kafka"
    with pytest.raises(JaasConfigError, match=r"Conflicting serviceName values .*: kafka and other"):
        service_name({"serviceName": "kafka"}, "other")
    with pytest.raises(JaasConfigError, match=r"No serviceName defined .*set sasl\.kerberos\.service\.name"):
        service_name({}, None)
