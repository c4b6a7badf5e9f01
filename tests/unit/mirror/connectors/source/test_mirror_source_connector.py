"""Topics are found, created and grown; a cluster that does not respond is asked again."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.plugin_discovery import connector_class
from kafka_lite.mirror.connectors.mirror_admin import NewTopic
from kafka_lite.mirror.connectors.source.mirror_source_connector import MirrorSourceConnector
from kafka_lite.mirror.connectors.source.mirror_source_task import MirrorSourceTask
from kafka_lite.mirror.connectors.topic_config_sync import ConfigEntry
from tests.support.mirror_clusters import BOTH, FakeCluster, FakeClusters
from tests.unit.mirror.connectors.source.test_topic_acl_sync import binding

QUIET = {"sync.topic.configs.enabled": "false", "sync.topic.acls.enabled": "false"}
"""Only the test's own calls change settings."""


def a_connector(clusters: FakeClusters, **props: str) -> MirrorSourceConnector:
    connector = MirrorSourceConnector(clusters.admin)
    clusters.initialize(connector)
    connector.start({**BOTH, **QUIET, **props})
    return connector


def assigned(connector: MirrorSourceConnector, max_tasks: int = 9) -> list[str]:
    return [each["task.assigned.partitions"] for each in connector.task_configs(max_tasks)]


def test_copies_are_created_with_the_settings_of_their_originals() -> None:
    clusters = FakeClusters(FakeCluster(a=3, b=1, east_a=1), FakeCluster(west_b=1, a=7))
    clusters.source.configs = {"a": [ConfigEntry("retention.ms", "5", 1), ConfigEntry("segment.ms", "6", 5)]}
    connector = a_connector(clusters, **{"replication.factor": "1"})
    assert clusters.target.created == {"west.a": NewTopic(3, 1, {"retention.ms": "5"})}
    assert clusters.source.compacted == {"mm2-offset-syncs.east.internal": 3}
    assert assigned(connector, 2) == ["a-0,a-2", "a-1,b-0"]
    assert connector.task_class() is MirrorSourceTask
    assert "west->east|copy|replication-source-admin" in clusters.client_ids
    connector.stop()


def test_new_topics_and_partitions_are_noticed_and_topics_that_are_gone() -> None:
    clusters = FakeClusters(FakeCluster(a=1, b=1))
    connector = a_connector(clusters)
    connector.refresh()
    assert clusters.reconfigurations == 0, "nothing has changed"
    clusters.source.by_name = {"a": 2, "c": 1}
    connector.refresh()
    assert clusters.reconfigurations == 1
    assert clusters.target.by_name == {"west.a": 2, "west.b": 1, "west.c": 1}
    assert assigned(connector) == ["a-0", "a-1", "c-0"]
    connector.stop()


def test_a_copy_that_is_refused_or_deleted_is_created_with_the_next_refresh() -> None:
    clusters = FakeClusters(FakeCluster(a=1, b=1))
    clusters.target.refused = {"west.a"}
    connector = a_connector(clusters)
    assert clusters.target.by_name == {"west.b": 1}
    clusters.target.refused = set()
    clusters.target.by_name = {}
    connector.refresh()
    assert clusters.target.by_name == {"west.a": 1, "west.b": 1}
    connector.stop()


@pytest.mark.parametrize("cluster", ["source", "target"])
def test_a_cluster_that_is_down_at_the_start_is_asked_again(cluster: str) -> None:
    clusters = FakeClusters(FakeCluster(a=1))
    down = getattr(clusters, cluster)
    down.is_down = True
    connector = a_connector(clusters)
    assert assigned(connector) == []
    with pytest.raises(ConnectError, match="does not respond"):
        connector.retry()
    connector.refresh()
    down.is_down = False
    connector.retry()
    assert (assigned(connector), clusters.reconfigurations) == (["a-0"], 1)
    connector.retry()
    assert clusters.reconfigurations == 1, "once is enough"
    connector.stop()


def test_settings_follow_their_originals() -> None:
    clusters = FakeClusters(FakeCluster(a=1, b=1), FakeCluster(west_a=1))
    connector = a_connector(clusters)
    del clusters.target.by_name["west.b"]
    clusters.source.configs = {"a": [ConfigEntry("retention.ms", "5", 1), ConfigEntry("segment.ms", "6", 5)]}
    connector.sync_configs()
    assert clusters.target.altered == {"west.a": {"retention.ms": "5", "segment.ms": None}}
    clusters.source.by_name = {}
    connector.refresh()
    clusters.target.altered = {}
    connector.sync_configs()
    assert clusters.target.altered == {}
    connector.stop()


@pytest.mark.parametrize("use", ["requested", "required", "never"])
def test_settings_of_a_target_that_cannot_change_them_one_by_one(use: str) -> None:
    clusters = FakeClusters(FakeCluster(a=1), FakeCluster(west_a=1))
    clusters.target.is_old = True
    connector = a_connector(clusters, **{"use.incremental.alter.configs": use})
    clusters.source.configs = {"a": [ConfigEntry("retention.ms", "5", 1), ConfigEntry("segment.ms", "6", 5)]}
    for _ in range(2):
        connector.sync_configs()
    is_required = use == "required"
    assert clusters.target.replaced == ({} if is_required else {"west.a": {"retention.ms": "5"}})
    assert len(clusters.raised) == is_required
    connector.stop()


def test_access_control_lists_follow_their_originals() -> None:
    clusters = FakeClusters(FakeCluster(a=1, b=1))
    connector = a_connector(clusters, topics="a")
    clusters.source.acls = [binding("a allow ALL"), binding("b allow READ")]
    connector.sync_acls()
    assert clusters.target.created_acls == [binding("west.a allow READ")]
    clusters.target.refused = {"west.a"}
    connector.sync_acls()
    assert len(clusters.target.created_acls) == 1
    connector.stop()


def test_a_source_without_an_authorizer_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    clusters = FakeClusters(FakeCluster(a=1))
    connector = a_connector(clusters)
    with caplog.at_level("INFO"):
        for _ in range(2):
            connector.sync_acls()
    assert caplog.text.count("No ACL authorizer is configured on the source") == 1
    assert clusters.target.created_acls == []
    connector.stop()


def test_heartbeats_are_copied_beside_the_filter_or_not() -> None:
    for enabled in ("true", "false"):
        clusters = FakeClusters(FakeCluster(a=1, heartbeats=1))
        connector = a_connector(clusters, topics="a", **{"heartbeats.replication.enabled": enabled})
        assert ("heartbeats-0" in assigned(connector)) == (enabled == "true")
        connector.stop()


@pytest.mark.parametrize(
    ("props", "in_source", "in_target"),
    [
        ({}, {"mm2-offset-syncs.east.internal": 3}, {}),
        ({"offset-syncs.topic.location": "target"}, {}, {"mm2-offset-syncs.west.internal": 3}),
        ({"emit.offset-syncs.enabled": "false"}, {}, {}),
    ],
)
def test_the_topic_of_offset_syncs(props: dict[str, str], in_source: dict[str, int], in_target: dict[str, int]) -> None:
    clusters = FakeClusters()
    a_connector(clusters, **props).stop()
    assert (clusters.source.compacted, clusters.target.compacted) == (in_source, in_target)


def test_one_that_is_disabled_does_nothing() -> None:
    clusters = FakeClusters(FakeCluster(a=1))
    connector = a_connector(clusters, enabled="false")
    assert assigned(connector) == []
    assert clusters.client_ids == []
    connector.stop()


def test_settings_of_offset_syncs_need_offset_syncs() -> None:
    props = {**BOTH, "emit.offset-syncs.enabled": "false"}
    connector = MirrorSourceConnector()
    assert not any(each.error_messages for each in connector.validate(props))
    values = {
        each.name: each.error_messages for each in connector.validate(props | {"offset-syncs.topic.location": "source"})
    }
    (message,) = values["emit.offset-syncs.enabled"]
    assert "can't setup offset-syncs feature while emit.offset-syncs.enabled set to false" in message


def test_offsets_may_be_altered_if_they_are_of_topics() -> None:
    connector = MirrorSourceConnector()
    partition = {"cluster": "west", "topic": "t", "partition": 0}
    assert connector.alter_offsets({}, [(partition, {"offset": 3}), ({"any": 1}, None)])
    with pytest.raises(ConnectError, match="cannot be negative"):
        connector.alter_offsets({}, [(partition, {"offset": -3})])


def test_without_a_source_it_does_not_start() -> None:
    with pytest.raises(ConfigError, match=r"source\.cluster\.bootstrap\.servers"):
        MirrorSourceConnector().start({"target.cluster.bootstrap.servers": "e:1"})


@pytest.mark.parametrize("name", ["MirrorSource", "org.apache.kafka.connect.mirror.MirrorSourceConnector"])
def test_a_worker_finds_it_under_javas_name(name: str) -> None:
    assert connector_class(name) is MirrorSourceConnector
