"""Settings of a topic that its copy gets."""

from __future__ import annotations

import pytest

from kafka_lite.mirror.connectors.filters import DefaultConfigPropertyFilter
from kafka_lite.mirror.connectors.topic_config_sync import ConfigEntry, configs_to_alter, configs_to_create

TOPIC, DYNAMIC_BROKER, STATIC_BROKER, DEFAULT = 1, 2, 4, 5
ENTRIES = [
    ConfigEntry("retention.ms", "7", TOPIC),
    ConfigEntry("segment.ms", "8", DYNAMIC_BROKER),
    ConfigEntry("segment.bytes", "9", STATIC_BROKER),
    ConfigEntry("cleanup.policy", "delete", DEFAULT),
    ConfigEntry("min.insync.replicas", "2", TOPIC),
    ConfigEntry("read.only", "1", TOPIC, is_read_only=True),
    ConfigEntry("secret", None, TOPIC, is_sensitive=True),
]


@pytest.mark.parametrize(
    ("of", "created", "altered"),
    [
        ("target", {}, {"cleanup.policy": None}),
        ("source", {"cleanup.policy": "delete"}, {"cleanup.policy": "delete"}),
    ],
)
def test_a_copy_has_the_topics_own_settings(of: str, created: dict[str, str], altered: dict[str, str | None]) -> None:
    chosen = DefaultConfigPropertyFilter({"use.defaults.from": of})
    own = {"retention.ms": "7", "segment.ms": "8"}
    assert configs_to_create(ENTRIES, chosen) == own | created
    assert configs_to_alter(ENTRIES, chosen) == own | altered
