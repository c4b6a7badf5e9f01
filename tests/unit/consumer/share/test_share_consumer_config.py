"""The keys of share consumers, and those of other consumers that they refuse."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.consumer.share.share_consumer_config import UNSUPPORTED, ShareConsumerConfig

REQUIRED = {"bootstrap.servers": "h:1", "group.id": "g"}


def test_records_are_acknowledged_implicitly_by_default() -> None:
    config = ShareConsumerConfig(REQUIRED)
    assert not config.is_explicit
    assert config["max.poll.records"] == 500
    assert config["client.id"].startswith("consumer-g-")
    assert ShareConsumerConfig({**REQUIRED, "share.acknowledgement.mode": "Explicit"}).is_explicit


@pytest.mark.parametrize("key", UNSUPPORTED)
def test_keys_of_other_consumers_are_refused(key: str) -> None:
    with pytest.raises(ConfigError, match="cannot be set when using a share group"):
        ShareConsumerConfig({**REQUIRED, key: "1"})


@pytest.mark.parametrize("wrong", [{"share.acknowledgement.mode": "none"}, {"group.id": ""}, {"max.poll.records": "0"}])
def test_wrong_values_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        ShareConsumerConfig({**REQUIRED, **wrong})
