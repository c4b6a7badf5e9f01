"""Thread pools may at most double or halve at once."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.server.dynamic.broker_reconfigurable import DynamicThreadPool
from kafka_lite.server.dynamic.dynamic_broker_config import DynamicBrokerConfig
from kafka_lite.server.kafka_config import KafkaConfig

KEY = "num.io.threads"


def config(threads: int) -> KafkaConfig:
    return KafkaConfig({"zookeeper.connect": "zk", KEY: str(threads)})


def test_a_pool_may_double_or_halve() -> None:
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
def test_larger_steps_are_rejected(size: int, says: str) -> None:
    dynamic = DynamicBrokerConfig(config(5))
    sizes: list[int] = []
    dynamic.add_broker_reconfigurable(DynamicThreadPool(KEY, sizes.append, config(5)))
    with pytest.raises(ConfigError, match=says):
        dynamic.validate({KEY: str(size)}, per_broker=True)
    dynamic.update_broker({KEY: str(size)})  # written to ZooKeeper directly
    assert sizes == []
    assert dynamic.current_config.num_io_threads == 5


def test_an_override_older_than_the_pool_is_applied_when_it_is_added() -> None:
    dynamic = DynamicBrokerConfig(config(5))
    dynamic.update_broker({KEY: "50"})
    sizes: list[int] = []
    dynamic.add_broker_reconfigurable(DynamicThreadPool(KEY, sizes.append, config(5)), created_with=config(5))
    assert sizes == [50]
    dynamic.add_broker_reconfigurable(DynamicThreadPool(KEY, sizes.append, config(50)), created_with=config(50))
    assert sizes == [50]
