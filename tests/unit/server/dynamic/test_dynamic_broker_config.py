"""Overrides of the broker's configuration, and the components that validate and apply them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.server.config.not_yet_applied import part_to_come
from kafka_lite.server.dynamic.dynamic_broker_config import DYNAMIC_BROKER_CONFIGS, DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig

THREADS, BACKOFF = "log.cleaner.threads", "log.cleaner.backoff.ms"
OVERRIDES = "max.connections.per.ip.overrides"


class Part:
    """Requires the number of threads to stay below ten."""

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


def test_the_override_of_one_broker_precedes_the_default_of_all(dynamic: DynamicBrokerConfig, part: Part) -> None:
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


def test_a_component_is_notified_only_of_changes_of_its_own_keys(dynamic: DynamicBrokerConfig, part: Part) -> None:
    dynamic.update_broker({BACKOFF: "7", THREADS: "2", "leader.replication.throttled.rate": "9"})
    assert dynamic.current_config.log_cleaner_backoff_ms == 7
    assert part.asked == []
    assert part.told == []


def test_validation_checks_the_effective_configuration(dynamic: DynamicBrokerConfig, part: Part) -> None:
    dynamic.update_broker({THREADS: "4"})
    dynamic.validate({THREADS: "12"}, per_broker=False)  # overridden by the broker's own value
    with pytest.raises(ConfigError, match="too many"):
        dynamic.validate({THREADS: "12"}, per_broker=True)
    assert threads(dynamic) == 4
    assert part.told == [4]


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"listeners": "PLAINTEXT://:9"}, "Cannot update these configs dynamically: listeners"),
        ({"log.cleaner.enable": "false"}, "Cannot update these configs dynamically: log.cleaner.enable"),
        ({"listener.name.inside.max.connections": "1"}, "Cannot update these configs dynamically: listener"),
        ({THREADS: "two"}, "Not a number of type INT"),
        ({BACKOFF: "-1"}, "Value must be at least 0"),
        ({"log.cleaner.dedupe.buffer.size": "2000000"}, "must be more than 1 MiB per cleaner thread"),
        ({"log.cleaner.io.buffer.load.factor": "0"}, r"between 0\.001 .* and 1"),
        ({"log.cleaner.io.buffer.load.factor": "inf"}, r"between 0\.001 .* and 1"),
        ({OVERRIDES: "10.9.8.7:-1"}, "host:number"),
        ({OVERRIDES: "10.9.8.7:" + "9" * 5_000}, "^Invalid value .*host:number"),
        ({OVERRIDES: "10.9.8.7:2147483648"}, "host:number"),
    ],
)
def test_invalid_changes_are_rejected(dynamic: DynamicBrokerConfig, config: Mapping[str, str], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        dynamic.validate(config, per_broker=True)


@pytest.mark.parametrize("per_broker", [True, False])
def test_custom_configs_are_kept_for_plugins(dynamic: DynamicBrokerConfig, per_broker: bool) -> None:
    dynamic.validate({"my.plugin": "1"}, per_broker=per_broker)
    (dynamic.update_broker if per_broker else dynamic.update_default)({"my.plugin": "1", THREADS: "4"})
    assert (dynamic.broker_configs if per_broker else dynamic.default_configs) == {"my.plugin": "1", THREADS: "4"}
    assert threads(dynamic) == 4


def test_invalid_overrides_in_zookeeper_are_ignored(
    dynamic: DynamicBrokerConfig, part: Part, caplog: pytest.LogCaptureFixture
) -> None:
    dynamic.update_broker({THREADS: "4", BACKOFF: "soon", "listeners": "x"})
    assert dynamic.broker_configs == {THREADS: "4"}
    assert part.told == [4]
    assert len(caplog.records) == 2
    dynamic.update_default({THREADS: "9", BACKOFF: "soon"})
    assert dynamic.default_configs == {THREADS: "9"}
    # A change that only a component can judge, and vetoes, is not applied.
    dynamic.update_broker({THREADS: "12"})
    assert threads(dynamic) == 4
    assert part.told == [4]
    assert "Cannot apply the dynamic configuration" in caplog.records[-1].message


def test_a_generated_broker_id_is_kept() -> None:
    static = KafkaConfig({"zookeeper.connect": "zk"})
    static.broker_id = 1001
    dynamic = DynamicBrokerConfig(static)
    dynamic.update_default({BACKOFF: "7"})
    assert (dynamic.current_config.broker_id, dynamic.current_config.log_cleaner_backoff_ms) == (1001, 7)


def test_a_change_does_not_repeat_the_warnings_of_the_file(
    dynamic: DynamicBrokerConfig, caplog: pytest.LogCaptureFixture
) -> None:
    dynamic.update_default({THREADS: "3"})
    assert caplog.records == []


def test_a_failing_component_does_not_keep_changes_from_the_others(
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
    assert "could not be reconfigured: log.cleaner.threads" in record.message


def test_every_dynamic_key_has_an_effect() -> None:
    assert [key.name for key in DYNAMIC_BROKER_CONFIGS if part_to_come(key.name)] == []


def test_the_dynamic_keys_match_kafka() -> None:
    assert {"log.cleaner.threads", "log.cleaner.io.max.bytes.per.second"} <= set(DYNAMIC_BROKER_CONFIGS.keys)
    assert "log.cleaner.enable" not in DYNAMIC_BROKER_CONFIGS
