"""Groups that have read copied topics are found, and divided among tasks."""

from __future__ import annotations

import pytest

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.connect.api.errors import ConnectError, RetriableError
from kafka_lite.connect.runtime.plugin_discovery import connector_class
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_connector import MirrorCheckpointConnector
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_task import MirrorCheckpointTask
from tests.support.mirror_clusters import BOTH, FakeClusters


def clusters_with_groups(**topics: str) -> FakeClusters:
    """Each group has read one topic."""
    clusters = FakeClusters()
    clusters.source.offsets = {
        group: {TopicPartition(topic, 0): OffsetAndMetadata(1)} for group, topic in topics.items()
    }
    return clusters


def a_connector(clusters: FakeClusters, **props: str) -> MirrorCheckpointConnector:
    connector = MirrorCheckpointConnector(clusters.admin)
    clusters.initialize(connector)
    connector.start({**BOTH, **props})
    return connector


def assigned(connector: MirrorCheckpointConnector, max_tasks: int = 9) -> list[str]:
    return [each["task.assigned.groups"] for each in connector.task_configs(max_tasks)]


def test_groups_are_chosen_by_their_names_and_by_what_they_read() -> None:
    clusters = clusters_with_groups(a="orders", b="orders", c="secrets", d="orders")
    connector = a_connector(clusters, groups="a,b,c", topics="orders")
    assert assigned(connector) == ["a", "b"]
    assert assigned(connector, 1) == ["a,b"]
    assert clusters.target.compacted == {"west.checkpoints.internal": 3}
    assert connector.task_class() is MirrorCheckpointTask
    connector.stop()


def test_groups_that_come_and_go_are_noticed() -> None:
    clusters = clusters_with_groups(a="orders")
    connector = a_connector(clusters)
    connector.refresh()
    assert clusters.reconfigurations == 0
    clusters.source.offsets["b"] = clusters.source.offsets.pop("a")
    connector.refresh()
    assert (assigned(connector), clusters.reconfigurations) == (["b"], 1)
    clusters.source.offsets.clear()
    connector.refresh()
    assert (assigned(connector), clusters.reconfigurations) == ([], 2)
    connector.stop()


@pytest.mark.parametrize("cluster", ["source", "target"])
def test_a_cluster_that_is_down_at_the_start_is_asked_again(cluster: str) -> None:
    clusters = clusters_with_groups(a="orders")
    down = getattr(clusters, cluster)
    down.is_down = True
    connector = a_connector(clusters)
    with pytest.raises(RetriableError, match="Timeout while loading consumer groups"):
        assigned(connector)
    connector.refresh()
    with pytest.raises(ConnectError, match="does not respond"):
        connector.retry()
    down.is_down = False
    connector.retry()
    connector.retry()
    assert (assigned(connector), clusters.reconfigurations) == (["a"], 1)
    connector.stop()


@pytest.mark.parametrize("props", [{"enabled": "false"}, {"emit.checkpoints.enabled": "false"}])
def test_one_that_is_disabled_has_no_tasks(props: dict[str, str]) -> None:
    connector = a_connector(clusters_with_groups(a="orders"), **props)
    assert assigned(connector) == []
    connector.stop()


def test_validation_says_what_would_do_nothing() -> None:
    props = {**BOTH, "emit.checkpoints.enabled": "false"}
    values = {each.name: each.error_messages for each in MirrorCheckpointConnector().validate(props)}
    (message,) = values["emit.checkpoints.enabled"]
    assert message == "MirrorCheckpointConnector can't run with emit.checkpoints.enabled set to false"


def test_offsets_may_be_altered_if_they_are_zero() -> None:
    connector = MirrorCheckpointConnector()
    partition = {"group": "g", "topic": "west.t", "partition": 0}
    assert connector.alter_offsets({}, [(partition, {"offset": 0})])
    with pytest.raises(ConnectError, match="the only accepted value is 0"):
        connector.alter_offsets({}, [(partition, {"offset": 3})])


@pytest.mark.parametrize("name", ["MirrorCheckpoint", "org.apache.kafka.connect.mirror.MirrorCheckpointConnector"])
def test_a_worker_finds_it_under_javas_name(name: str) -> None:
    assert connector_class(name) is MirrorCheckpointConnector
