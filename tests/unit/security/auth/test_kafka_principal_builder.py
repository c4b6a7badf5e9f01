from __future__ import annotations

import ssl

import pytest

from kafka_lite.common.security.kafka_principal import ANONYMOUS, KafkaPrincipal
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.security.auth.kafka_principal_builder import AuthenticationContext, DefaultKafkaPrincipalBuilder
from kafka_lite.security.auth.ssl_principal_mapper import NoMatchingRuleError, SslPrincipalMapper
from kafka_lite.security.kerberos.kerberos_rule import NoMatchingKerberosRuleError
from kafka_lite.security.kerberos.kerberos_short_namer import KerberosShortNamer
from tests.support.kafka_security_samples import accepted

CERTIFICATE = ssl.PEM_cert_to_DER_cert(accepted("distinguished_name")[0][0][0])  # CN=alice


def principal(protocol: SecurityProtocol, rules: str = "DEFAULT", **proof: object) -> KafkaPrincipal:
    context = AuthenticationContext(protocol, "LISTENER", **proof)  # type: ignore[arg-type]
    return DefaultKafkaPrincipalBuilder(SslPrincipalMapper(rules)).build(context)


def test_plaintext_is_anonymous() -> None:
    assert principal(SecurityProtocol.PLAINTEXT) == ANONYMOUS


def test_tls_without_a_client_certificate_is_anonymous() -> None:
    assert principal(SecurityProtocol.SSL) == ANONYMOUS


def test_a_certificate_gives_its_mapped_subject() -> None:
    assert principal(SecurityProtocol.SSL, peer_certificate=CERTIFICATE) == KafkaPrincipal("User", "CN=alice")
    short = principal(SecurityProtocol.SSL, "RULE:CN=(.*)/$1/U", peer_certificate=CERTIFICATE)
    assert short == KafkaPrincipal("User", "ALICE")


def test_a_certificate_that_no_rule_maps_is_refused() -> None:
    with pytest.raises(NoMatchingRuleError):
        principal(SecurityProtocol.SSL, "RULE:CN=bob/bob/", peer_certificate=CERTIFICATE)


@pytest.mark.parametrize("protocol", [SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL])
def test_sasl_gives_its_user_even_beside_a_certificate(protocol: SecurityProtocol) -> None:
    found = principal(protocol, sasl_mechanism="PLAIN", sasl_authorization_id="bob", peer_certificate=CERTIFICATE)
    assert found == KafkaPrincipal("User", "bob")
    assert not found.token_authenticated


@pytest.mark.parametrize(("name", "user"), [("alice@R", "alice"), ("kafka/h@R", "kafka"), ("bob@S", "BOB")])
def test_rules_name_the_users_of_kerberos(name: str, user: str) -> None:
    rules = KerberosShortNamer(["RULE:[1:$1@$0](.*@S)s/@.*//g/U", "DEFAULT"], "R")
    builder = DefaultKafkaPrincipalBuilder(SslPrincipalMapper("DEFAULT"), rules)

    def of(mechanism: str, name: str) -> KafkaPrincipal:
        proof = {"sasl_mechanism": mechanism, "sasl_authorization_id": name}
        return builder.build(AuthenticationContext(SecurityProtocol.SASL_SSL, "L", **proof))  # type: ignore[arg-type]

    assert of("GSSAPI", name) == KafkaPrincipal("User", user)
    assert of("PLAIN", name) == KafkaPrincipal("User", name)
    with pytest.raises(NoMatchingKerberosRuleError):
        of("GSSAPI", "alice@T")
    with pytest.raises(ValueError, match="Malformed"):
        of("GSSAPI", "a/b/c@R")


def test_a_principal_remembers_that_a_token_proved_it() -> None:
    found = principal(SecurityProtocol.SASL_SSL, sasl_authorization_id="bob", token_authenticated=True)
    assert found.token_authenticated


def test_an_unfinished_authentication_has_no_principal() -> None:
    with pytest.raises(ValueError, match="before its authentication is complete"):
        principal(SecurityProtocol.SASL_PLAINTEXT)
