"""Names of copied topics, and of MirrorMaker 2's own, as Java's policies give them."""

from __future__ import annotations

import pytest

from kafka_lite.mirror.connectors.replication_policy import DefaultReplicationPolicy, IdentityReplicationPolicy

DEFAULT = DefaultReplicationPolicy()
IDENTITY = IdentityReplicationPolicy({"source.cluster.alias": "west"})


def test_a_prefix_tells_the_way() -> None:
    assert DEFAULT.format_remote_topic("east", DEFAULT.format_remote_topic("west", "t")) == "east.west.t"
    assert (DEFAULT.topic_source("east.west.t"), DEFAULT.upstream_topic("east.west.t")) == ("east", "west.t")
    assert DEFAULT.original_topic("east.west.t") == "t"
    assert (DEFAULT.topic_source("t"), DEFAULT.upstream_topic("t"), DEFAULT.original_topic("t")) == (None, None, "t")
    assert DEFAULT.topic_source("t.") is None


def test_without_a_prefix_the_source_is_the_configured_one() -> None:
    assert IDENTITY.format_remote_topic("west", "t") == "t"
    assert (IDENTITY.topic_source("t"), IDENTITY.upstream_topic("t"), IDENTITY.original_topic("t")) == (
        "west",
        "t",
        "t",
    )
    assert IdentityReplicationPolicy().topic_source("t") is None


@pytest.mark.parametrize("policy", [DEFAULT, IDENTITY])
def test_heartbeats_always_have_the_prefix(policy: DefaultReplicationPolicy) -> None:
    assert policy.heartbeats_topic == "heartbeats"
    assert policy.format_remote_topic("west", "heartbeats") == "west.heartbeats"
    assert (policy.topic_source("west.heartbeats"), policy.upstream_topic("west.heartbeats")) == ("west", "heartbeats")
    assert [policy.is_heartbeats_topic(each) for each in ("heartbeats", "east.west.heartbeats", "west.t")] == [
        *(True, True, False)
    ]


def test_the_names_of_its_own_topics() -> None:
    assert DEFAULT.offset_syncs_topic("east") == "mm2-offset-syncs.east.internal"
    assert DEFAULT.checkpoints_topic("west") == "west.checkpoints.internal"
    assert DEFAULT.is_checkpoints_topic("west.checkpoints.internal")
    assert not DEFAULT.is_checkpoints_topic("west.checkpoints")


@pytest.mark.parametrize(
    ("topic", "is_internal"),
    [
        ("__consumer_offsets", True), (".hidden", True), ("connect-configs-internal", True),
        ("mm2-offset-syncs.east.internal", True), ("west.checkpoints.internal", True), ("t", False),
        ("internal", False), ("heartbeats", False),
    ],
)  # fmt: skip
def test_internal_topics_are_not_copied(topic: str, is_internal: bool) -> None:
    assert DEFAULT.is_internal_topic(topic) is is_internal


def test_another_separator() -> None:
    configs = {"replication.policy.separator": "__"}
    policy = DefaultReplicationPolicy(configs)
    assert policy.format_remote_topic("west", "t.u") == "west__t.u"
    assert policy.upstream_topic("west__t.u") == "t.u"
    assert policy.offset_syncs_topic("east") == "mm2-offset-syncs__east__internal"
    kept = DefaultReplicationPolicy({**configs, "replication.policy.internal.topic.separator.enabled": "false"})
    assert kept.checkpoints_topic("west") == "west.checkpoints.internal"
    assert kept.format_remote_topic("west", "t") == "west__t"
