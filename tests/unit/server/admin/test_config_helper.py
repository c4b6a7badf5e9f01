"""Each value of a described configuration, where it comes from, and what it would be otherwise."""

from __future__ import annotations

import pytest

from kafka_lite.protocol.messages.api_32_describe_configs import DescribeConfigsResourceResult
from kafka_lite.server.admin.config_helper import CONFIG_TYPES, UNKNOWN_TYPE, ConfigHelper, ConfigSource
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig

TOPIC, OWN, ALL, STATIC, DEFAULT = (
    ConfigSource.TOPIC_CONFIG,
    ConfigSource.DYNAMIC_BROKER_CONFIG,
    ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG,
    ConfigSource.STATIC_BROKER_CONFIG,
    ConfigSource.DEFAULT_CONFIG,
)
BYTES, HOURS, MS = "log.retention.bytes", "log.retention.hours", "log.retention.ms"
WEEK_MS = str(7 * 24 * 3_600_000)


class Described:
    """A broker with these keys in server.properties, whose configuration is described."""

    def __init__(self, **keys: str) -> None:
        static = {key.replace("_", "."): value for key, value in keys.items()}
        config = KafkaConfig({"zookeeper.connect": "zk", "broker.id": "1", **static}, do_log=False)
        self.dynamic = DynamicBrokerConfig(config)
        self.helper = ConfigHelper(config, self.dynamic)

    def broker(self, name: str) -> DescribeConfigsResourceResult:
        [entry] = self.helper.describe_broker([name], include_synonyms=True)
        return entry

    def topic(self, name: str, **overrides: str) -> DescribeConfigsResourceResult:
        mine = {key.replace("_", "."): value for key, value in overrides.items()}
        [entry] = self.helper.describe_topic(mine, [name], include_synonyms=True)
        return entry


def synonyms(entry: DescribeConfigsResourceResult) -> list[tuple[str, str | None, int]]:
    return [(each.name, each.value, each.source) for each in entry.synonyms]


def test_a_value_has_all_its_sources_the_strongest_first() -> None:
    described = Described(log_retention_bytes="3")
    described.dynamic.update_default({BYTES: "4"})
    described.dynamic.update_broker({BYTES: "5"})
    broker = [(BYTES, "5", OWN), (BYTES, "4", ALL), (BYTES, "3", STATIC), (BYTES, "-1", DEFAULT)]

    entry = described.broker(BYTES)
    assert (entry.value, entry.config_source, entry.read_only) == ("5", OWN, False)
    assert synonyms(entry) == broker

    entry = described.topic("retention.bytes", retention_bytes="6")
    assert (entry.value, entry.config_source) == ("6", TOPIC)
    assert synonyms(entry) == [("retention.bytes", "6", TOPIC), *broker]

    described.dynamic.update_broker({})
    entry = described.topic("retention.bytes")
    assert (entry.value, entry.config_source) == ("4", ALL)


def test_a_value_in_another_unit_is_no_source_while_the_key_itself_has_none() -> None:
    """As in Kafka, which compares the names of the keys."""
    described = Described(log_retention_hours="168")
    entry = described.topic("retention.ms")
    assert (entry.value, entry.config_source, synonyms(entry)) == (WEEK_MS, DEFAULT, [])
    entry = described.broker(HOURS)
    assert (entry.value, entry.config_source) == ("168", STATIC)
    assert synonyms(entry) == [(HOURS, "168", STATIC), (HOURS, "168", DEFAULT)]


def test_a_value_in_another_unit_follows_that_of_the_key_itself() -> None:
    described = Described(log_retention_hours="168", log_retention_ms="7000")
    entry = described.topic("retention.ms")
    assert (entry.value, entry.config_source) == ("7000", STATIC)
    assert synonyms(entry) == [(MS, "7000", STATIC), (HOURS, "168", STATIC), (HOURS, "168", DEFAULT)]


def test_only_dynamic_keys_can_be_written() -> None:
    described = Described()
    assert not described.broker("log.cleaner.threads").read_only
    assert described.broker("listeners").read_only
    assert not described.topic("segment.bytes").read_only


def test_a_password_is_told_to_nobody() -> None:
    entry = Described(ssl_key_password="secret").broker("ssl.key.password")
    assert (entry.value, entry.is_sensitive, entry.config_type) == (None, True, 9)
    assert synonyms(entry) == [("ssl.key.password", None, STATIC)]


def test_a_custom_config_may_be_a_password() -> None:
    described = Described(my_plugin="file")
    described.dynamic.update_broker({"my.plugin": "own"})
    entry = described.broker("my.plugin")
    assert (entry.value, entry.is_sensitive, entry.config_type) == (None, True, UNKNOWN_TYPE)
    assert synonyms(entry) == [("my.plugin", None, OWN), ("my.plugin", None, STATIC)]


def test_all_brokers_have_only_what_was_set_for_all() -> None:
    described = Described(log_cleaner_threads="2")
    described.dynamic.update_default({"log.cleaner.threads": "3", "my.plugin": "x"})
    described.dynamic.update_broker({"log.cleaner.backoff.ms": "7"})
    threads, custom = described.helper.describe_all_brokers(include_synonyms=True)
    assert (threads.name, threads.value, threads.config_source) == ("log.cleaner.threads", "3", ALL)
    assert synonyms(threads) == [("log.cleaner.threads", "3", ALL)]
    assert (custom.name, custom.value, custom.is_sensitive) == ("my.plugin", None, True)
    assert described.helper.describe_all_brokers(["log.cleaner.backoff.ms"]) == []


def test_throttle_rates_are_described_though_no_file_can_set_them() -> None:
    described = Described()
    rate = "leader.replication.throttled.rate"
    entry = described.broker(rate)
    assert (entry.value, entry.config_source, entry.read_only) == (str((1 << 63) - 1), DEFAULT, False)
    described.dynamic.update_broker({rate: "1000"})
    entry = described.broker(rate)
    assert (entry.value, entry.config_source) == ("1000", OWN)


def test_keys_come_sorted_and_unknown_ones_are_left_out() -> None:
    found = Described().helper.describe_topic({}, ["segment.ms", "no.such.key", "cleanup.policy"])
    assert [entry.name for entry in found] == ["cleanup.policy", "segment.ms"]
    names = [entry.name for entry in Described().helper.describe_broker()]
    assert names == sorted(names)
    assert len(names) > 150


@pytest.mark.parametrize(
    ("name", "number"),
    [("preallocate", 1), ("message.timestamp.type", 2), ("segment.bytes", 3), ("segment.ms", 5), ("cleanup.policy", 7)],
)
def test_types_have_the_numbers_of_the_protocol(name: str, number: int) -> None:
    assert Described().topic(name).config_type == number
    assert number in CONFIG_TYPES.values()


def test_synonyms_and_documentation_come_on_request_only() -> None:
    helper = Described().helper
    for asked in (False, True):
        for entry in (
            *helper.describe_topic({}, ["segment.bytes"], include_synonyms=asked, include_documentation=asked),
            *helper.describe_broker(["log.segment.bytes"], include_synonyms=asked, include_documentation=asked),
        ):
            assert (entry.synonyms != [], entry.documentation is not None) == (asked, asked)
            assert entry.documentation is None or "segment" in entry.documentation
