"""A listener and a client with GSSAPI are checked when they start."""

from __future__ import annotations

import sys

import pytest

from kafka_lite.security.auth.jaas_config import JaasConfigError
from kafka_lite.security.kerberos.gss_library import MissingGssapiError
from kafka_lite.security.kerberos.gssapi_mechanism import gssapi_client, gssapi_server, short_namer
from kafka_lite.security.kerberos.kerberos_name import KerberosName
from tests.support.fake_gss import FakeGssapi, GSSError

OPTIONS = {"useKeyTab": "true", "storeKey": "true", "keyTab": "/k", "principal": "kafka/h@R"}
VALUES = {"sasl.kerberos.service.name": "kafka"}


@pytest.fixture
def gssapi(monkeypatch: pytest.MonkeyPatch) -> FakeGssapi:
    fake = FakeGssapi()
    monkeypatch.setitem(sys.modules, "gssapi", fake)
    return fake


def test_each_exchange_has_its_own_end(gssapi: FakeGssapi) -> None:
    new_server, new_client = gssapi_server(OPTIONS, VALUES), gssapi_client(OPTIONS, VALUES)
    assert [asked["usage"] for asked in gssapi.asked] == ["accept", "initiate"]
    assert new_server() is not new_server()
    assert new_client("h").evaluate_challenge(b"") == b"token"
    assert gssapi.asked[-1]["name"].text == "kafka@h"
    assert new_server().evaluate_response(b"ticket") == b"token"


def test_a_bad_configuration_is_found_at_once(gssapi: FakeGssapi) -> None:
    for end in (gssapi_server, gssapi_client):
        with pytest.raises(JaasConfigError, match="No serviceName"):
            end(OPTIONS, {})
        with pytest.raises(JaasConfigError, match="useKeyTab=true"):
            end({}, VALUES)
    gssapi.fails = GSSError("no such file", 0)
    with pytest.raises(ValueError, match="cannot log in as kafka/h@R: no such file"):
        gssapi_server(OPTIONS, VALUES)
    with pytest.raises(ValueError, match="cannot log in as the owner of the ticket cache: no such file"):
        gssapi_client({"useTicketCache": "true"}, VALUES)


def test_rules_know_the_default_realm(gssapi: FakeGssapi) -> None:
    assert short_namer(["DEFAULT"]).short_name(KerberosName("alice", None, "EXAMPLE.COM")) == "alice"


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    for call in (
        lambda: gssapi_server(OPTIONS, VALUES),
        lambda: gssapi_client(OPTIONS, VALUES),
        lambda: short_namer([]),
    ):
        with pytest.raises(MissingGssapiError):
            call()
