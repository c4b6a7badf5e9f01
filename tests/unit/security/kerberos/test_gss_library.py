"""What the package ``gssapi`` is asked for, and what becomes of its errors."""

from __future__ import annotations

import os
import sys

import pytest

from kafka_lite.security.kerberos.gss_library import GssLibrary, MissingGssapiError
from kafka_lite.security.kerberos.kerberos_login import KerberosLogin
from kafka_lite.security.sasl.sasl_mechanism import RetriableSaslError, SaslError
from tests.support.fake_gss import FakeGssapi, GSSError

REPLAY = 0x96C73A00 + 34
BY_KEYTAB = KerberosLogin("alice@R", uses_keytab=True, keytab="/k")


@pytest.fixture
def gssapi(monkeypatch: pytest.MonkeyPatch) -> FakeGssapi:
    fake = FakeGssapi()
    monkeypatch.setitem(sys.modules, "gssapi", fake)
    return fake


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(MissingGssapiError, match=r"pip install 'kafka-lite\[gssapi\]' .*libkrb5-dev"):
        GssLibrary()


def test_the_file_of_java_is_read_unless_another_is_named(gssapi: FakeGssapi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_OPTS", "-Djava.security.krb5.conf=/java/krb5.conf")
    monkeypatch.setenv("KRB5_CONFIG", "/own")
    GssLibrary()
    assert os.environ["KRB5_CONFIG"] == "/own"
    monkeypatch.delenv("KRB5_CONFIG")
    GssLibrary()
    assert os.environ["KRB5_CONFIG"] == "/java/krb5.conf"
    monkeypatch.delenv("KRB5_CONFIG")


def test_the_default_realm(gssapi: FakeGssapi) -> None:
    assert GssLibrary().default_realm() == "EXAMPLE.COM"
    gssapi.realm = ""
    assert GssLibrary().default_realm() == ""


@pytest.mark.parametrize(
    ("login", "usage", "store"),
    [
        (BY_KEYTAB, "accept", {"keytab": "/k"}),
        (KerberosLogin("kafka/h@R", uses_keytab=True), "accept", None),
        (BY_KEYTAB, "initiate", {"client_keytab": "/k", "ccache": "MEMORY:kafka-lite alice@R /k"}),
        (KerberosLogin("a@R", uses_keytab=True), "initiate", {"ccache": "MEMORY:kafka-lite a@R None"}),
        (KerberosLogin(None, uses_keytab=False), "initiate", None),
        (KerberosLogin("a", uses_keytab=False, ticket_cache="/c"), "initiate", {"ccache": "FILE:/c"}),
    ],
)
def test_keys_and_tickets_are_where_the_login_says(
    gssapi: FakeGssapi, login: KerberosLogin, usage: str, store: dict[str, str] | None
) -> None:
    GssLibrary().check(login, usage)
    (asked,) = gssapi.asked
    assert (asked["usage"], asked["mechs"], asked["store"]) == (usage, ["krb5"], store)
    if login.principal is None:
        assert asked["name"] is None
    else:
        assert (asked["name"].text, asked["name"].kind) == (login.principal, "principal")


def test_a_client_names_the_service_of_its_broker_and_asks_for_a_proof(gssapi: FakeGssapi) -> None:
    context = GssLibrary().initiate(BY_KEYTAB, "kafka", "broker1")
    asked = gssapi.asked[-1]
    assert (asked["name"].text, asked["name"].kind) == ("kafka@broker1", "service")
    assert (asked["creds"], asked["usage"], asked["mech"]) == ("credentials", "initiate", "krb5")
    assert asked["flags"] == 2 | 32
    assert context.step(b"") == b"token"
    assert context.step(b"last") == b""
    assert (context.complete, context.initiator) == (False, "alice@R")
    assert context.wrap(b"x") == b"b'x' False"
    assert context.unwrap(b"x") == b"b'x' None"


def test_a_broker_refuses_an_empty_first_token(gssapi: FakeGssapi) -> None:
    context = GssLibrary().accept(BY_KEYTAB)
    assert gssapi.asked[-1] == {"creds": "credentials", "usage": "accept"}
    with pytest.raises(SaslError, match="first token is empty"):
        context.step(b"")


def test_errors_of_the_library_are_those_of_sasl(gssapi: FakeGssapi) -> None:
    library = GssLibrary()
    context = library.accept(BY_KEYTAB)
    gssapi.fails = GSSError("Request is a replay", REPLAY)
    for call in (context.step, context.wrap, context.unwrap):
        with pytest.raises(RetriableSaslError, match=r"Request is a replay \(REPLAY\)"):
            call(b"x")
    gssapi.fails = GSSError("no key table entry", 0)
    with pytest.raises(SaslError, match="no key table entry"):
        library.check(BY_KEYTAB, "accept")
    with pytest.raises(SaslError, match="no key table entry"):
        library.initiate(BY_KEYTAB, "kafka", "h")
