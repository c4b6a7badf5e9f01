"""Frames that no client would send, and a client that sends very many of them."""

from __future__ import annotations

import json
import random
import selectors
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import crc32c

from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.framing import decode_request, encode_request
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.protocol.schema_error import SchemaError
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from tests.support.patience import Patience, patient_s

DATA = Path(__file__).parent.parent / "data"
FUZZ_TOPIC = "fuzz"

_FETCH, _JOIN_GROUP = 1, 11
_ORDERS = (ApiKey.LEADER_AND_ISR, ApiKey.STOP_REPLICA, ApiKey.UPDATE_METADATA, ApiKey.CONTROLLED_SHUTDOWN)
_LIES = (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\x00\x00\x00\x00", b"\x05\xf5\xe1\x00")
_BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFE, 0xFF)


def captured_requests() -> list[bytes]:
    """Requests of real clients, without their size prefix."""
    frames: list[bytes] = []
    for name in ("client-golden-0.10.2.json", "modern-clients-first-frames.json", "inter-broker-0.10.2.json"):
        frames += [bytes.fromhex(capture["request_hex"]) for capture in json.loads((DATA / name).read_text())]
    return frames


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


class FrameMaker:
    """Generates malformed frames, the same ones for the same seed, each with its size prefix."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._captured = captured_requests()
        self._batches = _good_batches()
        self._makers: list[Callable[[], bytes]] = [
            self.random_bytes,
            self.mutated,
            self.mutated,
            self.truncated,
            self.lying_length,
            self.spliced,
            self.bad_size,
            self.unknown_api,
            self.corrupt_batch,
            self.corrupt_batch,
        ]

    def __iter__(self) -> Iterator[bytes]:
        while True:
            frame = self._random.choice(self._makers)()
            if not is_order(frame):
                yield frame

    def random_bytes(self) -> bytes:
        """A frame of random bytes."""
        return framed(self._random.randbytes(self._random.randrange(200)))

    def mutated(self) -> bytes:
        """A real request with a few bytes changed."""
        frame = bytearray(self._random.choice(self._captured))
        for _ in range(self._random.randint(1, 6)):
            frame[self._random.randrange(len(frame))] = self._byte()
        return framed(bytes(frame))

    def truncated(self) -> bytes:
        """A real request that ends early, in a frame of its truncated size."""
        frame = self._random.choice(self._captured)
        return framed(frame[: self._random.randrange(len(frame))])

    def lying_length(self) -> bytes:
        """A real request in which four bytes, possibly a length, become -1, 2 GiB, 100 million or similar."""
        frame = bytearray(self._random.choice(self._captured))
        position = self._random.randrange(8, max(len(frame) - 3, 9))
        frame[position : position + 4] = self._random.choice(_LIES)
        return framed(bytes(frame))

    def spliced(self) -> bytes:
        """The beginning of one request with the end of another."""
        head, tail = self._random.choice(self._captured), self._random.choice(self._captured)
        return framed(head[: self._random.randrange(len(head))] + tail[self._random.randrange(len(tail)) :])

    def bad_size(self) -> bytes:
        """A frame that announces -1 bytes, or 2 GiB."""
        return self._random.choice((b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"HTTP"))

    def unknown_api(self) -> bytes:
        """A request with an unknown API key or version."""
        known = self._random.choice([0, 1, 3, 18, 19, 32])
        api_key = self._random.choice([known, self._random.randint(-(2**15), 2**15 - 1)])
        version = self._random.choice([self._random.randint(-(2**15), 2**15 - 1), 100, -1])
        return framed(struct.pack(">hhih", api_key, version, 7, -1) + self._random.randbytes(20))

    def corrupt_batch(self) -> bytes:
        """A produce request that is valid except for its records; half of those have a valid checksum nevertheless."""
        magic, batch = self._random.choice(self._batches)
        records = bytearray(batch)
        for _ in range(self._random.randint(1, 4)):
            position = self._random.randrange(len(records))
            if self._random.random() < 0.5:
                records[position] = self._byte()
            else:
                records[position : position + 4] = self._random.choice(_LIES)
        if self._random.random() < 0.5:
            _repair_checksum(records, magic)
        data = PartitionProduceData(index=0, records=bytes(records))
        request = ProduceRequest(
            acks=self._random.choice((1, -1)),
            timeout_ms=100,
            topic_data=[TopicProduceData(name=FUZZ_TOPIC, partition_data=[data])],
        )
        return framed(encode_request(request, 7 if magic == 2 else 2, 7, "fuzz"))

    def _byte(self) -> int:
        return self._random.choice((self._random.choice(_BYTES), self._random.randrange(256)))


def is_order(frame: bytes) -> bool:
    """Whether it is a valid request of a controller or a broker, despite its random bytes.

    A broker without an authorizer obeys such a request, as Kafka does: it would give up its topics, or refer clients to
    another broker. Those that cannot be decoded are malformed frames like others.
    """
    try:
        header, _ = decode_request(memoryview(frame)[4:])
    except SchemaError:
        return False
    return header.api_key in _ORDERS


def _good_batches() -> list[tuple[int, bytes]]:
    batches = []
    for magic in (0, 1, 2):
        for codec in CompressionType:
            if codec is CompressionType.ZSTD and magic < 2:
                continue
            builder = MemoryRecordsBuilder(magic, codec)
            for number in range(5):
                builder.append(1_500_000_000_000 + number, b"key", b"value %d" % number)
            batches.append((magic, builder.build()))
    return batches


def _repair_checksum(records: bytearray, magic: int) -> None:
    if magic == 2 and len(records) > 21:
        records[17:21] = struct.pack(">I", crc32c.crc32c(bytes(records[21:])))
    elif magic < 2 and len(records) > 16:
        records[12:16] = struct.pack(">I", zlib.crc32(records[16:]))


_SENTINEL_ID = 0x5E471E1
_SENTINEL = framed(encode_request(ApiVersionsRequest(), 0, _SENTINEL_ID, "end of the pipeline"))


class Flood:
    """Sends frames over several connections at once, many in each, and follows the fate of each frame.

    A frame is *judged* when the broker has responded, or closed the connection because of it, or held it longer than
    ``patience_s`` (a long poll). The frames after one that closed the connection go over the next connection. The last
    frame of each connection is a valid request: its response proves that frames without a response have been handled.
    """

    def __init__(self, port: int, frames: Iterator[bytes], *, pipeline: int = 20, patience_s: float = 0.5) -> None:
        self.judged = 0
        self.answered = 0
        self.closed = 0
        """Connections that the broker closed, each over one bad frame."""
        self.held = 0
        self._address = ("127.0.0.1", port)
        self._frames = frames
        self._pipeline = pipeline
        self._patience_s = patience_s
        self._selector = selectors.DefaultSelector()

    def run(self, count: int, connections: int = 16, on_progress: Callable[[], None] = lambda: None) -> None:
        """Continue until at least ``count`` more frames are judged."""
        goal = self.judged + count
        for _ in range(connections):
            self._open([])
        while self.judged < goal:
            for key, _ in self._selector.select(0.1):
                self._on_event(key.data)
            for key in list(self._selector.get_map().values()):
                if key.data.patience.is_over():
                    self.held += 1
                    self._finish(key.data, passed=key.data.passed + 1)
            on_progress()
        for key in list(self._selector.get_map().values()):
            self._selector.unregister(key.fileobj)
            key.data.sock.close()

    def _open(self, frames: list[bytes]) -> None:
        while len(frames) < self._pipeline:
            frames.append(next(self._frames))
        sock = socket.create_connection(self._address, timeout=patient_s(30))
        sock.sendall(b"".join(frames) + _SENTINEL)
        sock.shutdown(socket.SHUT_WR)
        sock.setblocking(False)
        connection = _Connection(sock, frames, Patience(self._patience_s))
        self._selector.register(sock, selectors.EVENT_READ, connection)

    def _on_event(self, connection: _Connection) -> None:
        try:
            data = connection.sock.recv(1 << 16)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if data:
            connection.patience = Patience(self._patience_s)
            self.answered += connection.take(data)
        elif connection.passed == len(connection.frames):
            self._finish(connection, connection.passed)
        else:
            self.closed += 1
            self._finish(connection, passed=connection.passed + 1)

    def _finish(self, connection: _Connection, passed: int) -> None:
        self._selector.unregister(connection.sock)
        connection.sock.close()
        self.judged += passed
        self._open(connection.frames[passed:])


class _Connection:
    def __init__(self, sock: socket.socket, frames: list[bytes], patience: Patience) -> None:
        self.sock = sock
        self.frames = frames
        self.patience = patience
        self.passed = 0
        """Frames whose fate is known: those up to the last one that was answered."""
        self._received = b""
        self._correlation_ids = [frame[8:12] for frame in frames] + [struct.pack(">i", _SENTINEL_ID)]

    def take(self, data: bytes) -> int:
        """Record the responses in ``data``; returns their number."""
        self._received += data
        answers = 0
        while len(self._received) >= 8:
            (size,) = struct.unpack_from(">i", self._received)
            if len(self._received) < 4 + size:
                break
            position = self._correlation_ids.index(self._received[4:8], self.passed)
            self.passed = min(position + 1, len(self.frames))
            self._received = self._received[4 + size :]
            answers += 1
        return answers


def known_api_keys() -> list[int]:
    return sorted(API_SPECS)
