"""Configuration keys without effect are warned about, and the list of them stays current."""

from __future__ import annotations

import logging

import pytest

from kafka_lite.log.log_config import LOG_CONFIG_DEF
from kafka_lite.server.config.not_yet_applied import NOT_YET_APPLIED, part_to_come
from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF, KafkaConfig

KEYS = {key.name for definition in (KAFKA_CONFIG_DEF, LOG_CONFIG_DEF) for key in definition}
ENTRIES = [entry for entries in NOT_YET_APPLIED.values() for entry in entries]


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_names_existing_keys(entry: str) -> None:
    assert any(key == entry or (entry.endswith(".") and key.startswith(entry)) for key in KEYS)


def test_applied_keys_are_not_listed() -> None:
    assert part_to_come("log.retention.ms") is None
    assert part_to_come("num.io.threads") is None
    assert part_to_come("retention.ms") is None
    assert part_to_come("log.cleaner.threads") is None
    assert part_to_come("num.replica.fetchers") is None
    assert part_to_come("quota.producer.default") is None
    assert part_to_come("ssl.keystore.location") is None
    assert part_to_come("sasl.enabled.mechanisms") is None
    assert part_to_come("sasl.kerberos.principal.to.local.rules") is None
    assert part_to_come("sasl.kerberos.kinit.cmd") == "security"


def warnings_for(caplog: pytest.LogCaptureFixture, **config: str) -> list[str]:
    with caplog.at_level(logging.WARNING):
        KafkaConfig({"zookeeper.connect": "embedded"} | {key.replace("_", "."): v for key, v in config.items()})
    return [record.getMessage() for record in caplog.records]


def test_setting_such_a_key_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    (warning,) = warnings_for(caplog, ssl_provider="SunJSSE")
    assert "'ssl.provider' has no effect yet" in warning


def test_setting_the_default_value_is_not_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    assert warnings_for(caplog, ssl_protocol="TLS", num_io_threads="2") == []
