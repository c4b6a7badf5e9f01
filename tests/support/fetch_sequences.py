"""Random sequences of fetch requests with sessions, played to two brokers, which must respond alike."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NamedTuple, Self, cast

from kafka_lite.network.blocking_channel import BlockingChannel
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
from kafka_lite.protocol.messages.api_21_delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from tests.support.eventually import eventually

VERSIONS = range(7, 13)
PARTITIONS = 4
TIMEOUT_MS = 60_000
UNKNOWN_SESSION = 987_654_321
MAX_EPOCH = (1 << 31) - 1
NO_SESSION = "none"

KINDS = {
    "open": 4,
    "fetch without a session": 1,
    "replace the session": 1,
    "end the session": 1,
    "next": 24,
    "repeat the epoch": 1,
    "skip an epoch": 1,
    "negative epoch": 1,
    "last epoch": 1,
    "unknown session": 1,
    "epoch without a session": 1,
    "produce": 6,
    "delete records": 1,
}
"""What may happen, and how often."""


class Step(NamedTuple):
    """One request; a broker's session ids are known by the numbers of their sessions."""

    kind: str
    client: int
    asked: tuple[tuple[str, int, int], ...]
    """Topic, partition, offset."""
    forgotten: tuple[tuple[str, int], ...]
    max_bytes: int
    value: str


class Row(NamedTuple):
    """One partition of a response."""

    topic: str
    partition: int
    error_code: int
    high_watermark: int
    last_stable_offset: int
    log_start_offset: int
    records: bytes


class Outcome(NamedTuple):
    """A response; ``session`` is NO_SESSION, ``own`` for the session of the request, or ``new``."""

    error_code: int
    session: str
    rows: tuple[Row, ...]


def sequence(seed: int, count: int, topics: tuple[str, str, str]) -> list[Step]:
    """Steps of two clients. The last of the three topics does not exist."""
    rng = random.Random(seed)
    return [_step(rng, topics) for _ in range(count)]


def _step(rng: random.Random, topics: tuple[str, str, str]) -> Step:
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    names = [(topic, number) for topic in topics[:2] for number in range(PARTITIONS)]
    if kind in ("produce", "delete records"):
        topic, number = rng.choice(names)
        return Step(kind, 0, ((topic, number, rng.randrange(3)),), (), 0, "v" * rng.randrange(1, 200))
    if rng.random() < 0.2:
        names += [(topics[2], 0), (topics[0], PARTITIONS + 1)]
    opens = kind in ("open", "fetch without a session", "replace the session")
    asked = rng.sample(names, rng.randrange(len(names)) if opens else rng.choice((0, 0, 0, 1, 2)))
    asked += asked[:1] if rng.random() < 0.05 else []
    offsets = tuple((topic, number, rng.choice((0, 0, 1, 2, 3, 5, 8, -1))) for topic, number in sorted(asked))
    forgotten = tuple(sorted(rng.sample(names, rng.choice((0, 0, 0, 1, 3))))) if kind == "next" else ()
    return Step(kind, rng.randrange(2), offsets, forgotten, rng.choice((1, 150, 1000, 1 << 20)), "")


class SessionClient:
    """What a client of one broker knows: the id of its session and the epoch of its next request."""

    def __init__(self) -> None:
        self.session_id = 0
        self.epoch = 0


class FetchPlayer:
    """Plays steps to one broker."""

    def __init__(self, bootstrap_servers: str, version: int, replica_id: int = -1) -> None:
        host, _, port = bootstrap_servers.rpartition(":")
        self._channel = BlockingChannel(host, int(port), read_timeout_ms=TIMEOUT_MS)
        self._version = version
        self._replica_id = replica_id
        self.clients = [SessionClient(), SessionClient()]

    def __enter__(self) -> Self:
        self._channel.connect()
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def await_leaders(self, topics: Sequence[str], partitions: int) -> None:
        """Wait until the broker leads all partitions of new topics."""
        asked = tuple((topic, number, 0) for topic in topics for number in range(partitions))
        fetch = Step("fetch without a session", 0, asked, (), 1 << 20, "")
        eventually(lambda: not any(row.error_code for row in _outcome(self._fetch(fetch, 0, -1), 0).rows))

    def play(self, step: Step) -> object:
        """The outcome of a step, which does not depend on the broker's choice of session ids."""
        match step.kind:
            case "produce":
                return self._produce(step)
            case "delete records":
                return self._delete_records(step)
        client = self.clients[step.client]
        session_id, epoch = self._session_and_epoch(step.kind, client)
        response = self._fetch(step, session_id, epoch)
        if response.error_code == 0 and epoch in (0, client.epoch):
            client.epoch = epoch + 1 if response.session_id else 0
            client.session_id = response.session_id
        return _outcome(response, session_id)

    def _session_and_epoch(self, kind: str, client: SessionClient) -> tuple[int, int]:
        match kind:
            case "open":
                return 0, 0
            case "fetch without a session":
                return 0, -1
            case "replace the session":
                return client.session_id, 0
            case "end the session":
                return client.session_id, -1
            case "next":
                return client.session_id, client.epoch
            case "repeat the epoch":
                return client.session_id, max(1, client.epoch - 1)
            case "skip an epoch":
                return client.session_id, client.epoch + 1
            case "negative epoch":
                return client.session_id, -7
            case "last epoch":
                return client.session_id, MAX_EPOCH
            case "unknown session":
                return UNKNOWN_SESSION, 1
            case _:
                return 0, 3

    def _fetch(self, step: Step, session_id: int, epoch: int) -> FetchResponse:
        topics: list[FetchTopic] = []
        for topic, number, offset in step.asked:
            if not topics or topics[-1].topic != topic:
                topics.append(FetchTopic(topic=topic, partitions=[]))
            asked = FetchPartition(partition=number, fetch_offset=offset, partition_max_bytes=step.max_bytes)
            topics[-1].partitions.append(asked)
        request = FetchRequest(
            replica_id=self._replica_id,
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=step.max_bytes,
            session_id=session_id,
            session_epoch=epoch,
            topics=topics,
            forgotten_topics_data=[
                ForgottenTopic(topic=topic, partitions=[number]) for topic, number in step.forgotten
            ],
        )
        return cast(FetchResponse, self._channel.exchange(request, self._version))

    def _produce(self, step: Step) -> tuple[int, int]:
        ((topic, number, _),) = step.asked
        batch = memory_records(2, CompressionType.NONE, [(b"k", step.value.encode())], timestamp=1)
        data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=number, records=batch)])
        request = ProduceRequest(acks=-1, timeout_ms=TIMEOUT_MS, topic_data=[data])
        response = cast(ProduceResponse, self._channel.exchange(request, 7))
        result = response.responses[0].partition_responses[0]
        return result.error_code, result.base_offset

    def _delete_records(self, step: Step) -> tuple[int, int]:
        ((topic, number, offset),) = step.asked
        partition = DeleteRecordsPartition(partition_index=number, offset=offset)
        request = DeleteRecordsRequest(
            timeout_ms=TIMEOUT_MS, topics=[DeleteRecordsTopic(name=topic, partitions=[partition])]
        )
        response = cast(DeleteRecordsResponse, self._channel.exchange(request, 1))
        result = response.topics[0].partitions[0]
        return result.error_code, result.low_watermark


def _outcome(response: FetchResponse, session_id: int) -> Outcome:
    rows = tuple(
        Row(
            topic.topic,
            data.partition_index,
            data.error_code,
            data.high_watermark,
            data.last_stable_offset,
            data.log_start_offset,
            bytes(cast(bytes, data.records or b"")),
        )
        for topic in response.responses
        for data in topic.partitions
    )
    if response.session_id == 0:
        session = NO_SESSION
    else:
        session = "own" if response.session_id == session_id else "new"
    return Outcome(response.error_code, session, rows)


def replay(ours: str, theirs: str, seed: int, count: int, topics: tuple[str, str, str]) -> set[str]:
    """Play a sequence to both brokers; AssertionError if they differ. Returns the kinds of outcomes that were seen."""
    version = VERSIONS[seed % len(VERSIONS)]
    steps = sequence(seed, count, topics)
    seen = set()
    with ExitStack() as stack:
        here, there = (stack.enter_context(FetchPlayer(each, version)) for each in (ours, theirs))
        for each in (here, there):
            each.await_leaders(topics[:2], PARTITIONS)
        for number, step in enumerate(steps):
            found, expected = here.play(step), there.play(step)
            so_far = " → ".join(f"{done.kind} {done.client}" for done in steps[: number + 1])
            assert found == expected, f"\n{found}\ninstead of\n{expected}\nto {step}\nafter {so_far}"
            if isinstance(found, Outcome):
                seen.add(f"{step.kind}: {found.error_code} {found.session}")
    return seen
