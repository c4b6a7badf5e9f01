"""The keys about security, beyond the types and defaults that test_kafka_config compares with Kafka 0.10.2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_lite.common.config_def import ConfigError, Type
from kafka_lite.server.config.security_configs import SECURITY_CONFIGS

KAFKA_0_10_2 = json.loads((Path(__file__).parents[3] / "data" / "configs-0.10.2.json").read_text())["Broker"]
NEWER = {
    "allow.everyone.if.no.acl.found": (Type.BOOLEAN, False),  # SimpleAclAuthorizer's own until 3.9
    "super.users": (Type.STRING, ""),
    "ssl.keystore.key": (Type.PASSWORD, None),
    "ssl.keystore.certificate.chain": (Type.PASSWORD, None),
    "ssl.truststore.certificates": (Type.PASSWORD, None),
    "ssl.principal.mapping.rules": (Type.STRING, "DEFAULT"),
    "sasl.jaas.config": (Type.PASSWORD, None),
    "sasl.oauthbearer.jwks.endpoint.url": (Type.STRING, None),
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": (Type.LONG, 3_600_000),
    "sasl.oauthbearer.expected.audience": (Type.LIST, None),
    "sasl.oauthbearer.expected.issuer": (Type.STRING, None),
    "sasl.oauthbearer.clock.skew.seconds": (Type.INT, 30),
    "sasl.oauthbearer.sub.claim.name": (Type.STRING, "sub"),
    "sasl.oauthbearer.scope.claim.name": (Type.STRING, "scope"),
    "sasl.server.max.receive.size": (Type.INT, 524_288),
    "connections.max.reauth.ms": (Type.LONG, 0),
    "delegation.token.secret.key": (Type.PASSWORD, None),
    "delegation.token.master.key": (Type.PASSWORD, None),
    "delegation.token.max.lifetime.ms": (Type.LONG, 604_800_000),
    "delegation.token.expiry.time.ms": (Type.LONG, 86_400_000),
    "delegation.token.expiry.check.interval.ms": (Type.LONG, 3_600_000),
}
"""As in Kafka 3.9."""


def test_newer_keys_are_those_of_kafka_3_9() -> None:
    newer = {key.name: (key.type, key.default) for key in SECURITY_CONFIGS if key.name not in KAFKA_0_10_2}
    assert newer == NEWER


def test_whatever_a_thief_could_use_is_a_password() -> None:
    secret = {key.name for key in SECURITY_CONFIGS if key.type is Type.PASSWORD}
    words = ("password", "keystore.key", "jaas", "certificate", "secret.key", "master.key")
    assert secret == {key.name for key in SECURITY_CONFIGS if any(word in key.name for word in words)}


def test_client_certificates_are_required_requested_or_not_used() -> None:
    with pytest.raises(ConfigError, match=r"ssl\.client\.auth"):
        SECURITY_CONFIGS.parse({"ssl.client.auth": "optional"})
