"""What Fetch passes on and what it answers, field by field."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from kafka_lite.clients.cluster import Node
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.log.log_offset_metadata import LogOffsetMetadata
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.messages.api_01_fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    ReplicaState,
)
from kafka_lite.server.apis import fetch_apis
from kafka_lite.server.apis.leader_hints import LeaderNode
from kafka_lite.server.fetch_params import LogReadResult
from tests.support.recorded_apis import BATCH, TP, Apis

T, U = UUID(int=7), UUID(int=8)


@pytest.fixture
def apis() -> Apis:
    made = Apis()
    made.topic_names.update({T: "t", U: "u"})
    return made


def named(number: int = 0, offset: int = 0, max_bytes: int = 100) -> FetchPartition:
    return FetchPartition(partition=number, fetch_offset=offset, partition_max_bytes=max_bytes)


def fetch(**fields: Any) -> FetchRequest:
    return FetchRequest(topics=[FetchTopic(topic="t", partitions=[named()])], **fields)


def respond(apis: Apis, *results: tuple[TopicPartition, LogReadResult]) -> FetchResponse:
    assert apis.replicas.respond is not None
    apis.replicas.respond(list(results))
    response: FetchResponse = apis.message()
    return response


def handler(apis: Apis) -> Any:
    return apis.apis.handlers[ApiKey.FETCH].__self__  # type: ignore[attr-defined]


@pytest.mark.parametrize("version", [10, 11])
def test_a_replica_selector_learns_who_the_consumer_is_since_version_11(apis: Apis, version: int) -> None:
    apis.handle(ApiKey.FETCH, version, fetch(rack_id="r"))
    assert apis.replicas.params is not None
    client = apis.replicas.params.client_metadata
    if version == 10:
        assert client is None
        return
    assert client is not None
    assert (client.rack_id, client.client_id, client.client_address) == ("r", "c", "127.0.0.1")
    assert (str(client.principal), client.listener_name) == ("User:ANONYMOUS", "PLAINTEXT")


@pytest.mark.parametrize("replica_id", [0, 2])
def test_a_follower_is_not_sent_to_another_replica(apis: Apis, replica_id: int) -> None:
    apis.handle(ApiKey.FETCH, 11, fetch(replica_id=replica_id, rack_id="r"))
    assert apis.replicas.params is not None
    assert (apis.replicas.params.replica_id, apis.replicas.params.client_metadata) == (replica_id, None)


def test_a_response_names_the_replica_to_read_from(apis: Apis) -> None:
    apis.handle(ApiKey.FETCH, 11, fetch())
    found = LogReadResult(Errors.NONE, 9, 2, preferred_read_replica=0)
    other = LogReadResult(Errors.NONE, 9, 2)
    partitions = respond(apis, (TP, found), (TopicPartition("t", 5), other)).responses[0].partitions
    assert [(each.partition_index, each.preferred_read_replica) for each in partitions] == [(0, 0), (5, -1)]


def test_the_limits_of_old_requests_are_those_of_their_partitions(apis: Apis) -> None:
    topics = [FetchTopic(topic="t", partitions=[named(0, max_bytes=100), named(1, max_bytes=30)])]
    apis.handle(ApiKey.FETCH, 2, FetchRequest(topics=topics, max_bytes=7, max_wait_ms=50, min_bytes=90))
    params = apis.replicas.params
    assert params is not None
    assert (params.max_bytes, params.min_bytes, params.max_wait_ms) == (130, 90, 50)


def test_requests_of_version_13_have_sessions_by_id(apis: Apis) -> None:
    topics = [FetchTopic(topic_id=topic_id, partitions=[named(0), named(1)]) for topic_id in (T, U)]
    apis.handle(ApiKey.FETCH, 13, FetchRequest(session_epoch=0, topics=topics))
    everything = [TopicPartition(name, number) for name in ("t", "u") for number in (0, 1)]
    assert [each for each, _ in apis.replicas.asked] == everything
    idle = LogReadResult(Errors.NONE, 1, 0)
    session = respond(apis, *((each, idle) for each in everything)).session_id
    forgotten = [ForgottenTopic(topic_id=T, partitions=[1]), ForgottenTopic(topic_id=U, partitions=[0])]
    apis.handle(ApiKey.FETCH, 13, FetchRequest(session_id=session, session_epoch=1, forgotten_topics_data=forgotten))
    assert [each for each, _ in apis.replicas.asked] == [TopicPartition("t", 0), TopicPartition("u", 1)]
    assert respond(apis).session_id == session
    apis.handle(ApiKey.FETCH, 12, FetchRequest(session_id=session, session_epoch=2))
    assert respond(apis).error_code == Errors.FETCH_SESSION_TOPIC_ID_ERROR.code


def test_a_request_without_a_session_begins_none(apis: Apis) -> None:
    apis.handle(ApiKey.FETCH, 12, fetch(session_id=0, session_epoch=-1))
    answer = respond(apis, (TP, LogReadResult(Errors.NONE, 1, 0)))
    assert (answer.session_id, answer.error_code, apis.sessions.size) == (0, 0, 0)


@pytest.mark.parametrize(("log_id", "error"), [(T, 0), (U, Errors.INCONSISTENT_TOPIC_ID.code), (None, 0)])
def test_an_id_must_be_that_of_the_log(apis: Apis, log_id: UUID | None, error: int) -> None:
    apis.replicas.partition = SimpleNamespace(log=SimpleNamespace(topic_id=log_id))
    apis.handle(ApiKey.FETCH, 13, FetchRequest(topics=[FetchTopic(topic_id=T, partitions=[named()])]))
    read = [(TP, LogReadResult(Errors.NONE, 1, 0))] if not error else []
    assert [each for each, _ in apis.replicas.asked] == ([] if error else [TP])
    data = respond(apis, *read).responses[0]
    assert (data.topic_id, data.partitions[0].error_code) == (T, error)


def test_a_partition_without_a_log_is_that_of_any_id(apis: Apis) -> None:
    apis.replicas.partition = SimpleNamespace(log=None)
    apis.handle(ApiKey.FETCH, 13, FetchRequest(topics=[FetchTopic(topic_id=T, partitions=[named()])]))
    assert [each for each, _ in apis.replicas.asked] == [TP]


@pytest.mark.parametrize("from_follower", [False, True])
@pytest.mark.parametrize("version", [14, 15])
def test_the_authorizer_is_asked_about_the_topics_and_the_sender(apis: Apis, from_follower: bool, version: int) -> None:
    asked: list[tuple[object, bool, set[str]]] = []

    def denied(request: object, follower: bool, topics: set[str]) -> set[str]:
        asked.append((request, follower, topics))
        return set()

    handler(apis)._denied_topics = denied
    replica_id = 0 if from_follower else -1
    topics = [FetchTopic(topic_id=topic_id, partitions=[named(0), named(1)]) for topic_id in (T, U)]
    sender = {"replica_state": ReplicaState(replica_id=replica_id)} if version >= 15 else {"replica_id": replica_id}
    request = apis.handle(ApiKey.FETCH, version, FetchRequest(topics=topics, **sender))
    assert asked == [(request, from_follower, {"t", "u"})]
    assert len(apis.replicas.asked) == 4, "nothing is denied"


@pytest.mark.parametrize(
    ("version", "error", "expected"),
    [
        (5, Errors.KAFKA_STORAGE_ERROR, Errors.NOT_LEADER_OR_FOLLOWER),
        (6, Errors.KAFKA_STORAGE_ERROR, Errors.KAFKA_STORAGE_ERROR),
        (5, Errors.OFFSET_OUT_OF_RANGE, Errors.OFFSET_OUT_OF_RANGE),
    ],
)
def test_old_clients_get_errors_that_they_know(apis: Apis, version: int, error: Errors, expected: Errors) -> None:
    apis.handle(ApiKey.FETCH, version, fetch())
    answer = respond(apis, (TP, LogReadResult(error)))
    assert answer.responses[0].partitions[0].error_code == expected.code


def test_a_broker_that_leads_is_told_once_and_only_of_the_partitions_concerned(apis: Apis) -> None:
    asked: list[tuple[TopicPartition, str]] = []

    def leader(partition: TopicPartition, listener: str) -> LeaderNode:
        asked.append((partition, listener))
        return LeaderNode(3, 7, Node(3, "host3", 9093, "rack3"))

    handler(apis)._current_leader = leader
    topics = [FetchTopic(topic_id=topic_id, partitions=[named(0), named(1)]) for topic_id in (T, U)]
    apis.handle(ApiKey.FETCH, 16, FetchRequest(topics=topics))
    moved, fine = LogReadResult(Errors.NOT_LEADER_OR_FOLLOWER), LogReadResult(Errors.NONE, 1, 0)
    t1, u0, u1 = TopicPartition("t", 1), TopicPartition("u", 0), TopicPartition("u", 1)
    answer = respond(apis, (TP, fine), (t1, moved), (u0, moved), (u1, fine))
    assert asked == [(t1, "PLAINTEXT"), (u0, "PLAINTEXT")]
    told = [(p.current_leader.leader_id, p.current_leader.leader_epoch) for t in answer.responses for p in t.partitions]
    assert told == [(-1, -1), (3, 7), (3, 7), (-1, -1)]
    assert [(n.node_id, n.host, n.port, n.rack) for n in answer.node_endpoints] == [(3, "host3", 9093, "rack3")]


def test_bytes_out_are_counted_by_topic(apis: Apis, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[TopicPartition, int]] = []
    monkeypatch.setattr(apis.replicas.broker_topic_stats, "sent", lambda tp, size: sent.append((tp, size)))
    apis.handle(ApiKey.FETCH, 4, fetch())
    u0 = TopicPartition("u", 0)
    records, none = LogReadResult(Errors.NONE, 1, 0, None, BATCH), LogReadResult(Errors.NONE, 1, 0)
    respond(apis, (TP, none), (u0, records))
    assert sent == [(u0, len(BATCH))]


class Records(FileMessageSetSlice):
    """A slice with batches of these formats."""

    def __init__(self, *magics: int, size: int = 100, next_offset: int = 4) -> None:
        self.size_in_bytes = size
        self.magics, self.next_offset = magics, next_offset

    def first_bytes(self, count: int) -> bytes:
        return bytes([0] * 16 + [self.magics[0]])[:count]

    def headers(self) -> Any:
        return iter([SimpleNamespace(magic=magic, next_offset=self.next_offset) for magic in self.magics])


def converting(monkeypatch: pytest.MonkeyPatch, results: list[bytes]) -> list[tuple[object, int, int]]:
    """Let conversions give these results; returns what was converted: records, format, offset."""
    calls: list[tuple[object, int, int]] = []

    def converted(records: object, newest_magic: int, offset: int) -> bytes:
        calls.append((records, newest_magic, offset))
        return results[len(calls) - 1]

    monkeypatch.setattr(fetch_apis, "converted_records", converted)
    return calls


def log_of(read: Callable[..., object] | None = None, **config: object) -> SimpleNamespace:
    settings = {"compression_type": "producer", "message_downconversion_enable": True} | config
    return SimpleNamespace(config=SimpleNamespace(**settings), read=read)


def partition_data(apis: Apis, version: int, records: FileMessageSetSlice, high_watermark: int = 50) -> Any:
    apis.handle(ApiKey.FETCH, version, fetch())
    result = LogReadResult(Errors.NONE, high_watermark, 0, LogOffsetMetadata(3), records)
    return respond(apis, (TopicPartition("t", 5), result)).responses[0].partitions[0]


@pytest.mark.parametrize(("version", "magic"), [(1, 0), (2, 1), (3, 1)])
def test_a_later_batch_of_a_newer_format_is_converted(
    apis: Apis, monkeypatch: pytest.MonkeyPatch, version: int, magic: int
) -> None:
    calls = converting(monkeypatch, [b"old"])
    apis.replicas.partition = SimpleNamespace(log=log_of())
    records = Records(0, 2)
    data = partition_data(apis, version, records)
    assert (bytes(data.records), calls) == (b"old", [(records, magic, 3)])


def test_a_topic_may_forbid_conversion(apis: Apis, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = converting(monkeypatch, [])
    apis.replicas.partition = SimpleNamespace(log=log_of(message_downconversion_enable=False))
    data = partition_data(apis, 3, Records(2))
    assert (data.partition_index, data.error_code, data.high_watermark, calls) == (
        5, Errors.UNSUPPORTED_VERSION.code, -1, [],
    )  # fmt: skip


@pytest.mark.parametrize("log", [None, "no log"])
def test_records_are_converted_even_if_the_log_has_gone(
    apis: Apis, monkeypatch: pytest.MonkeyPatch, log: str | None
) -> None:
    converting(monkeypatch, [b""])
    apis.replicas.partition = SimpleNamespace(log=None) if log else None
    data = partition_data(apis, 3, Records(2))
    assert (data.error_code, bytes(data.records)) == (0, b"")


def test_if_conversion_leaves_nothing_the_next_batches_are_read(apis: Apis, monkeypatch: pytest.MonkeyPatch) -> None:
    following, last = Records(2, 2, size=70, next_offset=9), Records(2, size=60, next_offset=12)
    reads: list[tuple[tuple[object, ...], dict[str, object]]] = []

    def read(*where: object, **options: object) -> object:
        reads.append((where, options))
        return SimpleNamespace(records=following if len(reads) == 1 else last)

    calls = converting(monkeypatch, [b"", b"", b"found"])
    apis.replicas.partition = SimpleNamespace(log=log_of(read))
    first = Records(2, size=100, next_offset=4)
    assert bytes(partition_data(apis, 3, first).records) == b"found"
    assert reads == [((4, 100, 50), {"min_one_message": True}), ((9, 70, 50), {"min_one_message": True})]
    assert calls == [(first, 1, 3), (following, 1, 3), (last, 1, 3)]


@pytest.mark.parametrize("following", [b"bytes", Records(2, size=0)], ids=["no slice", "the end of the log"])
def test_conversion_ends_at_the_end_of_the_log(apis: Apis, monkeypatch: pytest.MonkeyPatch, following: object) -> None:
    converting(monkeypatch, [b""])
    apis.replicas.partition = SimpleNamespace(log=log_of(lambda *_, **__: SimpleNamespace(records=following)))
    data = partition_data(apis, 3, Records(2))
    assert (data.error_code, bytes(data.records), data.high_watermark) == (0, b"", 50)
