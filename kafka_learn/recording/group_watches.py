"""Watches for consumer groups: states, members, delayed operations, requests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from kafka_learn.recording.recorded_run import Detail, Kind
from kafka_learn.recording.recorder import Call, Watch
from kafka_learn.recording.summaries import class_name
from kafka_learn.recording.watches import Things, watch_states
from kafka_lite.clients.in_flight_requests import InFlightRequest, InFlightRequests
from kafka_lite.clients.network_client import NetworkClient
from kafka_lite.common.errors import Errors
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.consumer.assignors.partition_assignor import deserialize_assignment
from kafka_lite.consumer.group.consumer_coordinator import ConsumerCoordinator
from kafka_lite.coordinator.group.delayed_heartbeat import DelayedHeartbeat
from kafka_lite.coordinator.group.delayed_join import DelayedJoin, InitialDelayedJoin
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_rebalancer import GroupRebalancer
from kafka_lite.coordinator.group.member_metadata import MemberMetadata
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel, Response
from kafka_lite.protocol.api_keys import ApiKey
from kafka_lite.server.apis.consumer_group_apis import ConsumerGroupApis
from kafka_lite.server.apis.group_apis import GroupApis
from kafka_lite.server.apis.offset_apis import OffsetApis

COORDINATOR = "GroupCoordinator"
GROUP = "GroupMetadata"
MEMBERS_REQUESTS = {
    ApiKey.JOIN_GROUP: "JoinGroup",
    ApiKey.SYNC_GROUP: "SyncGroup",
    ApiKey.HEARTBEAT: "Heartbeat",
    ApiKey.LEAVE_GROUP: "LeaveGroup",
    ApiKey.OFFSET_COMMIT: "OffsetCommit",
    ApiKey.CONSUMER_GROUP_HEARTBEAT: "ConsumerGroupHeartbeat",
}


def _itself(key: Hashable) -> Hashable:
    return key


def _nothing(call: Call) -> None:
    """Makes ``after`` ignore calls that began before the recording was running."""


# ── requests ────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_group_requests(*names: str) -> list[Watch]:
    """Requests of members, and the coordinator's responses.

    A member's lane is named after its ``client.id``. A request is put when the member creates it, and taken when its
    handler begins. The response is put when the coordinator calls back, immediately or later, and taken when the member
    has decoded it. ``names`` selects requests; the default is all of ``MEMBERS_REQUESTS``.
    """
    wire = _GroupWire(names or tuple(MEMBERS_REQUESTS.values()))
    handlers = (
        GroupApis.handle_join_group, GroupApis.handle_sync_group, GroupApis.handle_heartbeat,
        GroupApis.handle_leave_group, OffsetApis.handle_offset_commit, ConsumerGroupApis.handle_heartbeat,
    )  # fmt: skip
    return [
        Watch.of(InFlightRequests.add, before=wire.request_made),
        *(Watch.of(handler, before=wire.request_taken) for handler in handlers),
        Watch.of(RequestChannel.send_response, before=wire.responded),
        Watch.of(NetworkClient._parse, after=wire.response_parsed),
    ]


class _GroupWire:
    """Both ends identify a request by client id and correlation id."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._requests = Things(_itself)
        self._responses = Things(_itself)

    def _name(self, api_key: int) -> str | None:
        name = MEMBERS_REQUESTS.get(ApiKey(api_key))
        return name if name in self._names else None

    def request_made(self, call: Call) -> None:
        in_flight: InFlightRequest = call.argument("request")
        request = in_flight.request
        name = self._name(request.builder.api_key)
        if name is not None and (number := self._requests.put((request.client_id, request.correlation_id), call)):
            says = _request_in_words(request.builder.build(in_flight.api_version))
            call.emit(Kind.PUT, request.client_id, name, {"says": says} if says else {}, number=number)

    def request_taken(self, call: Call) -> None:
        # The first parameter of a handler that does not need the request is called _request.
        request: Request = call.argument("request") or call.argument("_request")
        name = self._name(request.header.api_key)
        number = self._requests.take((request.header.client_id, request.header.correlation_id))
        if name is not None and number:
            call.emit(Kind.TAKE, COORDINATOR, name, number=number)

    def responded(self, call: Call) -> None:
        response: Response = call.argument("response")
        header = response.request.header
        name = self._name(header.api_key)
        if name is not None and (number := self._responses.put((header.client_id, header.correlation_id), call)):
            call.emit(Kind.PUT, COORDINATOR, f"{name} response", number=number)

    def response_parsed(self, call: Call) -> None:
        in_flight: InFlightRequest = call.argument("in_flight")
        request = in_flight.request
        name = self._name(request.builder.api_key)
        number = self._responses.take((request.client_id, request.correlation_id))
        if name is not None and number and call.error is None:
            says = _response_in_words(call.result)
            call.emit(Kind.TAKE, request.client_id, f"{name} response", {"says": says} if says else {}, number=number)


def _request_in_words(request: Any) -> str:
    match type(request).__name__:
        case "JoinGroupRequest":
            return "with its id" if request.member_id else "without an id"
        case "SyncGroupRequest":
            return f"parts for {len(request.assignments)}" if request.assignments else ""
        case "HeartbeatRequest":
            return f"generation {request.generation_id}"
        case "OffsetCommitRequest":
            offsets = (
                f"{t.name}-{p.partition_index}={p.committed_offset}" for t in request.topics for p in t.partitions
            )
            return f"generation {request.generation_id_or_member_epoch}: {' '.join(sorted(offsets))}"
        case "ConsumerGroupHeartbeatRequest":
            if request.topic_partitions is not None:
                return f"epoch {request.member_epoch}, I have {_partitions_of(request)}"
            return "" if request.member_epoch > 0 else f"epoch {request.member_epoch}"
    return ""


def _response_in_words(response: Any) -> str:
    error = Errors.for_code(_error_code(response))
    if error is not Errors.NONE:
        return error.name
    match type(response).__name__:
        case "JoinGroupResponse":
            leads = response.leader == response.member_id
            return f"generation {response.generation_id}" + (f", leader of {len(response.members)}" if leads else "")
        case "SyncGroupResponse":
            partitions = deserialize_assignment(bytes(response.assignment)).partitions
            return " ".join(map(str, sorted(partitions))) or "nothing"
        case "ConsumerGroupHeartbeatResponse":
            use = response.assignment
            return f"epoch {response.member_epoch}" + ("" if use is None else f", use {_partitions_of(use)}")
    return error.name


def _partitions_of(message: Any) -> str:
    """The numbers of the partitions of all topics."""
    return " ".join(str(each) for topic in message.topic_partitions for each in sorted(topic.partitions)) or "nothing"


def _error_code(response: Any) -> int:
    """The response's error, or that of its first partition or member with an error."""
    if type(response).__name__ == "OffsetCommitResponse":
        codes = (partition.error_code for topic in response.topics for partition in topic.partitions)
        return next(filter(None, codes), 0)
    members = getattr(response, "members", None) or ()
    return int(response.error_code or next((m.error_code for m in members if getattr(m, "error_code", 0)), 0))


# ── the coordinator ─────────────────────────────────────────────────────────────────────────────────────────────────


def watch_groups() -> list[Watch]:
    """The state of each group, and the members that join and leave, by client id."""

    def before_remove(call: Call) -> None:
        call.scratch = call.subject.members.get(call.argument("member_id"))

    def after_remove(call: Call) -> None:
        if call.scratch is not None:
            call.emit(Kind.NOTE, GROUP, f"− {call.scratch.client_id}", where=call.subject.group_id)

    def after_add(call: Call) -> None:
        member: MemberMetadata = call.argument("member")
        call.emit(Kind.NOTE, GROUP, f"+ {member.client_id}", where=call.subject.group_id)

    return [
        *watch_states(GroupMetadata),
        Watch.of(GroupMetadata.add, _nothing, after_add),
        Watch.of(GroupMetadata.remove, before_remove, after_remove),
    ]


def watch_delayed_joins() -> list[Watch]:
    """How long each DelayedJoin waits, in the lane ``DelayedJoin``."""
    waiting = _Waiting("DelayedJoin", class_name)

    def begins(call: Call) -> None:
        waiting.begin(call, call.argument("delayed_join"))

    def completes(call: Call) -> None:
        waiting.end(call, call.subject)

    return [
        Watch.of(GroupRebalancer.watch_join, before=begins),
        Watch.of(InitialDelayedJoin.on_complete, before=completes),
        Watch.of(DelayedJoin.on_complete, before=completes),
    ]


def watch_delayed_heartbeats(*clients: str) -> list[Watch]:
    """How long each DelayedHeartbeat waits, in the lane ``DelayedHeartbeat``; ``clients`` limits it to these clients.

    One that completes immediately, because the coordinator owes the member a response, is not shown.
    """
    waiting = _Waiting("DelayedHeartbeat", lambda operation: operation._member_id.partition("-")[0])

    def scheduled(call: Call) -> None:
        member: MemberMetadata = call.argument("member")
        operation = member.delayed_heartbeat
        if operation is not None and not operation.is_completed and (not clients or member.client_id in clients):
            waiting.begin(call, operation)

    def expires(call: Call) -> None:
        if waiting.has(call.subject):
            call.emit(Kind.NOTE, "DelayedHeartbeat", "the time is up")

    return [
        Watch.of(GroupRebalancer._schedule_next_expiration, _nothing, scheduled),
        Watch.of(DelayedHeartbeat.on_complete, before=lambda call: waiting.end(call, call.subject)),
        Watch.of(DelayedHeartbeat.on_expiration, before=expires),
    ]


class _Waiting:
    """Delayed operations of one kind, each drawn as an item in a queue of that name."""

    def __init__(self, lane: str, name: Callable[[Any], str]) -> None:
        self._lane = lane
        self._name = name
        self._things = Things(id)
        self._known: dict[int, Any] = {}

    def begin(self, call: Call, operation: Any) -> None:
        if number := self._things.put(operation, call):
            self._known[id(operation)] = operation
            detail = {"thing": f"{self._name(operation)}, ≤ {operation.delay_ms:g} ms"}
            call.emit(Kind.PUT, self._lane, "waits", detail, number=number)

    def end(self, call: Call, operation: Any) -> None:
        if number := self._things.take(operation):
            call.emit(Kind.TAKE, self._lane, "waits", number=number)
            call.emit(Kind.NOTE, self._lane, "complete")

    def has(self, operation: Any) -> bool:
        """Whether its beginning was recorded."""
        return id(operation) in self._known


# ── members ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_members() -> list[Watch]:
    """A member's actions between its requests: revoking partitions, assigning as the leader, taking over partitions.

    The member's thread must have the name of its lane.
    """

    def revoked(call: Call) -> None:
        owned = call.subject._subscriptions.assigned_partitions
        call.emit(Kind.NOTE, call.actor, f"on_join_prepare, had {_numbers(owned)}", _owned(owned))

    def assigned(call: Call) -> None:
        owned = call.subject._subscriptions.assigned_partitions
        call.emit(Kind.NOTE, call.actor, f"on_join_complete, has {_numbers(owned)}", _owned(owned))

    def leads(call: Call) -> None:
        call.emit(Kind.NOTE, call.actor, f"perform_assignment: {call.argument('protocol_name')}")

    return [
        Watch.of(ConsumerCoordinator.on_join_prepare, before=revoked),
        Watch.of(ConsumerCoordinator.on_join_complete, _nothing, assigned),
        Watch.of(ConsumerCoordinator.perform_assignment, before=leads),
    ]


def _owned(partitions: Iterable[TopicPartition]) -> Detail:
    return {"partitions": [partition.partition for partition in sorted(partitions)]}


def _numbers(partitions: Iterable[TopicPartition]) -> str:
    return " ".join(str(partition.partition) for partition in sorted(partitions)) or "nothing"
