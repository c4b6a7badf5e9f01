"""The topics of the metadata cache, for assignors."""

from __future__ import annotations

from uuid import UUID

from kafka_lite.coordinator.group.modern.topics_image import TopicMetadata, metadata_hash
from kafka_lite.server.metadata_cache import MetadataSnapshot, PartitionStateInfo
from kafka_lite.server.startup.cluster_topics import ClusterTopics

STATE = PartitionStateInfo(0, 0, (0,), (0,), 0, 0)
T = UUID(int=1)


def test_a_topic_has_an_id_and_its_partitions() -> None:
    snapshot = MetadataSnapshot(
        {"t": {0: STATE, 2: STATE}, "old": {0: STATE}}, topic_ids={"t": T}, topic_names={T: "t"}
    )
    topics = ClusterTopics(snapshot)
    assert topics.topic("t") == TopicMetadata("t", T, 3)
    assert topics.topic("old") is None, "a topic of an old controller has no id"
    assert topics.topic("nobody") is None
    assert (topics.topic_name(T), topics.topic_name(UUID(int=2))) == ("t", None)
    assert set(topics.topic_names()) == {"t", "old"}
    assert topics.version is ClusterTopics(snapshot).version
    assert topics.version is not ClusterTopics(MetadataSnapshot()).version


def test_the_hash_changes_with_every_property_but_not_with_the_order() -> None:
    one, other = TopicMetadata("t", T, 3), TopicMetadata("u", UUID(int=2), 3)
    assert metadata_hash([one, other]) == metadata_hash([other, one])
    assert metadata_hash([]) == 0
    hashes = [
        metadata_hash(each)
        for each in ([one], [other], [one, other], [TopicMetadata("t", T, 4)], [TopicMetadata("t", UUID(int=3), 3)])
    ]
    assert len(set(hashes)) == len(hashes)
    assert all(-(2**63) <= each < 2**63 for each in hashes)
