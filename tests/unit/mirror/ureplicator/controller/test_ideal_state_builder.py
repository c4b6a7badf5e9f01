"""Ideal states of topics that are added and expanded, as a real uReplicator wrote them."""

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import (
    build_custom_ideal_state_for,
    expand_custom_rebalance_mode_ideal_state_for,
)
from kafka_lite.mirror.ureplicator.controller.instance_topic_partition_holder import (
    HolderQueue,
    InstanceTopicPartitionHolder,
)
from tests.support.helix_samples import record


def queue(**workers: int) -> HolderQueue:
    return HolderQueue(
        InstanceTopicPartitionHolder(name, (TopicPartition("other", 100 * index + number) for number in range(load)))
        for index, (name, load) in enumerate(workers.items())
    )


def test_a_new_topic_is_dealt_to_the_least_loaded() -> None:
    made = build_custom_ideal_state_for("t", 4, queue(w1=0, w2=0))
    assert made.record == record("resource t, 4 partitions CUSTOMIZED", "/IDEALSTATES/t")
    uneven = build_custom_ideal_state_for("t", 3, queue(w1=2, w2=0))
    assert uneven.record.map_fields == {"0": {"w2": "ONLINE"}, "1": {"w2": "ONLINE"}, "2": {"w1": "ONLINE"}}


def test_without_workers_partitions_have_no_entry_but_count() -> None:
    made = build_custom_ideal_state_for("t", 3, queue())
    assert (made.record.map_fields, made.num_partitions) == ({}, 3)
    assert made.record.simple_fields["MAX_PARTITIONS_PER_INSTANCE"] == "3"


def test_an_expansion_leaves_old_partitions_where_they_are() -> None:
    old = build_custom_ideal_state_for("t", 4, queue(w1=0, w2=0))
    new = expand_custom_rebalance_mode_ideal_state_for(old, "t", 6, queue(w1=2, w2=2, w3=0))
    added = {"4": {"w3": "ONLINE"}, "5": {"w3": "ONLINE"}}
    assert new.record.map_fields == {**old.record.map_fields, **added}
    assert (new.num_partitions, new.record.simple_fields["REPLICAS"]) == (6, "1")


def test_an_old_partition_without_worker_waits_for_the_rebalance() -> None:
    old = build_custom_ideal_state_for("t", 2, queue())
    new = expand_custom_rebalance_mode_ideal_state_for(old, "t", 3, queue(w1=0))
    assert new.record.map_fields == {"2": {"w1": "ONLINE"}}
    assert expand_custom_rebalance_mode_ideal_state_for(old, "t", 3, queue()).num_partitions == 3
