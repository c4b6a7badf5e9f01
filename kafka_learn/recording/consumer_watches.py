"""Watches for a new consumer: positions, its state in the group, futures and their results."""

from __future__ import annotations

import sys
from typing import Any

from kafka_learn.recording.recorded_run import Detail, Kind
from kafka_learn.recording.recorder import Call, Watch
from kafka_learn.recording.run_brokers import Crash
from kafka_learn.recording.summaries import Short, class_name, summary
from kafka_learn.recording.watches import watch
from kafka_lite.clients.request_future import RequestFuture
from kafka_lite.consumer.consumer_network_client import ConsumerNetworkClient
from kafka_lite.consumer.consumer_record import ConsumerRecord, ConsumerRecords
from kafka_lite.consumer.fetcher import Fetcher
from kafka_lite.consumer.group.abstract_coordinator import AbstractCoordinator
from kafka_lite.consumer.kafka_consumer import KafkaConsumer
from kafka_lite.consumer.offset_and_metadata import OffsetAndMetadata
from kafka_lite.consumer.subscription_state import TopicPartitionState
from kafka_lite.protocol.api_keys import ApiKey

SUBSCRIPTION = "SubscriptionState"


@summary.register
def _(value: ConsumerRecord) -> Short:
    return f"@{value.offset}"


@summary.register
def _(value: ConsumerRecords) -> Short:
    return f"offsets {offsets_in_words(list(value))}" if value else "nothing"


@summary.register
def _(value: OffsetAndMetadata) -> Short:
    return value.offset


def offsets_in_words(records: list[ConsumerRecord]) -> str:
    """The offsets of one partition's records as a range, such as ``0–2``."""
    first, last = records[0].offset, records[-1].offset
    return str(first) if first == last else f"{first}–{last}"


# ── positions ───────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_positions(*attributes: str) -> list[Watch]:
    """``position`` and ``committed`` of the partition, whenever they change, in the lane ``SubscriptionState``."""
    watched = attributes or ("position", "committed")

    def before(call: Call) -> None:
        if (name := call.argument("name")) in watched:
            call.scratch = getattr(call.subject, name, None)

    def after(call: Call) -> None:
        name = call.argument("name")
        if name in watched and call.error is None:
            was, now = summary(call.scratch), summary(getattr(call.subject, name))
            if was != now:
                call.emit(Kind.STATE, SUBSCRIPTION, name, {"before": was, "after": now})

    return [Watch(TopicPartitionState, "__setattr__", before, after)]


def poll_watches() -> list[Watch]:
    """The calls of a poll, from the user down to the network, without the coordinator."""
    return [
        *watch(KafkaConsumer.poll, Fetcher.fetched_records, Fetcher.send_fetches, show=()),
        *watch(ConsumerNetworkClient.poll, Fetcher._handle_response, show=()),
        *watch_positions("position"),
    ]


# ── the group ───────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_member_state() -> list[Watch]:
    """UNJOINED, REBALANCING, STABLE, in the lane ``ConsumerCoordinator``."""

    def before(call: Call) -> None:
        call.scratch = call.subject.state

    def after(call: Call) -> None:
        now = call.subject.state
        if call.error is None and now is not call.scratch:
            detail = {"before": call.scratch.name, "after": now.name}
            call.emit(Kind.STATE, class_name(call.subject), "state", detail)

    return [Watch.of(AbstractCoordinator._transition_to, before, after)]


def watch_deaths() -> list[Watch]:
    """The end of a consumer whose process dies, in the lane of its thread."""

    def dies(call: Call) -> None:
        call.emit(Kind.NOTE, call.actor, "dies" if isinstance(sys.exception(), Crash) else "ends")

    return [Watch.of(KafkaConsumer.close, before=dies)]


# ── futures ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_futures() -> list[Watch]:
    """Each future in its own lane: how it was created, what was composed from it, how it completed.

    ``1 JoinGroup response`` is the future of a request; ``2 by JoinGroupResponseHandler`` was composed by an adapter.
    Futures are numbered in order of creation.
    """
    names = _FutureNames()
    who = names.of_subject
    return [
        Watch.of(ConsumerNetworkClient.send, names.sending, names.made),
        Watch.of(RequestFuture.compose, names.composing, names.made),
        *watch(RequestFuture.chain, show=lambda call: {"to": names.of(call.argument("future"))}, who=who),
        *watch(RequestFuture.complete, show=(), who=who),
        *watch(
            RequestFuture.fail, show=lambda call: {"reason": _reason(call.argument("reason"))}, who=names.of_subject
        ),
    ]


class _FutureNames:
    def __init__(self) -> None:
        self._known: dict[int, tuple[RequestFuture[Any], str]] = {}

    def of(self, future: RequestFuture[Any]) -> str:
        """A future's name; futures whose creation was not recorded were already complete when created."""
        return self._known.get(id(future), (future, "RequestFuture"))[1]

    def of_subject(self, call: Call) -> str:
        return self.of(call.subject)

    def sending(self, call: Call) -> None:
        request = "".join(part.capitalize() for part in ApiKey(call.argument("builder").api_key).name.split("_"))
        self._begin(call, class_name(call.subject), {"request": request}, f"{request} response")

    def composing(self, call: Call) -> None:
        adapter = class_name(call.argument("adapter")).lstrip("_")
        self._begin(call, self.of(call.subject), {"adapter": adapter}, f"by {adapter}")

    def _begin(self, call: Call, who: str, detail: Detail, name_of_result: str) -> None:
        call.scratch = (who, name_of_result)
        call.number = call.recording.new_number()
        call.emit(Kind.CALL, who, call.watch.name, detail, number=call.number)

    def made(self, call: Call) -> None:
        who, name = call.scratch
        if call.error is None:
            name = f"{len(self._known) + 1} {name}"
            self._known[id(call.result)] = (call.result, name)
        call.emit(Kind.RETURN, who, call.watch.name, {"result": name}, number=call.number)


def _reason(reason: Any) -> str:
    return str(getattr(reason, "name", "") or getattr(getattr(reason, "error", None), "name", "") or class_name(reason))
