"""Keys of Kafka's producer under librdkafka's names; librdkafka itself judges them."""

from __future__ import annotations

import confluent_kafka
import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.spark.librdkafka_configs import librdkafka_configs
from tests.support.certificates import certificate

JAAS = 'org.apache.kafka.common.security.{} required username="alice" password="secret";'
SCRAM = {"sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": JAAS.format("scram.ScramLoginModule")}


def accepted(given: dict[str, str]) -> dict[str, str]:
    """The translation, which librdkafka's own producer takes without an unknown key."""
    made = librdkafka_configs(given)
    confluent_kafka.Producer(made | {"bootstrap.servers": "127.0.0.1:1", "log_level": "0"})
    return made


def test_equal_keys_go_to_the_partitions_of_the_java_producer() -> None:
    assert accepted({"max.request.size": "5000000", "buffer.memory": "33554432"}) == {
        "partitioner": "murmur2_random",
        "message.max.bytes": "5000000",
        "queue.buffering.max.kbytes": "32768",
    }
    assert accepted({"partitioner": "random"}) == {"partitioner": "random"}


def test_user_and_password_come_from_the_login_module() -> None:
    made = accepted({"security.protocol": "SASL_PLAINTEXT"} | SCRAM)
    assert (made["sasl.username"], made["sasl.password"]) == ("alice", "secret")
    assert "sasl.jaas.config" not in made


def test_keys_and_certificates_of_pem() -> None:
    pem = certificate("localhost")
    text = {"ssl.keystore.key": pem.key, "ssl.keystore.certificate.chain": pem.chain}
    made = accepted({"security.protocol": "SSL", "ssl.truststore.certificates": pem.authority, **text})
    assert (made["ssl.ca.pem"], made["ssl.key.pem"], made["ssl.certificate.pem"]) == (
        pem.authority, pem.key, pem.chain,
    )  # fmt: skip
    files = {"ssl.keystore.location": "me.pem", "ssl.keystore.type": "PEM", "ssl.truststore.location": "ca.pem"}
    assert librdkafka_configs(files | {"partitioner": "random", "ssl.enabled.protocols": "TLSv1.3"}) == {
        "partitioner": "random",
        "ssl.key.location": "me.pem",
        "ssl.certificate.location": "me.pem",
        "ssl.ca.location": "ca.pem",
    }


def test_a_key_store_of_pkcs12_is_librdkafkas_own() -> None:
    made = librdkafka_configs({"ssl.keystore.location": "me.p12", "ssl.keystore.type": "PKCS12"})
    assert made["ssl.keystore.location"] == "me.p12"


def test_any_host_name_is_accepted_if_none_is_to_be_checked() -> None:
    key = "ssl.endpoint.identification.algorithm"
    assert accepted({key: ""})[key] == "none"
    assert accepted({key: "https"})[key] == "https"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ssl.keystore.type": "JKS"}, "must be PEM or PKCS12"),
        ({"ssl.truststore.type": "JKS"}, "must be PEM"),
        ({"sasl.jaas.config": "nonsense"}, "sasl.jaas.config"),
        (SCRAM | {"sasl.mechanism": "PLAIN"}, "not PLAIN"),
    ],
)
def test_what_librdkafka_cannot_do_is_refused(wrong: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        librdkafka_configs(wrong)
    assert "secret" not in str(raised.value)
