"""Overrides of the broker's configuration, and the parts that check and apply them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.server.dynamic.dynamic_broker_config import DYNAMIC_BROKER_CONFIGS, DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig

THREADS, BACKOFF = "log.cleaner.threads", "log.cleaner.backoff.ms"
OVERRIDES = "max.connections.per.ip.overrides"


class Part:
    """Wants its number of threads to stay below ten."""

    reconfigurable_configs = frozenset({THREADS})

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.told: list[int] = []

    def validate_reconfiguration(self, new_config: KafkaConfig) -> None:
        self.asked.append(new_config.log_cleaner_threads)
        if new_config.log_cleaner_threads >= 10:
            raise ConfigError(THREADS, new_config.log_cleaner_threads, "too many")

    def reconfigure(self, new_config: KafkaConfig) -> None:
        self.told.append(new_config.log_cleaner_threads)


@pytest.fixture
def part() -> Part:
    return Part()


@pytest.fixture
def dynamic(part: Part) -> DynamicBrokerConfig:
    static = KafkaConfig({"zookeeper.connect": "zk", "broker.id": "3", THREADS: "2", "my.own": "unknown"})
    config = DynamicBrokerConfig(static)
    config.add_broker_reconfigurable(part)
    return config


def threads(dynamic: DynamicBrokerConfig) -> int:
    return dynamic.current_config.log_cleaner_threads


def test_the_brokers_own_override_is_the_strongest(dynamic: DynamicBrokerConfig, part: Part) -> None:
    assert threads(dynamic) == 2
    dynamic.update_default({THREADS: "3"})
    dynamic.update_broker({THREADS: "4"})
    dynamic.update_default({THREADS: "5"})
    assert threads(dynamic) == 4
    dynamic.update_broker({})
    assert threads(dynamic) == 5
    dynamic.update_default({})
    assert threads(dynamic) == 2
    assert part.told == [3, 4, 5, 2]
    assert dynamic.current_config.broker_id == 3


def test_a_part_is_told_only_of_changes_of_its_own_keys(dynamic: DynamicBrokerConfig, part: Part) -> None:
    dynamic.update_broker({BACKOFF: "7", THREADS: "2", "leader.replication.throttled.rate": "9"})
    assert dynamic.current_config.log_cleaner_backoff_ms == 7
    assert part.asked == []
    assert part.told == []


def test_validation_looks_at_what_would_come_out(dynamic: DynamicBrokerConfig, part: Part) -> None:
    dynamic.update_broker({THREADS: "4"})
    dynamic.validate({THREADS: "12"}, per_broker=False)  # hidden by the broker's own
    with pytest.raises(ConfigError, match="too many"):
        dynamic.validate({THREADS: "12"}, per_broker=True)
    assert threads(dynamic) == 4
    assert part.told == [4]


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"listeners": "PLAINTEXT://:9"}, "Cannot update these configs dynamically: listeners"),
        ({"log.cleaner.enable": "false"}, "Cannot update these configs dynamically: log.cleaner.enable"),
        ({"no.such": "1"}, "Unknown broker configs: no.such"),
        ({THREADS: "two"}, "Not a number of type INT"),
        ({BACKOFF: "-1"}, "Value must be at least 0"),
        ({"log.cleaner.dedupe.buffer.size": "2000000"}, "more than 1 MiB per cleaner thread is needed"),
        ({"log.cleaner.io.buffer.load.factor": "0"}, r"from 0\.001 .* to 1 is needed"),
        ({"log.cleaner.io.buffer.load.factor": "inf"}, r"from 0\.001 .* to 1 is needed"),
        ({OVERRIDES: "10.9.8.7:-1"}, "host:number"),
        ({OVERRIDES: "10.9.8.7:" + "9" * 5_000}, "^Invalid value .*host:number"),
        ({OVERRIDES: "10.9.8.7:2147483648"}, "host:number"),
    ],
)
def test_what_cannot_be(dynamic: DynamicBrokerConfig, config: Mapping[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        dynamic.validate(config, per_broker=True)


def test_rubbish_in_zookeeper_is_left_out(
    dynamic: DynamicBrokerConfig, part: Part, caplog: pytest.LogCaptureFixture
) -> None:
    dynamic.update_broker({THREADS: "4", BACKOFF: "soon", "listeners": "x", "no.such": "1"})
    assert dynamic.broker_configs == {THREADS: "4"}
    assert part.told == [4]
    assert len(caplog.records) == 3
    # What only a part can judge, and vetoes, changes nothing that holds.
    dynamic.update_broker({THREADS: "12"})
    assert threads(dynamic) == 4
    assert part.told == [4]
    assert "could not be applied" in caplog.records[-1].message


def test_a_change_does_not_warn_of_the_file_again(
    dynamic: DynamicBrokerConfig, caplog: pytest.LogCaptureFixture
) -> None:
    dynamic.update_default({THREADS: "3"})
    assert caplog.records == []


def test_a_failing_part_does_not_keep_changes_from_the_others(
    dynamic: DynamicBrokerConfig, part: Part, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Part):
        def reconfigure(self, new_config: KafkaConfig) -> None:
            raise MemoryError("no more threads")

    later = Part()
    dynamic.add_broker_reconfigurable(Failing())
    dynamic.add_broker_reconfigurable(later)
    dynamic.update_broker({THREADS: "4"})
    assert (part.told, later.told, threads(dynamic)) == ([4], [4], 4)
    [record] = caplog.records
    assert "could not be reconfigured, that of log.cleaner.threads" in record.message


def test_a_key_without_effect_is_warned_about_once(
    dynamic: DynamicBrokerConfig, caplog: pytest.LogCaptureFixture
) -> None:
    rate = "leader.replication.throttled.rate"
    dynamic.update_default({rate: "9"})
    dynamic.update_default({rate: "9", THREADS: "3"})
    [record] = caplog.records
    assert (
        record.message == f"The configuration '{rate}' has no effect yet: replication between brokers is still to come."
    )
    dynamic.update_default({rate: "10"})
    assert len(caplog.records) == 2


def test_all_dynamic_keys_are_known() -> None:
    assert {"log.cleaner.threads", "log.cleaner.io.max.bytes.per.second"} <= set(DYNAMIC_BROKER_CONFIGS.keys)
    assert "log.cleaner.enable" not in DYNAMIC_BROKER_CONFIGS
