"""KafkaApis over managers that only record their calls."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_registry import MetricsRegistry
from kafka_lite.network.receive import SIZE_BYTES
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel, Response
from kafka_lite.network.unserved_requests import UnservedRequests
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.protocol.framing import decode_response
from kafka_lite.protocol.messages.headers import RequestHeader
from kafka_lite.protocol.schema import Message
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.server.apis.admin_apis import AdminApis
from kafka_lite.server.apis.fetch_apis import FetchApis
from kafka_lite.server.apis.leader_hints import UNKNOWN_LEADER
from kafka_lite.server.apis.produce_apis import ProduceApis
from kafka_lite.server.delayed_fetch import FetchParams
from kafka_lite.server.fetch_sessions.fetch_manager import FetchManager
from kafka_lite.server.fetch_sessions.fetch_session_cache import FetchSessionCache
from kafka_lite.server.kafka_apis import ApiHandlers, KafkaApis
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.metrics.broker_topic_stats import BrokerTopicStats
from kafka_lite.server.quotas.quota_factory import quota_managers
from kafka_lite.server.quotas.request_handler_helper import RequestHandlerHelper
from kafka_lite.server.startup.share_groups_when_asked import share_handlers

TP = TopicPartition("t", 0)
BATCH = memory_records(2, CompressionType.NONE, [(b"k", b"v")], timestamp=1)


class FakeReplicaManager:
    """Records its calls and keeps the callbacks: every operation waits until the test completes it."""

    config = SimpleNamespace(fetch_max_bytes=1000)

    def __init__(self) -> None:
        config = KafkaConfig({"broker.id": "1", "zookeeper.connect": "embedded"})
        time = MockTime()
        self.quotas = quota_managers(config, time, Metrics(time=time))
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
    def create_topics(self, _timeout: int, _topics: Any, _validate_only: bool, _quota: Any, callback: Any) -> None:
        self.callback = callback


class Apis:
    """KafkaApis between a channel and managers that only record their calls."""

    def __init__(self) -> None:
        self.channel = RequestChannel(1, 10)
        self.replicas = FakeReplicaManager()
        self.topic_names: dict[UUID, str] = {}
        self.leader = UNKNOWN_LEADER
        self.admin = FakeAdminManager()
        replicas, nothing = cast(Any, self.replicas), cast(Any, _Anything())
        self.helper = RequestHandlerHelper(self.channel, self.replicas.quotas.clients, MockTime())
        admin = AdminApis(
            cast(Any, None), cast(Any, self.admin), cast(Any, None), lambda: True, self.helper, lambda _id: None
        )
        self.sessions = FetchSessionCache(10, MetricsRegistry(), MockTime())
        fetch_manager = FetchManager(self.sessions, MockTime())
        handlers = ApiHandlers(
            produce=ProduceApis(replicas, self.channel.close_connection, nothing),
            fetch=FetchApis(
                replicas,
                fetch_manager,
                self.helper,
                topic_name=self.topic_names.get,
                current_leader=lambda *_: self.leader,
            ),
            log_offsets=nothing,
            metadata=nothing,
            admin=admin,
            partition_admin=nothing,
            client_quotas=nothing,
            sasl=nothing,
            producer_ids=nothing,
            groups=nothing,
            consumer_groups=nothing,
            offsets=nothing,
            replication=nothing,
            log_dirs=nothing,
            transactions=nothing,
            txn_markers=nothing,
            acls=nothing,
            delegation_tokens=nothing,
            telemetry=nothing,
            features=nothing,
            share_groups=share_handlers(*[lambda: nothing] * 4),
        )
        self.apis = KafkaApis(self.channel, UnservedRequests(), handlers, self.helper)

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
        return self.decode(self.answer())

    @staticmethod
    def decode(response: Response) -> Any:
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
