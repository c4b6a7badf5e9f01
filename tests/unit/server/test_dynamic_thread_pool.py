"""Pools of threads change in small steps."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.server.dynamic.broker_reconfigurable import DynamicThreadPool
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig

KEY = "num.io.threads"


def config(threads: int) -> KafkaConfig:
    return KafkaConfig({"zookeeper.connect": "zk", KEY: str(threads)})


def test_twice_as_many_and_half_as_many() -> None:
    dynamic = DynamicBrokerConfig(config(4))
    sizes: list[int] = []
    dynamic.add_broker_reconfigurable(DynamicThreadPool(KEY, sizes.append, config(4)))
    for size in (8, 16, 9, 4, 2, 1, 2):
        dynamic.validate({KEY: str(size)}, per_broker=False)
        dynamic.update_default({KEY: str(size)})
    assert sizes == [8, 16, 9, 4, 2, 1, 2]
    dynamic.update_default({})
    assert sizes[-1] == 4


@pytest.mark.parametrize(
    ("size", "says"),
    [
        (11, f"failed for {KEY}=11, value should not be greater than double the current value 5"),
        (1, f"failed for {KEY}=1, value should be at least half the current value 5"),
        (0, "Value must be at least 1"),
    ],
)
def test_larger_steps(size: int, says: str) -> None:
    dynamic = DynamicBrokerConfig(config(5))
    sizes: list[int] = []
    dynamic.add_broker_reconfigurable(DynamicThreadPool(KEY, sizes.append, config(5)))
    with pytest.raises(ConfigError, match=says):
        dynamic.validate({KEY: str(size)}, per_broker=True)
    dynamic.update_broker({KEY: str(size)})  # written past the broker
    assert sizes == []
    assert dynamic.current_config.num_io_threads == 5


def test_what_changed_before_the_pool_was_there() -> None:
    dynamic = DynamicBrokerConfig(config(5))
    dynamic.update_broker({KEY: "50"})
    sizes: list[int] = []
    dynamic.add_broker_reconfigurable(DynamicThreadPool(KEY, sizes.append, config(5)), goes_by=config(5))
    assert sizes == [50]
    dynamic.add_broker_reconfigurable(DynamicThreadPool(KEY, sizes.append, config(50)), goes_by=config(50))
    assert sizes == [50]
