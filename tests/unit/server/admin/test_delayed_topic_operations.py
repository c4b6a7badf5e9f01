"""Admin requests that wait for the metadata cache."""

from __future__ import annotations

from types import SimpleNamespace

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataPartitionState, UpdateMetadataRequest
from kafka_lite.server.admin.delayed_elect_leader import DelayedElectLeader, ElectionErrors
from kafka_lite.server.admin.delayed_topic_operations import DelayedCreatePartitions, DelayedDeleteTopics
from kafka_lite.server.metadata_cache import MetadataCache

TP, TP1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
NO_LEADER, DELETED = -1, -2


def learn(cache: MetadataCache, *leaders: int) -> None:
    """Tell the cache the leaders of the first partitions."""
    states = [
        UpdateMetadataPartitionState(topic_name="orders", partition_index=number, leader=leader)
        for number, leader in enumerate(leaders)
    ]
    cache.update_cache(UpdateMetadataRequest(controller_id=1, ungrouped_partition_states=states))


def result(error: Errors = Errors.NONE) -> SimpleNamespace:
    return SimpleNamespace(error_code=error.code, error_message=None)


def test_elections_wait_for_all_leaders() -> None:
    cache, responses = MetadataCache(1), list[ElectionErrors]()
    refused = ApiError(Errors.ELECTION_NOT_NEEDED)
    elections = DelayedElectLeader(1000, {TP: 2, TP1: 2}, {TopicPartition("x", 0): refused}, cache, responses.append)
    learn(cache, 2, 1)
    assert not elections.try_complete()
    learn(cache, 2, 2)
    assert elections.try_complete()
    assert responses == [{TP: None, TP1: None, TopicPartition("x", 0): refused}]


def test_a_leader_that_is_late_has_timed_out() -> None:
    cache, responses = MetadataCache(1), list[ElectionErrors]()
    elections = DelayedElectLeader(1000, {TP: 2, TP1: 2}, {}, cache, responses.append)
    learn(cache, 2, 1)
    elections.force_complete()
    (response,) = responses
    late = response[TP1]
    assert late is not None
    assert (response[TP], late.error) == (None, Errors.REQUEST_TIMED_OUT)


def test_a_new_topic_waits_for_the_leaders_of_all_its_partitions() -> None:
    cache, results, responses = MetadataCache(1), {"orders": result(), "x": result(Errors.POLICY_VIOLATION)}, []
    creation = DelayedCreatePartitions(
        1000, results, {"orders": 2, "x": 1}, cache, lambda _: None, lambda: responses.append(1)
    )
    for leaders in ((), (1,), (1, NO_LEADER)):
        learn(cache, *leaders)
        assert not creation.try_complete(), leaders
    learn(cache, 1, 2)
    assert creation.try_complete(), "the topic with an error is not waited for"
    assert [each.error_code for each in results.values()] == [0, Errors.POLICY_VIOLATION.code]
    assert responses == [1]


def test_an_operation_that_may_not_wait_has_timed_out_even_if_the_cache_is_faster() -> None:
    cache, results, responses = MetadataCache(1), {"orders": result(), "x": result(Errors.POLICY_VIOLATION)}, []
    learn(cache, 1, 2)
    creation = DelayedCreatePartitions(
        0, results, {"orders": 2, "x": 1}, cache, lambda _: None, lambda: responses.append(1)
    )
    creation.complete_without_waiting()
    assert [each.error_code for each in results.values()] == [
        Errors.REQUEST_TIMED_OUT.code, Errors.POLICY_VIOLATION.code,
    ]  # fmt: skip
    assert responses == [1]


def test_a_topic_whose_leaders_are_late_or_have_no_logs_gets_an_error() -> None:
    results = {"orders": result(), "full": result(), "x": result(Errors.POLICY_VIOLATION)}
    failures = {"full": "no space", "x": "no space"}
    creation = DelayedCreatePartitions(
        1000, results, {"orders": 1, "full": 1}, MetadataCache(1), failures.get, lambda: None
    )
    creation.force_complete()
    errors = [Errors.for_code(each.error_code) for each in results.values()]
    assert errors == [Errors.REQUEST_TIMED_OUT, Errors.KAFKA_STORAGE_ERROR, Errors.POLICY_VIOLATION]


def test_a_deletion_waits_until_the_name_is_free() -> None:
    cache, queued = MetadataCache(1), {"orders"}
    learn(cache, 1)
    deletion = DelayedDeleteTopics(1000, {"orders": result()}, cache, queued.__contains__, lambda: None)
    assert not deletion.try_complete()
    learn(cache, DELETED)
    assert not deletion.try_complete(), "it is still in ZooKeeper"
    queued.clear()
    assert deletion.try_complete()


def test_a_creation_of_many_topics_does_not_ask_for_all_of_them_at_each_update() -> None:
    """Each of the topics causes an update of the metadata, after which the operation is checked."""
    names, asked, responses = [f"t{number}" for number in range(300)], list[str](), list[int]()
    done: set[str] = set()

    class Counting(DelayedDeleteTopics):
        def is_done(self, topic: str) -> bool:
            asked.append(topic)
            return topic in done

    results = {name: result() for name in names}
    deletion = Counting(1000, results, MetadataCache(1), lambda _: False, lambda: responses.append(1))
    for name in names:
        done.add(name)
        deletion.try_complete()
    assert responses == [1]
    assert len(asked) < 6 * len(names)
