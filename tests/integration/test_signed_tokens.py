"""A listener that takes tokens of one issuer, whose keys are in a file."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.network.authentication_error import SaslAuthenticationError
from kafka_lite.testing.cluster import Cluster
from tests.support.signed_tokens import jwks, rsa_jwk, token

LISTENERS = "PLAINTEXT://127.0.0.1:0,SASL_PLAINTEXT://127.0.0.1:0"
MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tokens")
    (made / "keys.json").write_bytes(jwks(rsa_jwk("a")))
    return made


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[Cluster]:
    keys = {
        "listeners": LISTENERS,
        "sasl.enabled.mechanisms": "OAUTHBEARER",
        "listener.name.sasl_plaintext.oauthbearer.sasl.oauthbearer.jwks.endpoint.url": (folder / "keys.json").as_uri(),
        "sasl.oauthbearer.expected.audience": "kafka",
    }
    with Cluster(keys) as made:
        made.create_topic("orders")
        yield made


def config(cluster: Cluster, folder: Path, value: str) -> dict[str, Any]:
    file = folder / "token"
    file.write_text(value + "\n")
    return {
        "bootstrap.servers": f"127.0.0.1:{cluster.server.bound_port('SASL_PLAINTEXT')}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.jaas.config": f'{MODULE} required tokenFile="{file}";',
    }


def claims(**more: object) -> dict[str, Any]:
    now = int(time.time())
    return {"sub": "alice", "aud": "kafka", "iat": now - 60, "exp": now + 3600, **more}


def test_a_token_of_the_issuer_opens_the_door(cluster: Cluster, folder: Path) -> None:
    with KafkaConsumer(config(cluster, folder, token(claims()))) as consumer:
        assert len(consumer.partitions_for("orders")) == 1


@pytest.mark.parametrize("key", ["a", "stranger"])
def test_a_token_for_others_or_of_others_does_not(cluster: Cluster, folder: Path, key: str) -> None:
    refused = token(claims(aud="others") if key == "a" else claims(), key=key)
    with KafkaConsumer(config(cluster, folder, refused)) as consumer, pytest.raises(SaslAuthenticationError):
        consumer.partitions_for("orders")


def test_a_broker_without_its_issuers_keys_does_not_start(folder: Path) -> None:
    keys = {"listeners": LISTENERS, "sasl.enabled.mechanisms": "OAUTHBEARER"}
    url = {"sasl.oauthbearer.jwks.endpoint.url": (folder / "none.json").as_uri()}
    with pytest.raises(ConfigError, match=r"sasl\.oauthbearer\.jwks\.endpoint\.url.*cannot read"), Cluster(keys | url):
        pass
