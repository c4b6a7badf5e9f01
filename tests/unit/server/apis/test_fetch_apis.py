"""What Fetch passes to the replica manager, and what it makes of the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from kafka_lite.clients.cluster import Node
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.checkpoints.leader_epoch_checkpoint_file import EpochEntry
from kafka_lite.log.files.file_log_input_stream import FileChannelRecordBatch
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.network.request_channel import ResponseAction
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.messages.api_01_fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from kafka_lite.server.apis.leader_hints import LeaderNode
from kafka_lite.server.fetch_params import LogReadResult
from kafka_lite.server.quotas.client_quota_entity import KafkaQuotaEntity
from kafka_lite.server.quotas.replication_quota_manager import parse_throttled_partitions
from tests.support.recorded_apis import BATCH, TP, Apis


@pytest.fixture
def apis() -> Apis:
    return Apis()


def fetch(**fields: Any) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=fields.pop("partition_max_bytes", 100))
    return FetchRequest(topics=[FetchTopic(topic="t", partitions=[partition])], **fields)


def test_malformed_records_are_an_error_of_their_partition(apis: Apis) -> None:
    class Unreadable(FileMessageSetSlice):
        def __init__(self) -> None:
            self.size_in_bytes = 10

        def headers(self) -> Iterator[FileChannelRecordBatch]:
            raise OSError("I/O error")

    apis.handle(ApiKey.FETCH, 2, fetch(max_wait_ms=100, min_bytes=1))
    assert apis.replicas.respond is not None
    apis.replicas.respond([(TP, LogReadResult(Errors.NONE, 5, 0, None, Unreadable()))])
    answer: FetchResponse = apis.message()
    partition = answer.responses[0].partitions[0]
    assert (partition.error_code, partition.high_watermark) == (Errors.UNKNOWN_SERVER_ERROR.code, -1)
    assert not partition.records


@pytest.mark.parametrize(
    ("version", "asked", "expected"),
    [
        (4, {"min_bytes": 5000, "max_bytes": 400}, (400, 400)),
        (4, {"min_bytes": 5000, "max_bytes": 5000}, (1000, 1000)),
        (4, {"min_bytes": 1, "max_bytes": 400}, (1, 400)),
        (4, {"min_bytes": -1, "max_bytes": -7}, (-7, -7)),
        (3, {"min_bytes": 1, "max_bytes": 400}, (1, 400)),
        (2, {"min_bytes": 5000, "partition_max_bytes": 300}, (300, 300)),
    ],
)
def test_min_bytes_is_limited_to_what_a_response_can_hold(
    apis: Apis, version: int, asked: dict[str, int], expected: tuple[int, int]
) -> None:
    apis.handle(ApiKey.FETCH, version, fetch(max_wait_ms=60_000, **asked))
    params = apis.replicas.params
    assert params is not None
    assert (params.min_bytes, params.max_bytes) == expected


def test_a_partition_that_is_named_twice_is_read_once_from_its_last_offset(apis: Apis) -> None:
    def named(number: int, offset: int) -> FetchPartition:
        return FetchPartition(partition=number, fetch_offset=offset, partition_max_bytes=100)

    topics = [FetchTopic(topic="t", partitions=[named(0, 1), named(1, 2), named(0, 3)])]
    apis.handle(ApiKey.FETCH, 4, FetchRequest(topics=topics))
    assert [(each.partition, asked.fetch_offset) for each, asked in apis.replicas.asked] == [(0, 3), (1, 2)]


def respond(apis: Apis, *results: tuple[TopicPartition, LogReadResult]) -> FetchResponse:
    assert apis.replicas.respond is not None
    apis.replicas.respond(list(results))
    response: FetchResponse = apis.message()
    return response


def test_ids_are_read_by_name_and_answered_by_id(apis: Apis) -> None:
    known, unknown = UUID(int=7), UUID(int=8)
    apis.topic_names[known] = "t"
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=100)
    topics = [FetchTopic(topic_id=topic_id, partitions=[partition]) for topic_id in (unknown, known)]
    apis.handle(ApiKey.FETCH, 13, FetchRequest(topics=topics, max_wait_ms=100))
    assert [each for each, _ in apis.replicas.asked] == [TP]
    answer = respond(apis, (TP, LogReadResult(Errors.NONE, 5, 0, LogOffsetMetadata(0), BATCH)))
    found = [(each.topic_id, each.topic, each.partitions[0].error_code) for each in answer.responses]
    assert found == [(unknown, "", Errors.UNKNOWN_TOPIC_ID.code), (known, "", 0)]
    assert bytes(answer.responses[1].partitions[0].records or b"") == bytes(BATCH)


def test_a_request_for_unknown_ids_does_not_wait(apis: Apis) -> None:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=100)
    topics = [FetchTopic(topic_id=UUID(int=8), partitions=[partition])]
    apis.handle(ApiKey.FETCH, 13, FetchRequest(topics=topics, max_wait_ms=100))
    assert apis.replicas.params is not None
    assert (apis.replicas.asked, apis.replicas.params.max_wait_ms) == ([], 0)


@pytest.mark.parametrize("replica_id", [-1, 4])
def test_a_follower_says_who_it_is_in_a_state_since_version_15(apis: Apis, replica_id: int) -> None:
    apis.handle(ApiKey.FETCH, 15, FetchRequest(replica_state=ReplicaState(replica_id=replica_id)))
    assert apis.replicas.params is not None
    assert (apis.replicas.params.replica_id, apis.replicas.params.from_follower) == (replica_id, replica_id >= 0)


@pytest.mark.parametrize(
    ("version", "fields", "expected"),
    [
        (2, {}, (True, False, False)),
        (3, {}, (False, False, False)),
        (4, {"isolation_level": 1}, (False, True, False)),
        (4, {"replica_id": 0, "isolation_level": 1}, (False, False, True)),
        (4, {"replica_id": -1}, (False, False, False)),
    ],
)
def test_who_fetches_and_what_may_be_read(
    apis: Apis, version: int, fields: dict[str, int], expected: tuple[bool, bool, bool]
) -> None:
    apis.handle(ApiKey.FETCH, version, fetch(**fields))
    params = apis.replicas.params
    assert params is not None
    assert (params.hard_max_bytes, params.committed_only, params.from_follower) == expected


def test_the_leader_epoch_that_a_client_knows_is_checked(apis: Apis) -> None:
    partition = FetchPartition(
        partition=0, fetch_offset=5, partition_max_bytes=100, current_leader_epoch=7, log_start_offset=2
    )
    apis.handle(ApiKey.FETCH, 9, FetchRequest(topics=[FetchTopic(topic="t", partitions=[partition])]))
    [(_, asked)] = apis.replicas.asked
    assert (asked.fetch_offset, asked.max_bytes, asked.log_start_offset, asked.current_leader_epoch) == (5, 100, 2, 7)


def test_a_response_has_the_bounds_of_the_log_and_the_aborted_transactions(apis: Apis) -> None:
    apis.handle(ApiKey.FETCH, 5, fetch(isolation_level=1))
    result = LogReadResult(Errors.NONE, 9, 2, None, b"", 6, [AbortedTxn(70, 3, 5, 6)])
    data = respond(apis, (TP, result)).responses[0].partitions[0]
    assert (data.high_watermark, data.last_stable_offset, data.log_start_offset) == (9, 6, 2)
    assert data.aborted_transactions is not None
    assert [(each.producer_id, each.first_offset) for each in data.aborted_transactions] == [(70, 3)]


def test_a_follower_learns_where_its_log_diverges(apis: Apis) -> None:
    partition = FetchPartition(partition=0, fetch_offset=5, partition_max_bytes=100, last_fetched_epoch=4)
    apis.handle(ApiKey.FETCH, 12, FetchRequest(replica_id=2, topics=[FetchTopic(topic="t", partitions=[partition])]))
    [(_, asked)] = apis.replicas.asked
    assert asked.last_fetched_epoch == 4
    diverges = LogReadResult(Errors.NONE, 9, 2, diverging_epoch=EpochEntry(3, 4))
    data = respond(apis, (TP, diverges)).responses[0].partitions[0]
    assert (data.diverging_epoch.epoch, data.diverging_epoch.end_offset, data.records) == (3, 4, b"")


def test_partitions_are_grouped_by_their_topics(apis: Apis) -> None:
    apis.handle(ApiKey.FETCH, 5, fetch())
    asked = [TP, TopicPartition("t", 1), TopicPartition("u", 0)]
    response = respond(apis, *((each, LogReadResult(Errors.NONE, 1, 0)) for each in asked))
    assert [(each.topic, len(each.partitions)) for each in response.responses] == [("t", 2), ("u", 1)]


def test_a_session_names_only_what_has_changed(apis: Apis) -> None:
    other = TopicPartition("t", 1)
    named = [FetchPartition(partition=number, fetch_offset=0, partition_max_bytes=100) for number in (0, 1)]
    apis.handle(ApiKey.FETCH, 7, FetchRequest(session_epoch=0, topics=[FetchTopic(topic="t", partitions=named)]))
    idle = LogReadResult(Errors.NONE, 1, 0)
    session = respond(apis, (TP, idle), (other, idle)).session_id
    assert session > 0
    forget = [ForgottenTopic(topic="t", partitions=[1])]
    apis.handle(ApiKey.FETCH, 7, FetchRequest(session_id=session, session_epoch=1, forgotten_topics_data=forget))
    assert [each for each, _ in apis.replicas.asked] == [TP]
    assert respond(apis, (TP, idle)).responses == []
    apis.handle(ApiKey.FETCH, 7, FetchRequest(session_id=session, session_epoch=7))
    assert respond(apis).error_code == Errors.INVALID_FETCH_SESSION_EPOCH.code
    apis.handle(ApiKey.FETCH, 7, FetchRequest(session_id=session, session_epoch=-1))
    respond(apis)
    apis.handle(ApiKey.FETCH, 7, FetchRequest(session_id=session, session_epoch=2))
    assert respond(apis).error_code == Errors.FETCH_SESSION_ID_NOT_FOUND.code, "the client has ended it"


@pytest.mark.parametrize(
    ("replica_id", "throttled", "rate"), [(2, ["0:1"], len(BATCH)), (2, ["1:1"], 0), (-1, ["0:1"], 0)]
)
def test_the_leaders_quota_counts_what_throttled_followers_get(
    apis: Apis, replica_id: int, throttled: list[str], rate: int
) -> None:
    apis.replicas.quotas.leader.mark_throttled("t", parse_throttled_partitions(throttled, 1))
    apis.handle(ApiKey.FETCH, 4, fetch(replica_id=replica_id))
    respond(apis, (TP, LogReadResult(Errors.NONE, 1, 0, None, BATCH)))
    assert apis.replicas.quotas.leader.byte_rate == rate


@pytest.mark.parametrize(
    ("version", "compression", "error"),
    [
        (9, "zstd", Errors.UNSUPPORTED_COMPRESSION_TYPE),
        (10, "zstd", Errors.NONE),
        (9, "gzip", Errors.NONE),
        (1, "zstd", Errors.UNSUPPORTED_COMPRESSION_TYPE),
    ],
)
def test_clients_that_do_not_know_zstd_get_nothing_of_a_topic_that_uses_it(
    apis: Apis, version: int, compression: str, error: Errors
) -> None:
    log = SimpleNamespace(config=SimpleNamespace(compression_type=compression))
    apis.replicas.partition = SimpleNamespace(log=log)
    apis.handle(ApiKey.FETCH, version, fetch(max_wait_ms=1))
    data = respond(apis, (TP, LogReadResult(Errors.NONE, 1, 0, None, BATCH))).responses[0].partitions[0]
    assert Errors.for_code(data.error_code) is error
    assert bytes(data.records or b"") == (BATCH if error is Errors.NONE else b"")


# ── quotas


def limit(apis: Apis, bytes_per_second: int) -> None:
    apis.replicas.quotas.clients.update_quotas(
        KafkaQuotaEntity(client_id="c"), {"consumer_byte_rate": str(bytes_per_second)}
    )


def test_a_throttled_fetch_is_answered_empty_and_leaves_its_session_as_it_was(apis: Apis) -> None:
    apis.handle(ApiKey.FETCH, 8, fetch(session_epoch=0))
    session = respond(apis, (TP, LogReadResult(Errors.NONE, 1, 0))).session_id
    limit(apis, 1)
    records = LogReadResult(Errors.NONE, 2, 0, None, BATCH)
    apis.handle(ApiKey.FETCH, 8, FetchRequest(session_id=session, session_epoch=1))
    assert apis.replicas.params is not None
    assert apis.replicas.params.max_bytes == 10, "more than ten seconds' worth would always be throttled"
    assert apis.replicas.respond is not None
    apis.replicas.respond([(TP, records)])
    muted, response = apis.channel.receive_responses(0)
    assert muted.action is ResponseAction.START_THROTTLING
    message: FetchResponse = apis.decode(response)
    assert (message.responses, message.session_id, message.error_code) == ([], session, 0)
    assert message.throttle_time_ms > 0
    limit(apis, 1_000_000)
    apis.handle(ApiKey.FETCH, 8, FetchRequest(session_id=session, session_epoch=2))
    (topic,) = respond(apis, (TP, records)).responses
    assert topic.partitions[0].high_watermark == 2, "the client does not know it yet"


def test_what_is_recorded_is_the_size_of_the_response(apis: Apis) -> None:
    limit(apis, 1_000_000)
    apis.handle(ApiKey.FETCH, 8, fetch())
    response = respond(apis, (TP, LogReadResult(Errors.NONE, 1, 0, None, BATCH)))
    sensors = apis.replicas.quotas.clients.fetch.sensors_of("ANONYMOUS", "c")
    (rate,) = sensors.quota_sensor.metrics
    assert rate.value * 10 == pytest.approx(len(response.encode(8)))


def test_a_follower_fetches_what_it_wants(apis: Apis) -> None:
    limit(apis, 1)
    apis.handle(ApiKey.FETCH, 8, fetch(replica_id=1))
    assert apis.replicas.params is not None
    assert apis.replicas.params.max_bytes == 1000
    response = respond(apis, (TP, LogReadResult(Errors.NONE, 1, 0, None, BATCH)))
    assert (len(response.responses), response.throttle_time_ms) == (1, 0)


def test_topics_that_may_not_be_read_are_errors_and_are_not_read(apis: Apis) -> None:
    def denied(_request: object, from_follower: bool, topics: set[str]) -> set[str]:
        assert not from_follower
        return topics - {"t"}

    fetch_apis: Any = apis.apis.handlers[ApiKey.FETCH].__self__  # type: ignore[attr-defined]
    fetch_apis._denied_topics = denied
    request = fetch(max_wait_ms=500, min_bytes=1)
    request.topics.append(FetchTopic(topic="secret", partitions=[FetchPartition(partition=3)]))
    apis.handle(ApiKey.FETCH, 4, request)
    assert [partition for partition, _ in apis.replicas.asked] == [TP]
    assert apis.replicas.params is not None
    assert apis.replicas.params.max_wait_ms == 500
    assert apis.replicas.respond is not None
    apis.replicas.respond([(TP, LogReadResult(Errors.NONE, 5, 0))])
    answer: FetchResponse = apis.message()
    assert {each.topic: each.partitions[0].error_code for each in answer.responses} == {
        "t": 0,
        "secret": Errors.TOPIC_AUTHORIZATION_FAILED.code,
    }


def test_if_nothing_may_be_read_the_fetch_does_not_wait(apis: Apis) -> None:
    fetch_apis: Any = apis.apis.handlers[ApiKey.FETCH].__self__  # type: ignore[attr-defined]
    fetch_apis._denied_topics = lambda _request, _from_follower, topics: topics
    apis.handle(ApiKey.FETCH, 4, fetch(max_wait_ms=500, min_bytes=1))
    assert apis.replicas.params is not None
    assert (apis.replicas.asked, apis.replicas.params.max_wait_ms) == ([], 0)


class Slice(FileMessageSetSlice):
    """A slice that begins with a batch of some format, and has no whole batch."""

    def __init__(self, magic: int) -> None:
        self.size_in_bytes = 100
        self.magic = magic

    def first_bytes(self, count: int) -> bytes:
        return bytes([0] * 16 + [self.magic])[:count]

    def headers(self) -> Iterator[FileChannelRecordBatch]:
        return iter(())

    def batches(self) -> Iterator[Any]:
        return iter(())


@pytest.mark.parametrize(("version", "magic", "elsewhere"), [(2, 2, True), (2, 1, False), (1, 1, True), (4, 2, False)])
def test_what_must_be_converted_is_converted_elsewhere(apis: Apis, version: int, magic: int, elsewhere: bool) -> None:
    tasks: list[Callable[[], object]] = []
    fetch_apis: Any = apis.apis.handlers[ApiKey.FETCH].__self__  # type: ignore[attr-defined]
    fetch_apis._convert = tasks.append
    apis.handle(ApiKey.FETCH, version, fetch(max_wait_ms=100, min_bytes=1))
    assert apis.replicas.respond is not None
    apis.replicas.respond([(TP, LogReadResult(Errors.NONE, 5, 0, LogOffsetMetadata(0), Slice(magic)))])
    assert len(tasks) == elsewhere
    for task in tasks:
        assert apis.channel.response_queue_size == 0
        task()
    assert apis.answer().send is not None


def test_a_conversion_is_left_out_if_the_client_has_left_meanwhile(apis: Apis) -> None:
    tasks: list[Callable[[], object]] = []
    fetch_apis: Any = apis.apis.handlers[ApiKey.FETCH].__self__  # type: ignore[attr-defined]
    fetch_apis._convert = tasks.append
    request = apis.handle(ApiKey.FETCH, 2, fetch(max_wait_ms=100, min_bytes=1))
    assert apis.replicas.respond is not None
    apis.replicas.respond([(TP, LogReadResult(Errors.NONE, 5, 0, LogOffsetMetadata(0), Slice(2)))])
    request.note_client_left()
    tasks[0]()
    assert apis.answer().action is ResponseAction.NO_OP


def test_a_fetch_whose_client_has_left_gets_no_response_and_no_session(apis: Apis) -> None:
    request = apis.handle(ApiKey.FETCH, 11, fetch(max_wait_ms=60_000, min_bytes=1, session_epoch=0))
    assert apis.replicas.respond is not None
    assert apis.replicas.params is not None
    left: list[str] = []
    assert apis.replicas.params.when_client_leaves is not None
    apis.replicas.params.when_client_leaves(lambda: left.append("left"))
    request.note_client_left()
    assert left == ["left"]
    apis.replicas.respond([])
    assert apis.answer().action is ResponseAction.NO_OP
    assert apis.sessions.size == 0


@pytest.mark.parametrize(
    ("version", "error", "leader_id"),
    [
        (16, Errors.NOT_LEADER_OR_FOLLOWER, 3),
        (17, Errors.FENCED_LEADER_EPOCH, 3),
        (15, Errors.NOT_LEADER_OR_FOLLOWER, -1),
        (16, Errors.UNKNOWN_LEADER_EPOCH, -1),
    ],
)
def test_who_leads_is_told_to_a_client_that_asks_the_wrong_broker(
    apis: Apis, version: int, error: Errors, leader_id: int
) -> None:
    topic_id = UUID(int=7)
    apis.topic_names[topic_id], apis.leader = "t", LeaderNode(3, 7, Node(3, "host3", 9093))
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=100)
    topics = [FetchTopic(topic_id=topic_id, partitions=[partition])]
    apis.handle(ApiKey.FETCH, version, FetchRequest(topics=topics))
    response = respond(apis, (TP, LogReadResult(error)))
    assert response.responses[0].partitions[0].current_leader.leader_id == leader_id
    assert [each.host for each in response.node_endpoints] == (["host3"] if leader_id == 3 else [])
