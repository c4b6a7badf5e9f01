"""Watches for a broker and its clients in addition to calls: files, the wire, phases of requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator

from kafka_learn.recording.recorded_run import Kind
from kafka_learn.recording.recorder import Call, Watch
from kafka_learn.recording.summaries import class_name, fields, summary
from kafka_learn.recording.watches import Things
from kafka_lite.clients.in_flight_requests import InFlightRequest, InFlightRequests
from kafka_lite.clients.network_client import NetworkClient
from kafka_lite.common.sendable import Buffer, Part, size_of
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.log.files.file_message_set import FileMessageSet, FileMessageSetSlice
from kafka_lite.log.offset_index import OffsetIndex
from kafka_lite.log.time_index import TimeIndex
from kafka_lite.network.acceptor import Acceptor
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.network.kafka_channel import KafkaChannel
from kafka_lite.network.processor import Processor
from kafka_lite.network.receive import SIZE_BYTES
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel
from kafka_lite.network.selector import Selector
from kafka_lite.network.send import NetworkSend
from kafka_lite.protocol.schema import Request as RequestMessage

_CORRELATION_ID_BYTES = 4

# ── files ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_files() -> list[Watch]:
    """Segment appends and reads with positions, bytes sent with ``sendfile``, and entries of both indexes."""
    return [
        Watch.of(FileMessageSet.append, _note_size, _after_append),
        Watch.of(FileMessageSet.read, after=_after_read),
        Watch.of(FileMessageSetSlice.send_to, Call.hold_place, _after_send),
        Watch.of(OffsetIndex.append, _note_entries, _after_entry),
        Watch.of(TimeIndex.maybe_append, _note_entries, _after_entry),
    ]


def _note_size(call: Call) -> None:
    call.scratch = call.subject.size_in_bytes
    call.hold_place()


def _after_append(call: Call) -> None:
    if call.error is None:
        where = call.subject.file.name
        call.emit(Kind.FILE, "FileMessageSet", "append", {"position": call.scratch, "bytes": call.result}, where=where)


def _after_read(call: Call) -> None:
    piece = call.result
    if isinstance(piece, FileMessageSetSlice):
        where = call.subject.file.name
        detail = {"position": piece.position, "bytes": piece.size_in_bytes}
        call.emit(Kind.FILE, "FileMessageSet", "read", detail, where=where)


def _after_send(call: Call) -> None:
    if call.error is None:
        position = call.subject.position + call.argument("offset")
        call.emit(Kind.FILE, "FileMessageSetSlice", "sendfile", {"position": position, "bytes": call.result})


def _note_entries(call: Call) -> None:
    call.scratch = call.subject.entries


def _after_entry(call: Call) -> None:
    index = call.subject
    if index.entries > call.scratch:
        entry = index.entry(index.entries - 1)
        call.emit(Kind.FILE, class_name(index), "entry", entry._asdict(), where=index.file.name)


# ── the wire ────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_wire() -> list[Watch]:
    """Requests and responses between clients of this process and the processors of its brokers.

    Clients either block (``BlockingChannel``: the old producer, the runs' own clients) or have a ``Selector``
    (``NetworkClient``: the new producer). ``connect`` puts a connection and the acceptor takes it, in the order of
    the connects, so no other client should connect meanwhile. A request is put when the client begins to send it, and
    taken when the processor has read it. A response is put when the processor begins to send it, and taken when the
    client has decoded it. A client's lane is its thread's lane.
    """
    wire = _Wire()
    return [
        Watch.of(BlockingChannel.connect, before=wire.connecting),
        Watch.of(Selector.connect, wire.connecting_by_selector, wire.connect_begun),
        Watch.of(Acceptor._assign, before=wire.accepted),
        Watch.of(BlockingChannel.send, before=wire.request_sent),
        Watch.of(InFlightRequests.add, before=wire.request_made),
        Watch.of(Processor._request_of, after=wire.request_read),
        Watch.of(KafkaChannel.set_send, before=wire.send_begun),
        Watch.of(BlockingChannel.receive, wire.response_awaited, wire.response_received),
        Watch.of(NetworkClient._parse, after=wire.response_parsed),
    ]


class _Wire:
    """Both ends identify a frame by the client's port and the correlation id."""

    def __init__(self) -> None:
        self._requests = Things(_itself)
        self._responses = Things(_itself)
        self._connecting: deque[int] = deque()
        self._made: dict[NetworkSend, InFlightRequest] = {}
        """Requests of network clients that have not been given to a channel yet."""
        self._keys: dict[int, tuple[InFlightRequest, tuple[int, int]]] = {}
        """id(request) -> the request given to a channel and its key on the wire."""

    # ── connections ───────────────────────────────────────────────────────────────────────────────────────────────

    def connecting(self, call: Call) -> None:
        if call.subject._sock is None:
            self.connecting_by_selector(call)

    def connecting_by_selector(self, call: Call) -> None:
        number = call.recording.new_number()
        call.emit(Kind.PUT, call.actor, "connection", number=number)
        self._connecting.append(number)

    def connect_begun(self, call: Call) -> None:
        if call.error is not None:  # refused immediately, so it is never taken
            self._connecting.pop()

    def accepted(self, call: Call) -> None:
        # The client's port is not known yet, but the kernel accepts in the order of the connects.
        if self._connecting:
            call.emit(Kind.TAKE, call.actor, "connection", number=self._connecting.popleft())

    # ── requests ──────────────────────────────────────────────────────────────────────────────────────────────────

    def request_sent(self, call: Call) -> None:
        channel: BlockingChannel = call.subject
        if channel._sock is not None:
            key = (channel._sock.getsockname()[1], channel._correlation_id + 1)
            self._put_request(call, key, call.argument("request"), call.argument("version"))

    def request_made(self, call: Call) -> None:
        in_flight: InFlightRequest = call.argument("request")
        self._made[in_flight.send] = in_flight

    def send_begun(self, call: Call) -> None:
        send: NetworkSend = call.argument("send")
        in_flight = self._made.pop(send, None)
        if in_flight is not None:
            request = in_flight.request
            key = (call.subject._transport.sock.getsockname()[1], request.correlation_id)
            self._keys[id(in_flight)] = (in_flight, key)
            self._put_request(call, key, request.builder.build(in_flight.api_version), in_flight.api_version)
        elif _is_accepted(call.subject.id):
            self._put_responses(call, send)

    def _put_request(self, call: Call, key: tuple[int, int], request: RequestMessage, version: int) -> None:
        if number := self._requests.put(key, call):
            api = f"{request.API_KEY.name} v{version}"
            call.emit(Kind.PUT, call.actor, "request", {"thing": api} | fields(request), number=number)

    def request_read(self, call: Call) -> None:
        request: Request = call.result
        if number := self._requests.take((_peer_port(request.connection_id), request.header.correlation_id)):
            detail = {"thing": summary(request), "frame_bytes": request.size_in_bytes}
            call.emit(Kind.TAKE, call.actor, "request", detail, number=number)

    # ── responses ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _put_responses(self, call: Call, send: NetworkSend) -> None:
        for correlation_id, size in _frames(send):
            if number := self._responses.put((_peer_port(send.destination), correlation_id), call):
                call.emit(Kind.PUT, call.actor, "response", {"frame_bytes": size}, number=number)

    def response_awaited(self, call: Call) -> None:
        channel: BlockingChannel = call.subject
        if channel._sock is not None and channel._in_flight:
            call.scratch = (channel._sock.getsockname()[1], channel._in_flight[0].correlation_id)

    def response_received(self, call: Call) -> None:
        if call.scratch is not None and call.error is None:
            self._take_response(call, call.scratch)

    def response_parsed(self, call: Call) -> None:
        known = self._keys.pop(id(call.argument("in_flight")), None)
        if known is not None and call.error is None:
            self._take_response(call, known[1])

    def _take_response(self, call: Call, key: tuple[int, int]) -> None:
        if number := self._responses.take(key):
            response = call.result
            detail = {"thing": class_name(response)} | fields(response)
            call.emit(Kind.TAKE, call.actor, "response", detail, number=number)


def _frames(send: NetworkSend) -> Iterator[tuple[int, int]]:
    """Correlation id and size of each response in a send.

    The first part of a response begins with its size, followed by its header, which begins with the correlation id.
    """
    parts = iter(send._parts)
    for first in parts:
        begin = _in_memory(first)
        size, header = int.from_bytes(begin[:SIZE_BYTES], "big"), begin[SIZE_BYTES:]
        left = size - len(header)
        while left > 0:
            part = next(parts)
            header = header or _in_memory(part)
            left -= size_of(part)
        yield int.from_bytes(header[:_CORRELATION_ID_BYTES], "big"), size


def _in_memory(part: Part) -> bytes:
    return bytes(part) if isinstance(part, Buffer) else part.to_bytes()


def _itself(key: Hashable) -> Hashable:
    return key


def _is_accepted(connection_id: str) -> bool:
    """Whether a connection id is a broker's. A client's connection id is the node's id."""
    return ":" in connection_id


def _peer_port(connection_id: str) -> int:
    """``127.0.0.1:9092-127.0.0.1:40000-7`` ends with the client's port and a number."""
    return int(connection_id.rpartition(":")[2].partition("-")[0])


# ── requests ────────────────────────────────────────────────────────────────────────────────────────────────────────


def watch_phases() -> list[Watch]:
    """The time that each request spent in each phase, as the broker measures it for its metrics."""
    return [Watch.of(RequestChannel.request_completed, before=_phases)]


def _phases(call: Call) -> None:
    request: Request = call.argument("request")
    times = request.times(SYSTEM_TIME.hi_res_ms())
    phases = {name: round(getattr(times, name), 3) for name in times.__slots__}
    call.emit(Kind.PHASES, class_name(call.subject), str(summary(request)), phases)
