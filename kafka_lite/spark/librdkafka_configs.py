"""Translates the configuration of Kafka's producer into that of librdkafka's, which writes the rows.

Spark 4.2: connector/kafka-0-10-token-provider/.../kafka010/KafkaConfigUpdater.scala · book 2.1.1
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.common.config_def import ConfigError, Type, parse_value
from kafka_lite.security.auth.jaas_config import JaasConfigError
from kafka_lite.security.auth.jaas_context import JaasContext

_LIBRDKAFKA_NAMES = {
    "max.request.size": "message.max.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "ssl.truststore.location": "ssl.ca.location",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
}
"""librdkafka has most of the Java producer's options under the same names, and these under others."""
_JAVA_ONLY = ("ssl.truststore.type", "ssl.keystore.type", "ssl.enabled.protocols")
_PEM, _PKCS12 = "PEM", "PKCS12"
# The Java producer's default, unlike librdkafka's: equal keys go to the same partitions. (Idempotence, the other
# difference, is left to the user: it would rule out brokers before 0.11, and rows are written at least once.)
_PRODUCER_DEFAULTS = {"partitioner": "murmur2_random"}


def librdkafka_configs(given: Mapping[str, str]) -> dict[str, str]:
    """The same configuration under librdkafka's names, with its defaults. Raises ConfigError, which names the key."""
    found = dict(given)
    for translate in (
        _translate_buffer,
        _translate_key_store,
        _translate_trust_store,
        _translate_jaas,
        _translate_https,
    ):
        translate(found)
    renamed = {_LIBRDKAFKA_NAMES.get(key, key): value for key, value in found.items() if key not in _JAVA_ONLY}
    return {**_PRODUCER_DEFAULTS, **renamed}


def _translate_buffer(configs: dict[str, str]) -> None:
    if memory := configs.pop("buffer.memory", None):
        kilobytes = parse_value("kafka.buffer.memory", Type.LONG, memory) // 1024
        configs["queue.buffering.max.kbytes"] = str(max(kilobytes, 1))


def _translate_key_store(configs: dict[str, str]) -> None:
    """A PEM file has the key and its certificates, which librdkafka wants to be told apart."""
    kind = _store_type(configs, "ssl.keystore.type", _PEM, _PKCS12)
    if kind == _PEM and (location := configs.pop("ssl.keystore.location", None)):
        configs["ssl.key.location"] = configs["ssl.certificate.location"] = location


def _translate_trust_store(configs: dict[str, str]) -> None:
    _store_type(configs, "ssl.truststore.type", _PEM)


def _store_type(configs: Mapping[str, str], key: str, *valid: str) -> str:
    kind = configs.get(key, _PEM).upper()
    if kind not in valid:
        raise ConfigError(f"kafka.{key}", kind, f"must be {' or '.join(valid)}: librdkafka writes the rows")
    return kind


def _translate_jaas(configs: dict[str, str]) -> None:
    text = configs.pop("sasl.jaas.config", None)
    if text is None:
        return
    try:
        jaas = JaasContext.load(text, configs.get("sasl.mechanism", ""))
        user, password = jaas.required("username"), jaas.required("password")
    except JaasConfigError as error:
        raise ConfigError("kafka.sasl.jaas.config", "[hidden]", str(error)) from error
    configs.setdefault("sasl.username", user)
    configs.setdefault("sasl.password", password)


def _translate_https(configs: dict[str, str]) -> None:
    key = "ssl.endpoint.identification.algorithm"
    if configs.get(key) == "":
        configs[key] = "none"
