"""Java's defaults, the configurations of tasks, and settings that contradict each other."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_config import MirrorCheckpointConfig, contradictions
from tests.support.mirror_clusters import BOTH


def test_defaults() -> None:
    config = MirrorCheckpointConfig(BOTH)
    assert config["checkpoints.topic.replication.factor"] == 3
    assert config.interval_ms("refresh.groups") == 600_000
    assert config.interval_ms("emit.checkpoints") == 60_000
    assert config.interval_ms("sync.group.offsets") is None
    assert config.group_filter.should_replicate_group("billing")
    assert config.topic_filter.should_replicate_topic("orders")


def test_a_task_gets_its_groups() -> None:
    props = MirrorCheckpointConfig(BOTH).task_config(["a", "b"], 1)
    assert props == {**BOTH, "task.assigned.groups": "a,b", "task.index": "1"}
    assert MirrorCheckpointConfig(props).task_groups == ["a", "b"]
    assert MirrorCheckpointConfig(BOTH).task_groups == []


@pytest.mark.parametrize(
    "wrong", [{"groups": "("}, {"group.filter.class": "my.Filter"}, {"sync.group.offsets.interval.seconds": "0"}]
)
def test_other_settings_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        MirrorCheckpointConfig({**BOTH, **wrong})


@pytest.mark.parametrize(
    ("props", "keys"),
    [
        ({}, []),
        ({"emit.checkpoints.enabled": "false"}, ["emit.checkpoints.enabled"]),
        ({"emit.offset-syncs.enabled": "false"}, ["emit.offset-syncs.enabled"]),
        ({"emit.checkpoints.enabled": "false", "enabled": "false"}, []),
    ],
)
def test_without_checkpoints_or_offset_syncs_it_would_do_nothing(props: dict[str, str], keys: list[str]) -> None:
    assert list(contradictions(props)) == keys
