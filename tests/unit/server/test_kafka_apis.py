"""Every request completes exactly once, whatever fails; and what Produce and Fetch pass to the replica manager."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.errors import Errors
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.files.file_log_input_stream import FileChannelRecordBatch
from kafka_lite.log.files.file_message_set import FileMessageSetSlice
from kafka_lite.log.producers.aborted_txn import AbortedTxn
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.network.receive import SIZE_BYTES
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel, Response, ResponseAction
from kafka_lite.network.unserved_requests import UnservedRequests
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.framing import decode_response
from kafka_lite.protocol.messages.api_00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kafka_lite.protocol.messages.api_01_fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)
from kafka_lite.protocol.messages.api_03_metadata import MetadataRequest, MetadataRequestTopic
from kafka_lite.protocol.messages.api_06_update_metadata import UpdateMetadataBroker, UpdateMetadataRequest
from kafka_lite.protocol.messages.api_19_create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
)
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.server.apis.admin_apis import AdminApis
from kafka_lite.server.apis.fetch_apis import FetchApis
from kafka_lite.server.apis.metadata_apis import MetadataApis
from kafka_lite.server.apis.produce_apis import ProduceApis
from kafka_lite.server.delayed_fetch import FetchParams
from kafka_lite.server.delayed_produce import PartitionResponse
from kafka_lite.server.fetch_params import LogReadResult
from kafka_lite.server.fetch_sessions.fetch_manager import FetchManager
from kafka_lite.server.fetch_sessions.fetch_session_cache import FetchSessionCache
from kafka_lite.server.kafka_apis import ApiHandlers, KafkaApis
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metadata_cache import MetadataCache
from kafka_lite.server.metrics.broker_topic_stats import BrokerTopicStats
from kafka_lite.server.quotas.quota_factory import quota_managers
from kafka_lite.server.quotas.replication_quota_manager import parse_throttled_partitions

TP = TopicPartition("t", 0)
BATCH = memory_records(2, CompressionType.NONE, [(b"k", b"v")], timestamp=1)


class FakeReplicaManager:
    """Records its calls and keeps the callbacks: every operation waits until the test completes it."""

    config = SimpleNamespace(fetch_max_bytes=1000)

    def __init__(self) -> None:
        config = KafkaConfig({"broker.id": "1", "zookeeper.connect": "embedded"})
        self.quotas = quota_managers(config, MockTime())
        self.appended: dict[TopicPartition, Any] = {}
        self.params: FetchParams | None = None
        self.asked: list[Any] = []
        self.respond: Callable[[Any], None] | None = None
        self.broker_topic_stats = BrokerTopicStats(MetricsRegistry(), MockTime(), lambda _: True)
        self.partition: Any = None

    def append_records(self, _timeout: int, _acks: int, _internal: bool, entries: Any, respond: Any) -> None:
        self.appended, self.respond = dict(entries), respond

    def fetch_messages(self, params: FetchParams, infos: Any, respond: Any) -> None:
        self.params, self.asked, self.respond = params, infos, respond

    def get_partition(self, _topic_partition: TopicPartition) -> Any:
        return self.partition


class FakeAdminManager:
    def create_topics(self, _timeout: int, _topics: Any, _validate_only: bool, callback: Any) -> None:
        self.callback = callback


class Apis:
    """KafkaApis between a channel and managers that only record their calls."""

    def __init__(self) -> None:
        self.channel = RequestChannel(1, 10)
        self.replicas = FakeReplicaManager()
        self.admin = FakeAdminManager()
        replicas, nothing = cast(Any, self.replicas), cast(Any, _Anything())
        admin = AdminApis(cast(Any, None), cast(Any, self.admin), cast(Any, None), lambda: True)
        handlers = ApiHandlers(
            produce=ProduceApis(replicas, self.channel.close_connection, nothing),
            fetch=FetchApis(replicas, FetchManager(FetchSessionCache(10, MetricsRegistry(), MockTime()), MockTime())),
            log_offsets=nothing,
            metadata=nothing,
            admin=admin,
            partition_admin=nothing,
            producer_ids=nothing,
            groups=nothing,
            offsets=nothing,
            replication=nothing,
            log_dirs=nothing,
            transactions=nothing,
            txn_markers=nothing,
        )
        self.apis = KafkaApis(self.channel, UnservedRequests(), handlers)

    def handle(self, api_key: ApiKey, version: int, body: Message) -> Request:
        header = RequestHeader(api_key=api_key, api_version=version, correlation_id=7, client_id="c")
        request = Request(0, "connection", "PLAINTEXT", "PLAINTEXT", "127.0.0.1", header, body, 100, 0.0)
        self.apis.handle(request)
        return request

    def answer(self) -> Response:
        """The one completion of the one request."""
        response = self.channel.receive_response(0)
        assert response is not None, "the request was never completed"
        assert self.channel.receive_response(0) is None, "the request was completed twice"
        return response

    def message(self) -> Any:
        response = self.answer()
        assert response.send is not None
        header = response.request.header
        frame = b"".join(
            part if isinstance(part, bytes | bytearray | memoryview) else part.to_bytes()
            for part in response.send._parts
        )
        return decode_response(header.api_key, header.api_version, frame[SIZE_BYTES:])[1]


class _Anything:
    def __getattr__(self, _name: str) -> Any:
        return None


@pytest.fixture
def apis() -> Apis:
    return Apis()


def produce(*records: Any, acks: int = 1) -> ProduceRequest:
    data = [PartitionProduceData(index=0, records=each) for each in records]
    return ProduceRequest(acks=acks, timeout_ms=1, topic_data=[TopicProduceData(name="t", partition_data=data)])


def fetch(**fields: Any) -> FetchRequest:
    partition = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=fields.pop("partition_max_bytes", 100))
    return FetchRequest(topics=[FetchTopic(topic="t", partitions=[partition])], **fields)


# -- one completion per request


def test_a_response_that_cannot_be_encoded_closes_the_connection(apis: Apis, caplog: pytest.LogCaptureFixture) -> None:
    """It is encoded in the thread that completes the operation, for example the controller's."""
    apis.handle(ApiKey.CREATE_TOPICS, 4, CreateTopicsRequest(topics=[CreatableTopic(name="t")]))
    apis.admin.callback([CreatableTopicResult(name="t", error_message="x" * 40_000)])
    assert apis.answer().action is ResponseAction.CLOSE_CONNECTION
    assert "Error when responding" in caplog.text


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


# -- Produce


def test_a_partition_that_is_listed_twice_is_rejected_as_a_whole(apis: Apis) -> None:
    """The response has space for one result only. Kafka appends the last batch and drops the others."""
    apis.handle(ApiKey.PRODUCE, 9, produce(BATCH, BATCH, BATCH))
    answer: ProduceResponse = apis.message()
    codes = [partition.error_code for partition in answer.responses[0].partition_responses]
    assert codes == [Errors.INVALID_REQUEST.code] * 3
    assert not apis.replicas.appended


def test_a_request_in_purgatory_does_not_keep_its_records(apis: Apis) -> None:
    request = apis.handle(ApiKey.PRODUCE, 9, produce(BATCH, acks=-1))
    assert bytes(apis.replicas.appended[TP]) == BATCH
    body = cast(ProduceRequest, request.body)
    assert body.topic_data[0].partition_data[0].records is None
    assert apis.replicas.respond is not None
    apis.replicas.respond({TP: PartitionResponse(Errors.NONE, 3)})
    answer: ProduceResponse = apis.message()
    assert answer.responses[0].partition_responses[0].base_offset == 3


# -- Fetch


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


# -- Metadata

LOCAL = Broker(7, (EndPoint("here", 9092, "PLAINTEXT", SecurityProtocol.PLAINTEXT),))


def test_a_broker_that_knows_no_other_yet_lists_itself_and_creates_nothing() -> None:
    """A response without brokers makes clients of librdkafka wait forever."""

    def fail(_topic: str) -> None:
        raise AssertionError("created")

    config = SimpleNamespace(auto_create_topics_enable=True)
    cache = MetadataCache(7)
    apis = MetadataApis(cast(Any, config), "cluster", cache, lambda: LOCAL, fail, {})
    request = SimpleNamespace(header=SimpleNamespace(api_version=4), listener_name="PLAINTEXT")
    asked = MetadataRequest(topics=[MetadataRequestTopic(name="demo")])
    answers: list[Any] = []
    apis.handle_metadata(cast(Any, request), asked, answers.append)
    assert [(broker.node_id, broker.host, broker.port) for broker in answers[0].brokers] == [(7, "here", 9092)]
    assert [topic.error_code for topic in answers[0].topics] == [Errors.LEADER_NOT_AVAILABLE.code]
    assert answers[0].controller_id == -1
    cache.update_cache(UpdateMetadataRequest(live_brokers=[UpdateMetadataBroker(id=1, v0_host="h", v0_port=9092)]))
    apis.handle_metadata(cast(Any, request), MetadataRequest(topics=[]), answers.append)
    assert [broker.node_id for broker in answers[1].brokers] == [1]


def test_metadata_waits_until_a_starting_broker_knows_the_topics() -> None:
    """Otherwise consumers that subscribe by a pattern would believe that there are none."""
    config = SimpleNamespace(auto_create_topics_enable=True)
    cache, anything = MetadataCache(7), cast(Any, None)
    apis = MetadataApis(cast(Any, config), "cluster", cache, lambda: LOCAL, anything, {})
    request = SimpleNamespace(header=SimpleNamespace(api_version=4), listener_name="PLAINTEXT")
    answers: list[Any] = []
    apis.hold_metadata_back()
    for _ in range(2):
        apis.handle_metadata(cast(Any, request), MetadataRequest(topics=[]), answers.append)
    assert answers == []
    cache.update_cache(UpdateMetadataRequest(live_brokers=[UpdateMetadataBroker(id=1, v0_host="h", v0_port=9092)]))
    assert answers == [], "the controller has more to say: which partitions this broker has"
    apis.release_metadata()
    apis.handle_metadata(cast(Any, request), MetadataRequest(topics=[]), answers.append)
    assert [[broker.node_id for broker in answer.brokers] for answer in answers] == [[1], [1], [1]]


def test_a_topic_that_cannot_be_created_does_not_hide_the_others() -> None:
    def fail(_topic: str) -> None:
        raise TimeoutError("no answer from ZooKeeper")

    config = SimpleNamespace(auto_create_topics_enable=True)
    anything = cast(Any, None)
    cache = MetadataCache(0)
    cache.update_cache(UpdateMetadataRequest(live_brokers=[UpdateMetadataBroker(id=0, v0_host="h", v0_port=9092)]))
    apis = MetadataApis(cast(Any, config), "cluster", cache, anything, fail, {})
    request = SimpleNamespace(header=SimpleNamespace(api_version=4), listener_name="PLAINTEXT")
    asked = [MetadataRequestTopic(name=name) for name in ("new", "not/legal")]
    answers: list[Any] = []
    apis.handle_metadata(cast(Any, request), MetadataRequest(topics=asked), answers.append)
    assert [(topic.name, topic.error_code) for topic in answers[0].topics] == [
        ("new", Errors.UNKNOWN_SERVER_ERROR.code),
        ("not/legal", Errors.INVALID_TOPIC_EXCEPTION.code),
    ]


@pytest.mark.parametrize(
    ("version", "name", "topic_id", "error", "told"),
    [
        (10, "", 7, Errors.INVALID_REQUEST, ""),
        (11, "there", 7, Errors.INVALID_REQUEST, "there"),
        (11, None, 0, Errors.INVALID_REQUEST, ""),
        (12, None, 7, Errors.UNKNOWN_TOPIC_ID, None),
        (12, "there", 7, Errors.UNKNOWN_TOPIC_ID, None),
    ],
)
def test_topics_have_no_ids(version: int, name: str | None, topic_id: int, error: Errors, told: str | None) -> None:
    """The responses are those of Kafka 3.9 for an unknown id."""
    anything = cast(Any, None)
    apis = MetadataApis(anything, "cluster", MetadataCache(0), lambda: LOCAL, anything, {})
    request = SimpleNamespace(header=SimpleNamespace(api_version=version), listener_name="PLAINTEXT")
    asked = MetadataRequestTopic(name=name, topic_id=UUID(int=topic_id))
    answers: list[Any] = []
    apis.handle_metadata(
        cast(Any, request), MetadataRequest(topics=[asked, asked][: 2 if version > 11 else 1]), answers.append
    )
    assert [(topic.error_code, topic.name, topic.topic_id.int) for topic in answers[0].topics] == [
        (error.code, told, topic_id)
    ]
    answers[0].encode(version)
