"""Watches for a new producer: its batches and their memory, its connections, its selector."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kafka_learn.recording.recorded_run import Detail, Kind
from kafka_learn.recording.recorder import Call, Watch
from kafka_learn.recording.summaries import Short, class_name, summary
from kafka_learn.recording.watches import Things
from kafka_lite.clients.cluster_connection_states import ClusterConnectionStates
from kafka_lite.clients.in_flight_requests import InFlightRequest, InFlightRequests
from kafka_lite.log.producers.producer_state_entry import BatchMetadata
from kafka_lite.network.kafka_channel import KafkaChannel
from kafka_lite.network.nio_selector import READ, WRITE
from kafka_lite.network.selector import Selector
from kafka_lite.network.send import NetworkSend
from kafka_lite.network.transport_layer import TransportLayer
from kafka_lite.producer.buffer_pool import BufferPool
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.record_accumulator import RecordAccumulator, RecordAppendResult
from kafka_lite.record.record_batch import RecordBatch
from kafka_lite.record.records import batches

FILLING, FULL, IN_FLIGHT, RETRY = "FILLING", "FULL", "IN FLIGHT", "RETRY"
AVAILABLE_MEMORY = "available memory"


@summary.register
def _(value: RecordAppendResult) -> Short:
    facts = ("begins a batch" if value.new_batch_created else "", "a batch is full" if value.batch_is_full else "")
    return ", ".join(filter(None, facts)) or "appended"


@summary.register
def _(value: BatchMetadata) -> Short:
    last = value.last_offset
    return f"it has offset {last}" if not value.offset_delta else f"it has offsets {last - value.offset_delta}–{last}"


# ── batches ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_batches() -> list[Watch]:
    """The life of each batch: FILLING, FULL, IN FLIGHT, RETRY, and its final state.

    Batches are named after their partition and numbered from 1, such as ``demo-0 #1``. They are handed over, as
    through a queue, from the thread that appends the first record to the thread that drains; after a retry, from that
    thread to itself.
    """
    lives = _BatchLives()
    return [
        Watch.of(ProducerBatch.try_append, before=_nothing, after=lives.appended),
        Watch.of(RecordAccumulator._close, before=lives.drained),
        Watch.of(RecordAccumulator.reenqueue, before=lives.reenqueued),
        Watch.of(ProducerBatch._end, before=_nothing, after=lives.ended),
    ]


class _BatchLives:
    def __init__(self) -> None:
        self._named: dict[ProducerBatch, str] = {}
        self._states: dict[ProducerBatch, str] = {}
        self._numbers: Counter[str] = Counter()
        self._queued = Things(id)

    def appended(self, call: Call) -> None:
        """The accumulator's lock is held here, so no other thread has the batch yet."""
        batch: ProducerBatch = call.subject
        if batch not in self._named:
            self._begin(batch)
            self._change(call, batch, FILLING)
            self._put(call, batch)
        if self._states[batch] == FILLING and (call.result is None or batch.is_full):
            self._change(call, batch, FULL)

    def _begin(self, batch: ProducerBatch) -> None:
        partition = str(batch.topic_partition)
        self._numbers[partition] += 1
        self._named[batch] = f"{partition} #{self._numbers[partition]}"

    def drained(self, call: Call) -> None:
        batch: ProducerBatch = call.argument("batch")
        if number := self._queued.take(batch):
            detail = {"thing": self._named[batch]}
            call.emit(Kind.TAKE, "RecordAccumulator", "batch", detail, number=number)
            self._change(call, batch, IN_FLIGHT)

    def reenqueued(self, call: Call) -> None:
        batch: ProducerBatch = call.argument("batch")
        if batch in self._named:
            self._change(call, batch, RETRY)
            self._put(call, batch)

    def ended(self, call: Call) -> None:
        batch: ProducerBatch = call.subject
        if call.result and batch in self._named:
            self._change(call, batch, batch.final_state.name if batch.final_state is not None else "")

    def _put(self, call: Call, batch: ProducerBatch) -> None:
        number = self._queued.put(batch, call)
        call.emit(Kind.PUT, "RecordAccumulator", "batch", {"thing": self._named[batch]}, number=number)

    def _change(self, call: Call, batch: ProducerBatch, state: str) -> None:
        before = self._states.get(batch)
        self._states[batch] = state
        detail = {"before": before, "after": state, "records": batch.record_count, "bytes": batch.size_in_bytes}
        call.emit(Kind.STATE, "ProducerBatch", self._named[batch], detail, where=str(batch.topic_partition))


def _nothing(call: Call) -> None:
    """Makes ``after`` ignore calls that began before the recording was running."""


def watch_memory() -> list[Watch]:
    """The free bytes of a ``BufferPool``, whenever they change."""
    last: dict[int, int] = {}

    def before(call: Call) -> None:
        last.setdefault(id(call.subject), call.subject.available_memory)

    def after(call: Call) -> None:
        pool: BufferPool = call.subject
        was, now = last[id(pool)], pool.available_memory
        last[id(pool)] = now
        if was != now:
            detail = {"before": was, "after": now, "total": pool.total_memory}
            call.emit(Kind.STATE, "BufferPool", AVAILABLE_MEMORY, detail)

    return [Watch.of(BufferPool.allocate, before, after), Watch.of(BufferPool.deallocate, before, after)]


def contents(batch: ProducerBatch) -> str:
    """The values of a closed batch, with its base sequence if it has one: ``A, B (sequence 4)``."""
    return of_batches(batches(batch.records))


def of_batches(found: Iterable[RecordBatch]) -> str:
    """The values of several batches, each as ``contents`` shows it."""
    words = []
    for batch in found:
        values = ", ".join((record.value or b"").decode("utf-8", "replace") for record in batch.records())
        words.append(f"{values} (sequence {batch.base_sequence})" if batch.base_sequence >= 0 else values)
    return "; ".join(words)


# ── connections ─────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_connection_states() -> list[Watch]:
    """The state of the connection to each node. Nodes below 0 are those of ``bootstrap.servers``."""

    def before(call: Call) -> None:
        call.scratch = call.subject.state(call.argument("node"))

    def after(call: Call) -> None:
        node = call.argument("node")
        if call.error is None:
            detail = {"before": call.scratch.name, "after": call.subject.state(node).name}
            call.emit(Kind.STATE, "ClusterConnectionStates", f"node {node}", detail)

    return [Watch.of(ClusterConnectionStates._transition_to, before, after)]


def watch_in_flight() -> list[Watch]:
    """The number of requests in flight to each node, and which request was added or completed."""

    def added(call: Call) -> None:
        request: InFlightRequest = call.argument("request")
        _note_count(call, request, call.subject.count(request.request.destination), +1)

    def completed(call: Call) -> None:
        if call.error is None:
            _note_count(call, call.result, call.subject.count(call.argument("node")), -1)

    def cleared(call: Call) -> None:
        for left, request in zip(reversed(range(len(call.result))), call.result, strict=True):
            _note_count(call, request, left, -1)

    return [
        Watch.of(InFlightRequests.add, _nothing, added),
        Watch.of(InFlightRequests.complete_next, _nothing, completed),
        Watch.of(InFlightRequests.complete_last_sent, _nothing, completed),
        Watch.of(InFlightRequests.clear_all, _nothing, cleared),
    ]


def _note_count(call: Call, in_flight: InFlightRequest, count: int, change: int) -> None:
    request = in_flight.request
    detail: Detail = {
        "before": count - change,
        "after": count,
        "request": f"{request.builder.api_key.name} v{in_flight.api_version}",
        "correlation_id": request.correlation_id,
    }
    call.emit(Kind.STATE, "InFlightRequests", f"node {request.destination}", detail)


# ── the selector ────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_interest() -> list[Watch]:
    """The events of each socket that the selector waits for, whenever they change."""

    def before(call: Call) -> None:
        call.scratch = call.subject._interest

    def after(call: Call) -> None:
        channel = call.subject._attachment
        detail = {"before": interest_word(call.scratch), "after": interest_word(call.subject._interest)}
        where = channel.id if isinstance(channel, KafkaChannel) else ""
        call.emit(Kind.STATE, "KafkaChannel", "interest", detail, where=where)

    return [Watch.of(TransportLayer._set_interest, before, after)]


def interest_word(events: int) -> str:
    """Interest as words: ``none``, ``READ``, ``WRITE`` or ``READ | WRITE``."""
    names = [name for name, bit in (("READ", READ), ("WRITE", WRITE)) if events & bit]
    return " | ".join(names) or "none"


def watch_transfers() -> list[Watch]:
    """The bytes of a frame that each write hands to the kernel, and that each read returns."""

    def before_write(call: Call) -> None:
        call.scratch = call.subject.remaining_bytes
        call.hold_place()  # the peer may have it before this thread continues

    def after_write(call: Call) -> None:
        send: NetworkSend = call.subject
        detail = {"before": call.scratch, "after": send.remaining_bytes}
        call.emit(Kind.STATE, "KafkaChannel", "bytes to send", detail, where=send.destination)

    def before_read(call: Call) -> None:
        call.scratch = _read_state(call.subject)

    def after_read(call: Call) -> None:
        channel: KafkaChannel = call.subject
        detail = {"before": call.scratch, "after": _read_state(channel)}
        call.emit(Kind.STATE, "KafkaChannel", "receive", detail, where=channel.id)

    return [
        Watch.of(NetworkSend.write_to, before_write, after_write),
        Watch.of(KafkaChannel.read, before_read, after_read),
    ]


def watch_polls() -> list[Watch]:
    """The results of each poll that returns something to the selector's owner."""

    def after(call: Call) -> None:
        selector: Selector = call.subject
        found = {
            "connected": len(selector.connected),
            "disconnected": len(selector.disconnected),
            "sent": len(selector.completed_sends),
            "received": len(selector.completed_receives),
        }
        words = [f"{count} {name}" for name, count in found.items() if count]
        if words:
            call.emit(Kind.NOTE, class_name(selector), f"→ {', '.join(words)}")

    return [Watch.of(Selector.poll, _nothing, after)]


def _read_state(channel: KafkaChannel) -> str:
    """How much of a frame has arrived: nothing, part of its size, part of its payload, or whole frames."""
    receive = channel._receive
    complete = f"{len(channel.staged)} complete" if channel.staged else ""
    if receive is None:
        return complete or "nothing"
    if receive.size < 0:
        begun = f"{len(receive._size_bytes)} of 4 bytes of a size"
    else:
        begun = f"{receive.size - receive.missing_bytes} of {receive.size} bytes"
    return f"{complete}, {begun}" if complete else begun
