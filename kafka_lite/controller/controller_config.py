"""The part of the broker's configuration that the controller needs.

Kafka 0.10.2: core/.../server/KafkaConfig.scala · book 7.1.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

TopicDefaults = Callable[[], Mapping[str, object]]
"""Gives topic key -> the broker's default, which may change (``KafkaConfig.log_config_map``)."""


@dataclass(frozen=True)
class ControllerConfig:
    """The settings that concern the controller."""

    broker_id: int
    delete_topic_enable: bool = True
    uses_topic_ids: bool = True
    inter_broker_listener_name: str = "PLAINTEXT"
    topic_defaults: TopicDefaults = dict
    auto_leader_rebalance_enable: bool = True
    leader_imbalance_per_broker_percentage: int = 10
    leader_imbalance_check_interval_ms: float = 300_000
