"""Sends share fetches and acknowledgements, a request at a time to each broker.

Kafka 4.1: clients/.../consumer/internals/ShareConsumeRequestManager.java · book 4.1.4
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple, cast

from kafka_lite.clients.client_request import ClientResponse, RequestBuilder
from kafka_lite.clients.cluster import Node
from kafka_lite.clients.metadata import Metadata
from kafka_lite.common.errors import ApiError, Errors, KafkaError
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.record_batch_reader import Deserialize
from kafka_lite.consumer.share.acknowledgements import AcknowledgeType, acknowledgement_batches
from kafka_lite.consumer.share.share_in_flight_batch import ShareInFlightBatch, read_acquired
from kafka_lite.consumer.share.share_session_handler import FetchLimits, ShareSessionHandler
from kafka_lite.protocol.messages.api_78_share_fetch import PartitionData, ShareFetchResponse
from kafka_lite.protocol.messages.api_79_share_acknowledge import ShareAcknowledgeResponse

logger = logging.getLogger(__name__)

Types = dict[int, AcknowledgeType]
OnAcknowledged = Callable[[TopicPartition, frozenset[int], Exception | None], None]
"""Told of the outcome for some offsets of a partition, in the user's thread."""

INVALID_METADATA = frozenset(
    {
        Errors.NOT_LEADER_OR_FOLLOWER,
        Errors.FENCED_LEADER_EPOCH,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
        Errors.UNKNOWN_TOPIC_ID,
        Errors.KAFKA_STORAGE_ERROR,
    }
)
"""Errors that suggest that another broker leads the partition by now, or that the topic was made again."""


class ReadSettings(NamedTuple):
    """How the bytes of a response become records."""

    check_crcs: bool = True
    deserialize_key: Deserialize | None = None
    deserialize_value: Deserialize | None = None


class _Broker:
    """The state of the conversation with one broker."""

    def __init__(self, node: Node, session: ShareSessionHandler) -> None:
        self.node = node
        self.session = session
        self.is_busy = False
        """Whether a request is in flight: the next one needs the epoch after it."""
        self.to_send: dict[TopicIdPartition, Types] = {}
        """Acknowledgements that go with the next request."""
        self.must_send = False
        """Whether the user has asked to send them without a fetch."""


class ShareConsumeManager:
    """The sessions with all leaders, and what is on its way to them. Belongs to the user's thread.

    ::

        assignment, leaders ─▶ fetch ──── ShareFetch: partitions + acknowledgements ─▶ broker
                                │                                                        │
        completed ◀─────────────┴── acquired records, outcomes of acknowledgements ◀─────╯
        commit ──────────────────── ShareAcknowledge: acknowledgements only ─▶ broker

    Only the broker that has delivered a record can have it acknowledged: after a change of leadership the new leader
    delivers it again. So acknowledgements are kept by broker, and fail if it does not lead the partition any more.
    """

    def __init__(
        self,
        group_id: str,
        member_id: str,
        client: ConsumerNetworkClient,
        metadata: Metadata,
        limits: FetchLimits,
        settings: ReadSettings,
        on_acknowledged: OnAcknowledged,
    ) -> None:
        self._group_id = group_id
        self._member_id = member_id
        self._client = client
        self._metadata = metadata
        self._limits = limits
        self._settings = settings
        self._on_acknowledged = on_acknowledged
        self._brokers: dict[int, _Broker] = {}
        self._names: dict[TopicIdPartition, TopicPartition] = {}
        self.completed: deque[ShareInFlightBatch] = deque()
        """Records in the order of arrival."""
        self.errors: deque[KafkaError] = deque()
        """The errors that polls are to raise."""

    # ── acknowledgements ──────────────────────────────────────────────────────────────────────────────────────────────

    def add(self, batch: ShareInFlightBatch) -> None:
        """Keep what the user has said about the batch for the broker that has delivered it."""
        types = batch.take_acknowledged()
        broker = self._brokers.get(batch.node_id)
        if types and broker is not None:
            broker.to_send.setdefault(batch.tip, {}).update(types)

    def commit(self) -> None:
        """Send acknowledgements without waiting for the next fetch."""
        for broker in self._brokers.values():
            broker.must_send = broker.must_send or bool(broker.to_send)
        self.send_acknowledgements()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is in flight or has to be sent."""
        return not any(broker.must_send or broker.is_busy for broker in self._brokers.values())

    def send_acknowledgements(self) -> None:
        """Send what commits have asked for, to brokers without a request in flight."""
        for broker in self._brokers.values():
            if broker.must_send and not broker.is_busy:
                broker.must_send = False
                sent = self._take(broker)
                if sent:
                    self._acknowledge(broker, sent)

    def _take(self, broker: _Broker) -> dict[TopicIdPartition, Types]:
        """The acknowledgements that can be sent; the others have failed."""
        self._fail_moved(broker)
        taken, broker.to_send = broker.to_send, {}
        if broker.session.is_new:
            self._complete(taken, Errors.INVALID_SHARE_SESSION_EPOCH.exception())
            return {}
        return taken

    def _fail_moved(self, broker: _Broker) -> None:
        """Fail the acknowledgements of partitions that the broker does not lead any more, as far as is known."""
        moved = {tip: types for tip, types in broker.to_send.items() if not self._may_lead(broker.node, tip)}
        for tip in moved:
            del broker.to_send[tip]
        self._complete(moved, Errors.NOT_LEADER_OR_FOLLOWER.exception())

    def _may_lead(self, node: Node, tip: TopicIdPartition) -> bool:
        info = self._metadata.fetch().partition(self._names[tip])
        return info is None or info.leader is None or info.leader.id == node.id

    def _complete(self, sent: Mapping[TopicIdPartition, Types], error: Exception | None) -> None:
        for tip, types in sent.items():
            self._on_acknowledged(self._names[tip], frozenset(types), error)

    def _acknowledge(self, broker: _Broker, sent: dict[TopicIdPartition, Types], *, close: bool = False) -> None:
        batches = {tip: acknowledgement_batches(types) for tip, types in sent.items()}
        request = broker.session.acknowledge_request(batches, close=close)
        broker.is_busy = True
        future = self._client.send(broker.node, RequestBuilder.of(request))
        future.add_listener(
            lambda response: self._on_acknowledge_response(broker, sent, response, is_last=close),
            lambda error: self._on_lost(broker, sent, error),
        )

    def _on_acknowledge_response(
        self,
        broker: _Broker,
        sent: Mapping[TopicIdPartition, Types],
        client_response: ClientResponse,
        *,
        is_last: bool,
    ) -> None:
        response = cast(ShareAcknowledgeResponse, client_response.response)
        broker.is_busy = False
        error = Errors.for_code(response.error_code)
        if is_last:
            broker.session.reset()
        if not (error is Errors.NONE if is_last else broker.session.handle_response(error)):
            self._complete(sent, error.exception(response.error_message or error.message))
            return
        outcomes = {
            TopicIdPartition(topic.topic_id, each.partition_index): Errors.for_code(each.error_code)
            for topic in response.responses
            for each in topic.partitions
        }
        self._complete_by(sent, outcomes)

    def _complete_by(self, sent: Mapping[TopicIdPartition, Types], outcomes: Mapping[TopicIdPartition, Errors]) -> None:
        for tip, types in sent.items():
            error = outcomes.get(tip, Errors.INVALID_RECORD_STATE)
            if error in INVALID_METADATA:
                self._metadata.request_update()
            self._complete({tip: types}, None if error is Errors.NONE else error.exception())

    def _on_lost(self, broker: _Broker, sent: Mapping[TopicIdPartition, Types], failure: BaseException) -> None:
        """There will be no response: the broker may have got the request or not, so it needs another session."""
        broker.is_busy = False
        broker.session.reset()
        self._metadata.request_update()
        self._complete(sent, failure if isinstance(failure, Exception) else None)
        if isinstance(failure, ApiError) and failure.error is Errors.UNSUPPORTED_VERSION:
            self.errors.append(failure)

    # ── fetches ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def fetch(self, assignment: Collection[TopicIdPartition]) -> None:
        """Send a fetch to each leader of assigned partitions without a request in flight, and acknowledgements to
        brokers that lead none any more."""
        by_leader = self._by_leader(assignment)
        for node_id, (node, _) in by_leader.items():
            broker = self._brokers.get(node_id)
            if broker is None:
                session = ShareSessionHandler(self._group_id, self._member_id)
                self._brokers[node_id] = _Broker(node, session)
            else:
                broker.node = node
        for node_id, broker in list(self._brokers.items()):
            wanted = by_leader[node_id][1] if node_id in by_leader else []
            is_needed = wanted or broker.to_send or broker.session.partitions
            if is_needed and not broker.is_busy:
                if self._client.is_unavailable(broker.node):
                    self._fail_moved(broker)
                else:
                    self._send_fetch(broker, wanted)

    def _by_leader(self, assignment: Collection[TopicIdPartition]) -> dict[int, tuple[Node, list[TopicIdPartition]]]:
        cluster = self._metadata.fetch()
        topics = {topic_id: topic for topic, topic_id in cluster.topic_ids.items()}
        found: dict[int, tuple[Node, list[TopicIdPartition]]] = {}
        for tip in sorted(assignment):
            topic = topics.get(tip.topic_id)
            info = None if topic is None else cluster.partition(TopicPartition(topic, tip.partition))
            if topic is None or info is None or info.leader is None:
                self._metadata.request_update()
                continue
            self._names[tip] = TopicPartition(topic, tip.partition)
            found.setdefault(info.leader.id, (info.leader, []))[1].append(tip)
        return found

    def _send_fetch(self, broker: _Broker, wanted: Iterable[TopicIdPartition]) -> None:
        sent = self._take(broker)
        batches = {tip: acknowledgement_batches(types) for tip, types in sent.items()}
        request = broker.session.fetch_request(list(wanted), batches, self._limits)
        broker.is_busy, broker.must_send = True, False
        future = self._client.send(broker.node, RequestBuilder.of(request))
        future.add_listener(
            lambda response: self._on_fetch_response(broker, sent, response),
            lambda error: self._on_lost(broker, sent, error),
        )

    def _on_fetch_response(
        self, broker: _Broker, sent: Mapping[TopicIdPartition, Types], client_response: ClientResponse
    ) -> None:
        response = cast(ShareFetchResponse, client_response.response)
        broker.is_busy = False
        error = Errors.for_code(response.error_code)
        if not broker.session.handle_response(error):
            self._complete(sent, error.exception(response.error_message or error.message))
            if error is Errors.UNKNOWN_TOPIC_ID:
                self._metadata.request_update()
            elif error in (Errors.GROUP_AUTHORIZATION_FAILED, Errors.UNSUPPORTED_VERSION):
                self.errors.append(error.exception(response.error_message or error.message))
            return
        outcomes: dict[TopicIdPartition, Errors] = {}
        for topic in response.responses:
            for data in topic.partitions:
                tip = TopicIdPartition(topic.topic_id, data.partition_index)
                outcomes[tip] = Errors.for_code(data.acknowledge_error_code)
                if tip in self._names:
                    self._take_records(broker, tip, data)
        self._complete_by(sent, outcomes)

    def _take_records(self, broker: _Broker, tip: TopicIdPartition, data: PartitionData) -> None:
        error = Errors.for_code(data.error_code)
        if error in INVALID_METADATA:
            logger.debug("Cannot fetch %s from broker %d: %s", self._names[tip], broker.node.id, error.name)
            self._metadata.request_update()
        elif error is not Errors.NONE:
            self.errors.append(error.exception(data.error_message or error.message))
        elif data.acquired_records:
            batch = ShareInFlightBatch(broker.node.id, self._names[tip], tip)
            read_acquired(
                batch,
                cast(bytes | None, data.records),
                data.acquired_records,
                check_crcs=self._settings.check_crcs,
                deserialize_key=self._settings.deserialize_key,
                deserialize_value=self._settings.deserialize_value,
            )
            self.completed.append(batch)

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def close_sessions(self) -> bool:
        """Send the last acknowledgements, with which the brokers release the rest, to those that are free; returns
        whether all sessions are closed. To be called until then."""
        for broker in self._brokers.values():
            if not broker.is_busy and not broker.session.is_new:
                self._acknowledge(broker, self._take(broker), close=True)
        return not any(broker.is_busy or not broker.session.is_new for broker in self._brokers.values())
