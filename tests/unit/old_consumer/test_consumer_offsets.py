"""Commits to ZooKeeper, to the coordinator or to both; fetches; and each error of the coordinator."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import pytest

from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.network.blocking_channel import NotConnectedError
from kafka_lite.old_consumer.consumer_config import ConsumerConfig
from kafka_lite.old_consumer.consumer_offsets import (
    CommitOutcome,
    ConsumerOffsets,
    commit_outcome,
    committed_offsets,
    fetch_topics,
)
from kafka_lite.old_consumer.consumer_stats import ConsumerStats
from kafka_lite.protocol.messages.api_08_offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kafka_lite.protocol.messages.api_09_offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from kafka_lite.protocol.messages.api_10_find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafka_lite.zookeeper.consumer_groups import ConsumerGroups
from kafka_lite.zookeeper.data import BrokerRegistration
from tests.support.blocking_brokers import BlockingBrokers
from tests.support.fake_zookeeper import Tree, fake_zk

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
COORDINATOR = 9001
ASK_AGAIN = [Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_LOAD_IN_PROGRESS]
FINAL = [Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.GROUP_AUTHORIZATION_FAILED, Errors.UNKNOWN_SERVER_ERROR]


def fetched(found: dict[TopicPartition, int | Errors], error: Errors = Errors.NONE) -> OffsetFetchResponse:
    """A response: an offset or an error by partition."""
    topics: dict[str, OffsetFetchResponseTopic] = {}
    for (topic, number), result in found.items():
        code, offset = (result.code, -1) if isinstance(result, Errors) else (0, result)
        entry = OffsetFetchResponsePartition(
            partition_index=number, committed_offset=offset, metadata="", error_code=code
        )
        topics.setdefault(topic, OffsetFetchResponseTopic(name=topic)).partitions.append(entry)
    return OffsetFetchResponse(topics=list(topics.values()), error_code=error.code)


def committed(errors: dict[TopicPartition, Errors]) -> OffsetCommitResponse:
    """A response: the error of each partition."""
    topics: dict[str, OffsetCommitResponseTopic] = {}
    for (topic, number), error in errors.items():
        entry = OffsetCommitResponsePartition(partition_index=number, error_code=error.code)
        topics.setdefault(topic, OffsetCommitResponseTopic(name=topic)).partitions.append(entry)
    return OffsetCommitResponse(topics=list(topics.values()))


@dataclass
class Bench:
    """The offsets of the group ``g`` with a coordinator that a test scripts."""

    brokers: BlockingBrokers
    groups: ConsumerGroups
    stats: ConsumerStats
    is_shutting_down: threading.Event
    offsets: ConsumerOffsets

    def commits(self, name: str) -> object:
        (bean,) = [each for key, each in self.stats.beans().items() if key.mbean_name.startswith(name)]
        return bean["Count"]


@pytest.fixture
def bench(request: pytest.FixtureRequest, brokers: BlockingBrokers) -> Bench:
    zk = fake_zk(Tree())
    zk.zookeeper.ensure_path("/brokers/ids")
    zk.register_broker(1, BrokerRegistration((f"PLAINTEXT://h:{COORDINATOR}",)))
    found = FindCoordinatorResponse(node_id=1, host="h", port=COORDINATOR)
    brokers.answer(COORDINATOR, FindCoordinatorRequest, found)
    config = ConsumerConfig({
        "group.id": "g", "zookeeper.connect": "nowhere", "offsets.storage": "kafka", "dual.commit.enabled": "false",
        "offsets.channel.backoff.ms": 0, **getattr(request, "param", {}),
    })  # fmt: skip
    stats, is_shutting_down = ConsumerStats(config), threading.Event()
    offsets = ConsumerOffsets(config, zk, stats, is_shutting_down)
    return Bench(brokers, ConsumerGroups(zk), stats, is_shutting_down, offsets)


def configured(**options: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("bench", [{k.replace("_", "."): v for k, v in options.items()}], indirect=True)


# ── Fetching ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_partition_without_a_committed_offset_has_minus_one(bench: Bench) -> None:
    bench.brokers.answer(COORDINATOR, OffsetFetchRequest, fetched({T0: 7, T1: -1}))
    assert bench.offsets.fetch_offsets([T0, T1]) == {T0: 7, T1: -1}
    assert bench.offsets.fetch_offsets([]) == {}


@pytest.mark.parametrize("error", ASK_AGAIN)
@pytest.mark.parametrize("at_the_top", [True, False], ids=["of the response", "of a partition"])
def test_a_coordinator_that_moved_or_loads_is_asked_again(bench: Bench, error: Errors, at_the_top: bool) -> None:
    first = fetched({T0: 7}, error) if at_the_top else fetched({T0: 7, T1: error})
    bench.brokers.answer(COORDINATOR, OffsetFetchRequest, first, fetched({T0: 7, T1: 8}))
    assert bench.offsets.fetch_offsets([T0, T1]) == {T0: 7, T1: 8}
    looked_up = sum(isinstance(each, FindCoordinatorRequest) for each in bench.brokers.sent_to(COORDINATOR))
    assert looked_up == (1 if error is Errors.COORDINATOR_LOAD_IN_PROGRESS else 2), "one that loads is still the one"


@pytest.mark.parametrize("error", FINAL, ids=lambda error: error.name)
@pytest.mark.parametrize("at_the_top", [True, False], ids=["of the response", "of a partition"])
def test_any_other_error_is_raised_and_not_read_as_no_offset(bench: Bench, error: Errors, at_the_top: bool) -> None:
    response = fetched({T0: 7, T1: 8}, error) if at_the_top else fetched({T0: 7, T1: error})
    bench.brokers.answer(COORDINATOR, OffsetFetchRequest, response)
    with pytest.raises(ApiError) as caught:
        bench.offsets.fetch_offsets([T0, T1])
    assert caught.value.error is error
    assert at_the_top or "the committed offset of t-1 is not known" in str(caught.value)


def test_no_error_at_all_stands_for_an_offset() -> None:
    for error in set(Errors) - {Errors.NONE}:
        for response in (fetched({T0: 7, T1: 8}, error), fetched({T0: 7, T1: error})):
            with pytest.raises(ApiError) as caught:
                committed_offsets(response, [T0, T1])
            assert caught.value.error is error


def test_a_partition_missing_from_the_response_is_not_one_without_an_offset() -> None:
    with pytest.raises(KafkaError, match="no committed offset of t-1, u-0"):
        committed_offsets(fetched({T0: 7}), [T0, T1, U0])
    assert committed_offsets(fetched({T0: 7, T1: 8}), [T1]) == {T1: 8}, "only what was asked for"


def test_a_lost_connection_is_opened_again(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.brokers.answer(COORDINATOR, OffsetFetchRequest, NotConnectedError("lost"), fetched({T0: 7}))
    assert bench.offsets.fetch_offsets([T0]) == {T0: 7}
    assert "Error while fetching offsets of group g: lost" in caplog.text
    bench.offsets.disconnect()
    assert bench.brokers.open == 0


def test_an_error_of_the_lookup_that_stays_is_raised(bench: Bench) -> None:
    refused = FindCoordinatorResponse(error_code=Errors.GROUP_AUTHORIZATION_FAILED.code, host="")
    bench.brokers.answer(COORDINATOR, FindCoordinatorRequest, refused)
    with pytest.raises(ApiError) as caught:
        bench.offsets.fetch_offsets([T0])
    assert caught.value.error is Errors.GROUP_AUTHORIZATION_FAILED


def test_a_shutdown_ends_the_search_for_a_coordinator(bench: Bench) -> None:
    def shut_down(_request: object) -> FindCoordinatorResponse:
        bench.is_shutting_down.set()
        return FindCoordinatorResponse(error_code=Errors.COORDINATOR_NOT_AVAILABLE.code, host="")

    bench.brokers.answer(COORDINATOR, FindCoordinatorRequest, shut_down)
    assert bench.offsets.fetch_offsets([T0]) is None
    bench.offsets.ensure_offset_manager_connected()  # returns, too


@configured(offsets_storage="zookeeper")
def test_zookeepers_offsets_need_no_broker(bench: Bench) -> None:
    bench.groups.set_offset("g", T1, 5)
    bench.offsets.ensure_offset_manager_connected()
    assert bench.offsets.fetch_offsets([T0, T1]) == {T0: -1, T1: 5}
    assert bench.brokers.requests == []


@pytest.mark.parametrize("bench", [{"dual.commit.enabled": "true"}], indirect=True)
def test_during_a_migration_the_larger_offset_wins(bench: Bench) -> None:
    bench.groups.set_offset("g", T0, 5)
    bench.groups.set_offset("g", T1, 9)
    bench.brokers.answer(COORDINATOR, OffsetFetchRequest, fetched({T0: 7, T1: 8, U0: -1}))
    assert bench.offsets.fetch_offsets([T0, T1, U0]) == {T0: 7, T1: 9, U0: -1}


def test_connecting_waits_for_a_coordinator(bench: Bench) -> None:
    unknown = FindCoordinatorResponse(error_code=Errors.COORDINATOR_NOT_AVAILABLE.code, host="")
    found = FindCoordinatorResponse(node_id=1, host="h", port=COORDINATOR)
    bench.brokers.answer(COORDINATOR, FindCoordinatorRequest, unknown, unknown, found)
    bench.offsets.ensure_offset_manager_connected()
    assert (len(bench.brokers.sent_to(COORDINATOR)), bench.brokers.open) == (3, 1)


def test_partitions_of_a_request_are_grouped_by_topic() -> None:
    topics = fetch_topics([T0, U0, T1])
    assert [(each.name, each.partition_indexes) for each in topics] == [("t", [0, 1]), ("u", [0])]


# ── Committing ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("errors", "may_retry", "moved"),
    [
        ([], False, False),
        ([Errors.OFFSET_METADATA_TOO_LARGE], False, False),
        ([Errors.NOT_COORDINATOR], True, True),
        ([Errors.COORDINATOR_NOT_AVAILABLE, Errors.OFFSET_METADATA_TOO_LARGE], True, True),
        ([Errors.COORDINATOR_LOAD_IN_PROGRESS], True, False),
    ],
)
def test_the_outcome_of_a_commit(errors: list[Errors], may_retry: bool, moved: bool) -> None:
    by_partition = {T0: Errors.NONE} | {TopicPartition("f", n): error for n, error in enumerate(errors)}
    assert commit_outcome(by_partition) == CommitOutcome(frozenset({T0}), may_retry, moved)


def test_a_commit_belongs_to_no_generation(bench: Bench) -> None:
    bench.brokers.answer(COORDINATOR, OffsetCommitRequest, committed({T0: Errors.NONE, U0: Errors.NONE}))
    assert bench.offsets.commit_offsets({T0: 7, U0: 9}, retry_on_failure=False)
    (port, request, version) = bench.brokers.requests[-1]
    assert isinstance(request, OffsetCommitRequest)
    assert (port, version, request.group_id) == (COORDINATOR, 2, "g")
    assert (request.generation_id_or_member_epoch, request.member_id) == (-1, "")
    assert [(topic.name, each.partition_index, each.committed_offset) for topic in request.topics
            for each in topic.partitions] == [("t", 0, 7), ("u", 0, 9)]  # fmt: skip
    assert bench.commits("kafka.consumer:type=ZookeeperConsumerConnector,name=KafkaCommitsPerSec") == 2
    assert bench.groups.get_offset("g", T0) is None


@pytest.mark.parametrize(("retry", "tries"), [(True, 6), (False, 1)])
def test_a_failed_commit_is_retried_if_the_caller_wants_it(bench: Bench, retry: bool, tries: int) -> None:
    bench.brokers.answer(COORDINATOR, OffsetCommitRequest, committed({T0: Errors.COORDINATOR_LOAD_IN_PROGRESS}))
    assert not bench.offsets.commit_offsets({T0: 7}, retry_on_failure=retry)
    requests = bench.brokers.sent_to(COORDINATOR)
    assert sum(isinstance(each, OffsetCommitRequest) for each in requests) == tries
    assert bench.brokers.opened == [COORDINATOR, COORDINATOR], "one that loads is still the coordinator"


def test_a_commit_follows_the_coordinator(bench: Bench) -> None:
    moved = FindCoordinatorResponse(node_id=2, host="h", port=9002)
    bench.brokers.answer(COORDINATOR, OffsetCommitRequest, committed({T0: Errors.NOT_COORDINATOR}))
    bench.brokers.answer(9002, OffsetCommitRequest, committed({T0: Errors.NONE}))
    bench.offsets.ensure_offset_manager_connected()
    bench.brokers.answer(COORDINATOR, FindCoordinatorRequest, moved)
    assert bench.offsets.commit_offsets({T0: 7}, retry_on_failure=True)
    assert [type(each) for each in bench.brokers.sent_to(9002)] == [OffsetCommitRequest]


@pytest.mark.parametrize("bench", [{"dual.commit.enabled": "true"}], indirect=True)
def test_a_dual_commit_writes_to_zookeeper_only_what_kafka_took(bench: Bench) -> None:
    bench.brokers.answer(
        COORDINATOR, OffsetCommitRequest, committed({T0: Errors.NONE, T1: Errors.OFFSET_METADATA_TOO_LARGE})
    )
    assert bench.offsets.commit_offsets({T0: 7, T1: 8}, retry_on_failure=True)
    assert bench.groups.get_offsets("g", [T0, T1]) == {T0: 7}


@configured(offsets_storage="zookeeper")
def test_zookeeper_is_written_only_if_an_offset_has_changed(bench: Bench) -> None:
    name = "kafka.consumer:type=ZookeeperConsumerConnector,name=ZooKeeperCommitsPerSec"
    bench.offsets.remember(T1, 8)
    assert bench.offsets.commit_offsets({T0: 7, T1: 8}, retry_on_failure=True)
    assert bench.groups.get_offsets("g", [T0, T1]) == {T0: 7}, "8 was read from there"
    assert bench.offsets.commit_offsets({T0: 7}, retry_on_failure=True)
    assert bench.commits(name) == 1
    assert bench.offsets.commit_offsets({T0: 6}, retry_on_failure=True)
    assert (bench.commits(name), bench.groups.get_offset("g", T0)) == (2, 6)


def test_nothing_to_commit_needs_no_connection(bench: Bench) -> None:
    assert bench.offsets.commit_offsets({}, retry_on_failure=True)
    assert bench.brokers.requests == []


def test_a_commit_fails_while_no_broker_responds(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    bench.brokers.stop(COORDINATOR)
    assert not bench.offsets.commit_offsets({T0: 7}, retry_on_failure=True)
    assert "Could not commit the offsets of 1 partitions of group g" in caplog.text
