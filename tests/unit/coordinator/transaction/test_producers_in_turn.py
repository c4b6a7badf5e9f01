"""Producers of both versions of transactions that take one transactional id from each other, while coordinators fail.

Each walk is drawn from a seed. Its moves: a request of a producer, one whose response is lost, the death of the
coordinator or of a producer, markers that are late, and transactions that time out.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import Final

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.producer_id_and_epoch import ProducerIdAndEpoch
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_metadata import MAX_EPOCH
from kafka_lite.coordinator.transaction.transaction_state import FINISHED, TransactionState
from tests.support.transactions import Transactions

PARTITIONS: Final = (TopicPartition("a", 0), TopicPartition("a", 1))
OK, BUSY, NO_EPOCH = Errors.NONE, Errors.CONCURRENT_TRANSACTIONS, -1
TIMED_OUT_S: Final = 90
MOVES: Final = 40
WALKS: Final = 40
"""For each combination of versions and epochs."""


@dataclass
class Written:
    """What one transaction has written, and what its producer has been told of its end."""

    producer: str
    values: list[str] = field(default_factory=list)
    is_committed: bool | None = None


class Leader:
    """A partition: it refuses old epochs, drops repeated batches, and obeys markers."""

    def __init__(self) -> None:
        self._epochs: dict[int, int] = defaultdict(lambda: NO_EPOCH)
        self._next_sequences: dict[tuple[int, int], int] = defaultdict(int)
        self._open: dict[int, list[str]] = defaultdict(list)
        self.committed: set[str] = set()

    def append(self, producer: ProducerIdAndEpoch, sequence: int, value: str) -> Errors:
        """A batch of one record, which is open until a marker comes."""
        producer_id, epoch = producer
        if epoch < self._epochs[producer_id]:
            return Errors.INVALID_PRODUCER_EPOCH
        if sequence < self._next_sequences[producer]:
            return OK  # taken for a batch that has come before
        if sequence > self._next_sequences[producer]:
            return Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
        self._next_sequences[producer] += 1
        self._epochs[producer_id] = epoch
        self._open[producer_id].append(value)
        return OK

    def end(self, producer_id: int, epoch: int, commit: bool) -> None:
        """A marker. That of an older epoch is refused."""
        if epoch >= self._epochs[producer_id]:
            self._epochs[producer_id] = epoch
            self.committed.update(self._open.pop(producer_id, []) if commit else [])
            self._open.pop(producer_id, None)

    @property
    def has_open(self) -> bool:
        """Whether a transaction hangs."""
        return any(self._open.values())


class World:
    """One coordinator after the other, the leaders, and the transactions of all producers."""

    def __init__(self, first_epoch: int | None) -> None:
        self.coordinator = Transactions()
        self.coordinator.transaction_version = 2
        self._elections = 0
        self.leaders = {partition: Leader() for partition in PARTITIONS}
        self.transactions: list[Written] = []
        self.owners: dict[ProducerIdAndEpoch, str] = {}
        if first_epoch is not None:
            self.coordinator.put(TransactionState.EMPTY, producer_epoch=first_epoch)

    def deliver_markers(self) -> None:
        """Let the leaders see the markers that have been written."""
        for partition, producer_id, epoch, _, commit in self.coordinator.written:
            self.leaders[partition].end(producer_id, epoch, commit)
        self.coordinator.written.clear()

    def kill_coordinator(self) -> None:
        """Another one takes its place; it knows what is in the log only, and writes the markers that are missing."""
        self.deliver_markers()
        self._elections += 1
        for partition in range(2):
            self.coordinator.coordinator.on_resignation(partition, None)
        self.coordinator = self.coordinator.restart(self._elections)
        self.deliver_markers()

    def hold_markers(self) -> None:
        """Let the next markers wait."""
        if self.coordinator.held is None:
            self.coordinator.held = []

    def release_markers(self) -> None:
        """Write those that wait."""
        self.coordinator.release_markers()
        self.deliver_markers()

    def time_out(self) -> None:
        """Let open transactions become too old."""
        self.coordinator.time.sleep(TIMED_OUT_S * 1000)
        self.deliver_markers()

    def give(self, producer: ProducerIdAndEpoch, name: str) -> None:
        """A producer gets an id and epoch, which nobody else may have."""
        assert self.owners.setdefault(producer, name) == name, f"{self.owners[producer]} and {name} have {producer}"


class Producer:
    """Asks for an epoch, writes one or two records in a transaction, ends it; one that is refused begins anew."""

    def __init__(self, name: str, version: int, world: World, random: Random) -> None:
        self._name, self._version, self._world, self._random = name, version, world, random
        self._lives = 0
        self._restart()

    def _restart(self) -> None:
        self._lives += 1
        self._me: ProducerIdAndEpoch | None = None
        self._expected: ProducerIdAndEpoch | None = None
        self._transaction: Written | None = None
        self._wanted: bool | None = None
        """Whether the transaction is to be committed, once it is to end."""
        self._sequences: dict[TopicPartition, int] = defaultdict(int)

    def die(self) -> None:
        """Another process takes its place."""
        self._restart()

    def move(self, *, is_lost: bool) -> None:
        """Send the next request. If its response is lost, the same follows again."""
        if self._me is None:
            self._initialize(is_lost)
        elif self._wanted is not None:
            self._end(is_lost)
        elif self._transaction is not None and self._random.random() < 0.5:
            self._wanted = self._random.random() < 0.7
            self._end(is_lost)
        else:
            self._write(is_lost)

    @property
    def _full_name(self) -> str:
        return f"{self._name}.{self._lives}"

    def _initialize(self, is_lost: bool) -> None:
        result = self._world.coordinator.init(self._expected)
        if is_lost or result is None:
            return
        if result.error is OK:
            self._world.give(result.producer, self._full_name)
            self._continue_as(result.producer)
        elif result.error is not BUSY:
            self._restart()

    def _continue_as(self, producer: ProducerIdAndEpoch) -> None:
        self._me, self._expected = producer, None
        self._sequences.clear()

    def _write(self, is_lost: bool) -> None:
        assert self._me is not None
        if self._transaction is None:
            self._transaction = Written(self._full_name)
            self._world.transactions.append(self._transaction)
        partition = self._random.choice(PARTITIONS)
        error = self._world.coordinator.add(self._me, [partition], client_version=2 if self._version == 2 else 0)
        if error is OK:
            value = f"{self._full_name}-{len(self._world.transactions)}-{len(self._transaction.values)}"
            error = self._world.leaders[partition].append(self._me, self._sequences[partition], value)
            if error is OK:
                self._sequences[partition] += 1
                self._transaction.values.append(value)
        if is_lost or error in (BUSY, None):
            return  # what was written is part of the transaction all the same: there is no retry that could differ
        if error is not OK:
            self._restart()

    def _end(self, is_lost: bool) -> None:
        assert self._me is not None
        assert self._wanted is not None
        following: ProducerIdAndEpoch | None = None
        if self._version == 2:
            result = self._world.coordinator.end_and_bump(self._me, commit=self._wanted)
            error = None if result is None else result.error
            following = None if result is None else result.producer
        else:
            error = self._world.coordinator.end(self._me, commit=self._wanted)
        if is_lost or error in (BUSY, None):
            return
        if error is not OK:
            self._restart()
            return
        if self._transaction is not None:
            self._transaction.is_committed = self._wanted
        self._transaction = self._wanted = None
        if following is not None:
            self._world.give(following, self._full_name)
            self._continue_as(following)
        elif self._random.random() < 0.1:  # KIP-360
            self._me, self._expected = None, self._me


def walk(seed: int, versions: tuple[int, int], first_epoch: int | None) -> World:
    """Draw the moves, then let everything end."""
    random = Random(seed)
    world = World(first_epoch)
    producers = [Producer(f"p{number}v{version}", version, world, random) for number, version in enumerate(versions)]
    moving = producers[0]
    for _ in range(MOVES):
        drawn = random.random()
        if drawn < 0.85:
            moving = random.choice(producers) if random.random() < 0.3 else moving
            moving.move(is_lost=random.random() < 0.2)
            world.deliver_markers()
        elif drawn < 0.89:
            world.kill_coordinator()
        elif drawn < 0.92:
            world.hold_markers()
        elif drawn < 0.96:
            world.release_markers()
        elif drawn < 0.98:
            world.time_out()
        else:
            random.choice(producers).die()
    world.release_markers()
    world.time_out()
    world.release_markers()
    return world


def check(world: World) -> None:
    committed = set().union(*(leader.committed for leader in world.leaders.values()))
    for transaction in world.transactions:
        visible = committed.intersection(transaction.values)
        assert visible in (set(), set(transaction.values)), f"a part of {transaction} is committed"
        if transaction.is_committed is not None:
            assert bool(visible) == (transaction.is_committed and bool(transaction.values)), transaction
    assert not any(leader.has_open for leader in world.leaders.values()), "a transaction hangs"
    metadata = world.coordinator.manager.get("my-id")[1]
    assert metadata is None or (metadata.state in FINISHED and not metadata.is_pending)


@pytest.mark.parametrize("first_epoch", [None, MAX_EPOCH - 4, MAX_EPOCH - 2])
@pytest.mark.parametrize("versions", [(1, 1), (1, 2), (2, 2)])
def test_nobody_gets_the_epoch_of_another_and_no_acknowledged_end_is_lost(
    versions: tuple[int, int], first_epoch: int | None
) -> None:
    for seed in range(WALKS):
        world = walk(seed, versions, first_epoch)
        try:
            check(world)
        except AssertionError as failure:
            failure.add_note(f"seed {seed}")
            raise
