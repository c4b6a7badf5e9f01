"""Policies and filters of the user's own, by the paths of their classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_config import MirrorCheckpointConfig
from kafka_lite.mirror.connectors.filters import ConfigPropertyFilter, GroupFilter, TopicFilter
from kafka_lite.mirror.connectors.mirror_admin import MirrorAdmin, new_mirror_admin
from kafka_lite.mirror.connectors.replication_policy import DefaultReplicationPolicy, ReplicationPolicy
from kafka_lite.mirror.connectors.source.mirror_source_config import MirrorSourceConfig
from kafka_lite.mirror.connectors.source.mirror_source_connector import MirrorSourceConnector
from tests.support.mirror_clusters import BOTH, FakeCluster, FakeClusters


class Suffixing(ReplicationPolicy):
    """``t`` of west is ``t@west``."""

    def __init__(self, props: Mapping[str, str]) -> None:
        self._mark = props.get("mark", "@")

    def format_remote_topic(self, source_cluster_alias: str, topic: str) -> str:
        return topic + self._mark + source_cluster_alias

    def topic_source(self, topic: str) -> str | None:
        return topic.rpartition(self._mark)[2] if self._mark in topic else None

    def upstream_topic(self, topic: str) -> str | None:
        return topic.rpartition(self._mark)[0] or None


class Short(TopicFilter, GroupFilter, ConfigPropertyFilter):
    """Names of one letter."""

    def __init__(self, props: Mapping[str, str]) -> None:
        self._length = int(props.get("length", "1"))

    def should_replicate_topic(self, topic: str) -> bool:
        return len(topic) == self._length

    def should_replicate_group(self, group: str) -> bool:
        return len(group) == self._length

    def should_replicate_config_property(self, name: str) -> bool:
        return len(name) == self._length


HERE = __name__


def test_a_policy_of_ones_own_names_the_copies() -> None:
    clusters = FakeClusters(FakeCluster(a=1), FakeCluster())
    connector = MirrorSourceConnector(clusters.admin)
    clusters.initialize(connector)
    connector.start({**BOTH, "replication.policy.class": f"{HERE}.Suffixing", "mark": "-of-"})
    connector.stop()
    assert clusters.target.by_name == {"a-of-west": 1}


def test_a_policy_inherits_the_names_of_internal_topics() -> None:
    policy = Suffixing({})
    assert (policy.heartbeats_topic, policy.checkpoints_topic("west")) == ("heartbeats", "west.checkpoints.internal")
    assert policy.is_internal_topic("mm2-offset-syncs.east.internal")
    assert policy.original_topic("t@west@north") == "t"
    assert policy.is_heartbeats_topic("heartbeats@west")


def test_filters_of_ones_own() -> None:
    short = {"topic.filter.class": f"{HERE}.Short", "config.property.filter.class": f"{HERE}.Short", "length": "2"}
    config = MirrorSourceConfig({**BOTH, **short})
    assert config.topic_filter.should_replicate_topic("ab")
    assert not config.topic_filter.should_replicate_topic("a")
    assert config.config_property_filter.should_replicate_config_property("ab")
    assert not config.config_property_filter.should_replicate_source_default()
    groups = MirrorCheckpointConfig({**BOTH, "group.filter.class": f"{HERE}.Short"})
    assert [groups.group_filter.should_replicate_group(name) for name in ("g", "gg")] == [True, False]


def test_javas_names_are_known() -> None:
    policy = MirrorSourceConfig({**BOTH, "replication.policy.class": f"{JAVAS}.DefaultReplicationPolicy"}).policy
    assert type(policy) is DefaultReplicationPolicy


JAVAS = "org.apache.kafka.connect.mirror"


@pytest.mark.parametrize(
    ("name", "message"),
    [("none.At.All", "not found"), ("Nothing", "not found"), ("pathlib.Path", "is not a ReplicationPolicy")],
)
def test_a_class_that_cannot_be_used_is_refused_before_the_start(name: str, message: str) -> None:
    props = {**BOTH, "replication.policy.class": name}
    with pytest.raises(ConfigError, match=message):
        MirrorSourceConfig(props)
    errors = {each.name: each.error_messages for each in MirrorSourceConnector().validate(props)}
    assert message in errors["replication.policy.class"][0]


class AskingNobody(MirrorAdmin):
    """An admin that knows one topic."""

    asked: ClassVar[list[str]] = []

    def __init__(self, config: Mapping[str, object]) -> None:
        super().__init__(config)
        self._name = str(config["client.id"])

    def topics(self) -> dict[str, int]:
        self.asked.append(self._name)
        return {"known": 1}


def test_an_admin_of_ones_own_is_asked_by_the_connector() -> None:
    own = {"name": "copy", "forwarding.admin.class": f"{HERE}.AskingNobody"}
    config = MirrorSourceConfig({**BOTH, "source.cluster.bootstrap.servers": "127.0.0.1:1", **own})
    admin = new_mirror_admin(config.client("source", "admin", "role"))
    assert admin.topics() == {"known": 1}
    assert AskingNobody.asked == ["west->east|copy|role"]
    assert type(new_mirror_admin({"bootstrap.servers": "127.0.0.1:1"})) is MirrorAdmin


def test_an_admin_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"forwarding\.admin\.class.*is not a MirrorAdmin"):
        MirrorSourceConfig({**BOTH, "forwarding.admin.class": f"{HERE}.Short"})
