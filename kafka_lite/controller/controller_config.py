"""The part of the broker's configuration that the controller needs.

Kafka 0.10.2: core/.../server/KafkaConfig.scala · book 7.1.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafka_lite.protocol.api_key import ApiKey

RequestVersion = Callable[[ApiKey], int]
"""The version of a request that the controller sends to the brokers."""
TopicDefaults = Callable[[], Mapping[str, object]]
"""Gives topic key -> the broker's default, which may change (``KafkaConfig.log_config_map``)."""


def request_version_of_0_10_2(api_key: ApiKey) -> int:
    """The version that a controller of the book sends."""
    return 3 if api_key is ApiKey.UPDATE_METADATA else 0


@dataclass(frozen=True)
class ControllerConfig:
    """The settings that concern the controller."""

    broker_id: int
    delete_topic_enable: bool = True
    uses_topic_ids: bool = True
    request_version: RequestVersion = request_version_of_0_10_2
    inter_broker_listener_name: str = "PLAINTEXT"
    topic_defaults: TopicDefaults = dict
    auto_leader_rebalance_enable: bool = True
    leader_imbalance_per_broker_percentage: int = 10
    leader_imbalance_check_interval_ms: float = 300_000
