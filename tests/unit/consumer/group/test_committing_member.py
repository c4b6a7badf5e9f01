"""What both kinds of members have in common. Commits in detail: ``test_offset_committer``."""

from __future__ import annotations

import re

import pytest

from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import MockTime
from kafka_lite.consumer.consumer_errors import StaleMemberEpochError
from kafka_lite.consumer.group.committing_member import CommittingMember, matching_topics
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.protocol.api_key import ApiKey
from tests.support.scripted_members import T0, T1, poll
from tests.support.scripted_modern_group import ScriptedModernGroup
from tests.unit.consumer.conftest import ConsumerFactory


@pytest.fixture
def broker(time: MockTime) -> ScriptedModernGroup:
    broker = ScriptedModernGroup(time)
    broker.create("t", 2)
    broker.assign(t=[0, 1])
    return broker


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_both_kinds_commit(broker: ScriptedModernGroup, new_consumer: ConsumerFactory, protocol: str) -> None:
    consumer = new_consumer("g", group_protocol=protocol, auto_commit_interval_ms=1_000_000)
    assert isinstance(consumer._coordinator, CommittingMember)
    broker.append(T0, b"a", b"b")
    consumer.subscribe(["t"])
    assert poll(consumer, 20) == [b"a", b"b"]
    consumer.commit_sync()
    assert consumer.committed([T0, T1]) == {T0: OffsetAndMetadata(2), T1: OffsetAndMetadata(0)}
    called: list[object] = []
    consumer.commit_async({T1: OffsetAndMetadata(0, "m")}, lambda *arguments: called.append(arguments))
    poll(consumer, 2)
    assert called == [({T1: OffsetAndMetadata(0, "m")}, None)]
    broker.append(T0, b"c")
    assert poll(consumer, 4) == [b"c"]
    consumer.close()
    assert broker.committed == {T0: (3, ""), T1: (0, "")}


def test_a_commit_of_a_stale_epoch_is_refused_once(broker: ScriptedModernGroup, new_consumer: ConsumerFactory) -> None:
    consumer = new_consumer("g", group_protocol="consumer", enable_auto_commit=False)
    consumer.subscribe(["t"])
    poll(consumer, 6)
    broker.fail_next(ApiKey.OFFSET_COMMIT, Errors.STALE_MEMBER_EPOCH)
    with pytest.raises(StaleMemberEpochError, match="stale member epoch"):
        consumer.commit_sync({T0: OffsetAndMetadata(1)})
    assert not broker.committed


@pytest.mark.parametrize("error", [Errors.STALE_MEMBER_EPOCH, Errors.UNKNOWN_MEMBER_ID])
def test_committed_offsets_are_fetched_again_in_the_next_epoch(
    broker: ScriptedModernGroup, new_consumer: ConsumerFactory, error: Errors
) -> None:
    broker.committed[T0] = (1, "")
    broker.append(T0, b"a", b"b")
    broker.fail_next(ApiKey.OFFSET_FETCH, error)
    consumer = new_consumer("g", group_protocol="consumer")
    consumer.subscribe(["t"])
    poll(consumer, 10)
    assert consumer.position(T0) == 2
    (group,) = broker.of(ApiKey.OFFSET_FETCH)[-1].groups
    assert (group.member_epoch, bool(group.member_id)) == (1, True)


def test_matching_topics_are_whole_names() -> None:
    node = Node(0, "h", 1)
    topics = ("t", "ta", "at", "__t")
    partitions = tuple(PartitionInfo(each, 0, node, (node,), (node,)) for each in topics)
    cluster = Cluster((node,), partitions, internal_topics=frozenset({"__t"}))
    assert matching_topics(cluster, re.compile("t.?|__t"), exclude_internal=True) == {"t", "ta"}
    assert matching_topics(cluster, re.compile("t.?|__t"), exclude_internal=False) == {"t", "ta", "__t"}
