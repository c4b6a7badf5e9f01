"""Requests of members of share groups to the leaders of partitions: ShareFetch, ShareAcknowledge.

Kafka 4.1: core/.../server/KafkaApis.scala (handleShareFetchRequest, handleShareAcknowledgeRequest) · book 2.3.5
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.ids.topic_id_partition import TopicIdPartition
from kafka_lite.common.ids.uuids import decode_uuid, encode_uuid
from kafka_lite.common.sendable import size_of
from kafka_lite.common.topic_partition import TopicPartition, known_topic_partition
from kafka_lite.coordinator.group.modern.share_group_config import ShareGroupConfig
from kafka_lite.network.request import Request
from kafka_lite.protocol.messages import api_78_share_fetch as fetch
from kafka_lite.protocol.messages import api_79_share_acknowledge as acknowledge
from kafka_lite.server.apis.api_handler import Respond
from kafka_lite.server.apis.leader_hints import CurrentLeader
from kafka_lite.server.apis.share.acknowledgement_batches import Batches, valid_batches
from kafka_lite.server.fetch_params import FetchParams
from kafka_lite.server.quotas.request_handler_helper import RequestHandlerHelper
from kafka_lite.server.share.delayed_share_fetch import SharePartitionData
from kafka_lite.server.share.share_partition_manager import (
    FetchRequest,
    Outcomes,
    PendingOutcomes,
    SharePartitionManager,
)
from kafka_lite.server.share.share_session import FINAL_EPOCH, INITIAL_EPOCH, ShareSessionKey

ERRORS_WITH_LEADER = frozenset({Errors.NOT_LEADER_OR_FOLLOWER, Errors.FENCED_LEADER_EPOCH})
Results = dict[TopicIdPartition, SharePartitionData]
BYTES_OF_PARTITION = 64
"""About what a partition takes in a response beside its records."""


class KnownTopics(NamedTuple):
    """The metadata cache, as far as these requests need it."""

    name_of: Callable[[UUID], str | None]
    has_partition: Callable[[TopicPartition], bool]
    denied: Callable[[Request, set[str]], set[str]] | None
    """The topics that a client may not read; None without an authorizer."""


class ShareFetchApis:
    """Handlers that translate between the wire and the share partitions. None of them blocks."""

    def __init__(
        self,
        manager: SharePartitionManager,
        topics: KnownTopics,
        config_of: Callable[[str], ShareGroupConfig],
        current_leader: CurrentLeader,
        request_helper: RequestHandlerHelper,
        fetch_max_bytes: int,
        later: Callable[[float, Callable[[], None]], None],
    ) -> None:
        """``later(ms, do)`` calls ``do`` after a time."""
        self._manager = manager
        self._topics = topics
        self._config_of = config_of
        self._current_leader = current_leader
        self._request_helper = request_helper
        self._fetch_max_bytes = fetch_max_bytes
        self._later = later

    # ── ShareFetch ────────────────────────────────────────────────────────────────────────────────────────────────

    def handle_share_fetch(self, request: Request, body: fetch.ShareFetchRequest, respond: Respond) -> None:
        """Acknowledge what the request says of earlier records, and acquire others from all partitions of the session.

        A client that gets SHARE_SESSION_LIMIT_REACHED waits for that as long as it would wait for records.
        """
        acknowledgements = _acknowledgements(body.topics)
        try:
            key = _session_key(body.group_id, body.member_id)
            partitions = self._session_partitions(request, body, key, bool(acknowledgements))
        except ApiError as failure:
            response = fetch.ShareFetchResponse(error_code=failure.error.code, error_message=str(failure))
            if failure.error is Errors.SHARE_SESSION_LIMIT_REACHED:
                self._later(body.max_wait_ms, lambda: respond(response))
            else:
                respond(response)
            return
        both = _Both(lambda results, outcomes: respond(self._fetched(request, body, key, results, outcomes)))
        self._acknowledge(request, key, acknowledgements, both.acknowledged)
        self._fetch(request, body, key, partitions, both.fetched)

    def _session_partitions(
        self, request: Request, body: fetch.ShareFetchRequest, key: ShareSessionKey, has_acknowledgements: bool
    ) -> list[TopicIdPartition]:
        if body.share_session_epoch == INITIAL_EPOCH and has_acknowledgements:
            raise Errors.INVALID_REQUEST.exception("a request that opens a session has nothing to acknowledge")
        named = [
            TopicIdPartition(topic.topic_id, each.partition_index) for topic in body.topics for each in topic.partitions
        ]
        forgotten = [
            TopicIdPartition(topic.topic_id, at) for topic in body.forgotten_topics_data for at in topic.partitions
        ]
        epoch, connection = body.share_session_epoch, request.connection_id
        return self._manager.sessions.fetch(key, epoch, list(dict.fromkeys(named)), forgotten, connection)

    def _fetch(
        self,
        request: Request,
        body: fetch.ShareFetchRequest,
        key: ShareSessionKey,
        partitions: Sequence[TopicIdPartition],
        respond: Callable[[Results], None],
    ) -> None:
        logs, failed = self._logs_of(request, partitions)
        results = {at: SharePartitionData(error, error.message) for at, error in failed.items()}
        if not logs:
            respond(results)
            return
        max_bytes = max(0, min(body.max_bytes, self._fetch_max_bytes))
        if self._request_helper.quotas.is_enabled:
            max_bytes = min(max_bytes, self._request_helper.max_fetch_bytes(request))
        params = FetchParams(
            -1,
            body.max_wait_ms,
            min(body.min_bytes, max_bytes),
            max_bytes,
            hard_max_bytes=False,
            committed_only=self._config_of(key.group_id).committed_only,
        )
        params.when_client_leaves = request.when_client_leaves
        wanted = FetchRequest(
            key.group_id,
            encode_uuid(key.member_id),
            body.share_session_epoch,
            params,
            body.max_records,
            body.batch_size,
        )
        self._manager.fetch_messages(wanted, logs, lambda found: respond(results | found))

    def _fetched(
        self,
        request: Request,
        body: fetch.ShareFetchRequest,
        key: ShareSessionKey,
        results: Results,
        outcomes: Outcomes,
    ) -> fetch.ShareFetchResponse | None:
        epoch = body.share_session_epoch
        if epoch == FINAL_EPOCH:
            self._manager.release_session(key)
        if request.client_has_left:
            self._manager.release_acquired_records(key, [at for at, data in results.items() if data.acquired])
            return None
        try:
            told = [(at, bool(data.acquired), data.error is not Errors.NONE) for at, data in results.items()]
            selected = self._manager.sessions.select(key, epoch, told)
        except ApiError as failure:
            return fetch.ShareFetchResponse(error_code=failure.error.code, error_message=str(failure))
        response = fetch.ShareFetchResponse(
            acquisition_lock_timeout_ms=self._config_of(key.group_id).record_lock_duration_ms
        )
        topics: dict[UUID, list[fetch.PartitionData]] = {}
        for at in dict.fromkeys([*selected, *outcomes]):
            data = _partition_data(at, results.get(at, SharePartitionData()), outcomes.get(at))
            topics.setdefault(at.topic_id, []).append(data)
        response.responses = [
            fetch.ShareFetchableTopicResponse(topic_id=topic_id, partitions=data) for topic_id, data in topics.items()
        ]
        leaders = self._name_leaders(response.responses, request.listener_name)
        response.node_endpoints = [fetch.NodeEndpoint(**node) for node in leaders]
        if self._request_helper.quotas.is_enabled:
            sizes = [size_of(each.records or b"") + BYTES_OF_PARTITION for data in topics.values() for each in data]
            # The records are sent all the same: they are acquired, and nobody else would get them for a while.
            response.throttle_time_ms = self._request_helper.throttle_fetch(request, sum(sizes))
        return response

    # ── ShareAcknowledge ──────────────────────────────────────────────────────────────────────────────────────────

    def handle_share_acknowledge(
        self, request: Request, body: acknowledge.ShareAcknowledgeRequest, respond: Respond
    ) -> None:
        """Acknowledge records; with the final epoch, close the session then."""
        try:
            key = _session_key(body.group_id, body.member_id)
            self._manager.sessions.acknowledge(key, body.share_session_epoch)
        except ApiError as failure:
            error = failure.error
            respond(acknowledge.ShareAcknowledgeResponse(error_code=error.code, error_message=str(failure)))
            return

        def complete(outcomes: Outcomes) -> None:
            if body.share_session_epoch == FINAL_EPOCH:
                self._manager.release_session(key)
            respond(self._acknowledged(request, outcomes))

        named = _acknowledgements(body.topics, with_empty=True)
        self._acknowledge(request, key, named, complete)

    def _acknowledged(self, request: Request, outcomes: Outcomes) -> acknowledge.ShareAcknowledgeResponse:
        topics: dict[UUID, list[acknowledge.PartitionData]] = {}
        for at, failure in outcomes.items():
            data = acknowledge.PartitionData(partition_index=at.partition)
            if failure is not None:
                data.error_code, data.error_message = failure.error.code, str(failure)
            topics.setdefault(at.topic_id, []).append(data)
        responses = [
            acknowledge.ShareAcknowledgeTopicResponse(topic_id=topic_id, partitions=data)
            for topic_id, data in topics.items()
        ]
        nodes = [acknowledge.NodeEndpoint(**node) for node in self._name_leaders(responses, request.listener_name)]
        return acknowledge.ShareAcknowledgeResponse(responses=responses, node_endpoints=nodes)

    # ── both ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def _acknowledge(
        self,
        request: Request,
        key: ShareSessionKey,
        said: dict[TopicIdPartition, Batches],
        respond: Callable[[Outcomes], None],
    ) -> None:
        _, failed = self._logs_of(request, list(said))
        outcomes: Outcomes = {at: error.exception() for at, error in failed.items()}
        to_do = {}
        for at, batches in said.items():
            if at in failed:
                continue
            try:
                to_do[at] = valid_batches(batches)
            except ApiError as failure:
                outcomes[at] = failure
        nothing = [at for at, batches in to_do.items() if not batches]
        outcomes |= dict.fromkeys(nothing)
        to_do = {at: batches for at, batches in to_do.items() if batches}
        if to_do:
            member_id = encode_uuid(key.member_id)
            self._manager.acknowledge(key.group_id, member_id, to_do, lambda found: respond(outcomes | found))
        else:
            respond(outcomes)

    def _logs_of(
        self, request: Request, partitions: Sequence[TopicIdPartition]
    ) -> tuple[dict[TopicIdPartition, TopicPartition], dict[TopicIdPartition, Errors]]:
        """The partitions by name, and the errors of those that are unknown, or that the client may not read."""
        names = {at.topic_id: self._topics.name_of(at.topic_id) for at in partitions}
        known = {name for name in names.values() if name is not None}
        denied = set() if self._topics.denied is None or not known else self._topics.denied(request, known)
        logs, failed = {}, {}
        for at in partitions:
            name = names[at.topic_id]
            if name is None:
                failed[at] = Errors.UNKNOWN_TOPIC_ID
            elif name in denied:
                failed[at] = Errors.TOPIC_AUTHORIZATION_FAILED
            elif not self._topics.has_partition(log := known_topic_partition(name, at.partition)):
                failed[at] = Errors.UNKNOWN_TOPIC_OR_PARTITION
            else:
                logs[at] = log
        return logs, failed

    def _name_leaders(self, topics: Iterable[Any], listener_name: str) -> list[dict[str, Any]]:
        """Say who leads the partitions that this broker does not lead; returns the addresses."""
        nodes: dict[int, dict[str, Any]] = {}
        for topic in topics:
            for data in topic.partitions:
                if Errors.for_code(data.error_code) not in ERRORS_WITH_LEADER:
                    continue
                name = self._topics.name_of(topic.topic_id)
                if name is None:
                    continue
                leader = self._current_leader(TopicPartition(name, data.partition_index), listener_name)
                data.current_leader.leader_id, data.current_leader.leader_epoch = leader.leader_id, leader.leader_epoch
                if (node := leader.node) is not None:
                    nodes[node.id] = {"node_id": node.id, "host": node.host, "port": node.port, "rack": node.rack}
        return list(nodes.values())


def _session_key(group_id: str | None, member_id: str | None) -> ShareSessionKey:
    try:
        return ShareSessionKey(group_id or "", decode_uuid(member_id or ""))
    except ValueError as failure:
        message = f"{member_id!r} is not the id of a member"
        raise Errors.UNKNOWN_SERVER_ERROR.exception(message) from failure  # as in Kafka, which fails to parse it


def _acknowledgements(topics: Iterable[Any], *, with_empty: bool = False) -> dict[TopicIdPartition, Batches]:
    return {
        TopicIdPartition(topic.topic_id, each.partition_index): each.acknowledgement_batches
        for topic in topics
        for each in topic.partitions
        if each.acknowledgement_batches or with_empty
    }


def _partition_data(at: TopicIdPartition, data: SharePartitionData, failure: ApiError | None) -> fetch.PartitionData:
    made = fetch.PartitionData(
        partition_index=at.partition,
        error_code=data.error.code,
        error_message=data.message,
        records=data.records,
        acquired_records=[
            fetch.AcquiredRecords(first_offset=first, last_offset=last, delivery_count=count)
            for first, last, count in data.acquired
        ],
    )
    if failure is not None:
        made.acknowledge_error_code, made.acknowledge_error_message = failure.error.code, str(failure)
    return made


class _Both:
    """Waits for the records and for the outcomes of acknowledgements."""

    def __init__(self, respond: Callable[[Results, Outcomes], None]) -> None:
        self._results: Results = {}
        self._outcomes: Outcomes = {}
        parts = [TopicIdPartition(UUID(int=0), number) for number in range(2)]
        self._first, self._second = parts
        self._pending = PendingOutcomes(parts, lambda _parts: respond(self._results, self._outcomes))

    def fetched(self, results: Results) -> None:
        """The records are there."""
        self._results = results
        self._pending.add(self._first, None)

    def acknowledged(self, outcomes: Outcomes) -> None:
        """The outcomes are there."""
        self._outcomes = outcomes
        self._pending.add(self._second, None)
