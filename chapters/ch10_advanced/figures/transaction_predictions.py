"""The answers to the predictions of the notebook on a transaction, from the coordinator's states and a real log.

Book 10.3.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import NamedTuple

from chapters.ch06_storage.figures.log_drawings import open_log
from kafka_learn.check import Prediction, Words
from kafka_lite.common.errors import ApiError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.coordinator.transaction.transaction_metadata import (
    TransactionMetadata,
    TxnTransitMetadata,
    new_transactional_id,
)
from kafka_lite.coordinator.transaction.transaction_state import TransactionState
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.record.control_record import ControlRecordType, EndTransactionMarker
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.record.records import batches

PRODUCER = 7
"""The producer's id."""
PARTITIONS = (TopicPartition("accounts", 0), TopicPartition("accounts", 1))


class _Id:
    """A transactional id, and how many records of it are in the coordinator's log."""

    def __init__(self) -> None:
        self._metadata = TransactionMetadata("transfers", new_transactional_id(PRODUCER, 60_000, 0))
        self.records = 0

    def start(self) -> int:
        """A producer starts; returns its epoch. An open transaction is aborted first."""
        if self._metadata.state is TransactionState.ONGOING:
            self._metadata.take_fenced_epoch(self._metadata.prepare_fence_producer_epoch(0).producer_epoch)
            self.end(TransactionState.PREPARE_ABORT)
        transit = self._metadata.prepare_increment_producer_epoch(60_000, None, 0)
        assert transit is not None
        self._write(transit)
        return transit.producer_epoch

    def add(self) -> None:
        """Partitions come into the transaction."""
        self._write(self._metadata.prepare_add_partitions(PARTITIONS, 0))

    def end(self, decision: TransactionState) -> None:
        """The decision, the markers, the end."""
        self._write(self._metadata.prepare_abort_or_commit(decision, 0))
        self._write(self._metadata.prepare_complete(0))

    def _write(self, transit: TxnTransitMetadata) -> None:
        self.records += 1
        self._metadata.complete(transit)


class Seen(NamedTuple):
    """Observations of partition 0 along the way."""

    stable_while_open: int
    readers_of_x: str
    error_of_the_zombie: str
    returned: int


def epoch_of_the_second_start() -> int:
    """The epoch of a producer whose id has asked once before."""
    of_id = _Id()
    of_id.start()
    return of_id.start()


def records_after_a_commit() -> int:
    """How many records the coordinator has written after two starts and a transaction."""
    of_id = _Id()
    of_id.start()
    of_id.start()
    of_id.add()
    of_id.end(TransactionState.PREPARE_COMMIT)
    return of_id.records


def epoch_of_the_heir() -> int:
    """The epoch of a producer that starts while one with epoch 1 has a transaction open."""
    of_id = _Id()
    of_id.start()
    of_id.start()
    of_id.add()
    return of_id.start()


class _Partition:
    """Partition 0 of ``accounts`` by itself: what the producers and the coordinator append to it."""

    def __init__(self, folder: Path) -> None:
        directory = folder / "accounts-0"
        directory.mkdir()
        self.log = open_log(directory)
        self._sequences: dict[int, int] = {}

    @property
    def stable(self) -> int:
        """The last stable offset, if everything is replicated."""
        return self.log.last_stable_offset(self.log.log_end_offset)

    def send(self, value: bytes, epoch: int = 1, origin: AppendOrigin = AppendOrigin.COORDINATOR) -> None:
        """Append a record of a transaction. Raises ApiError."""
        sequence = self._sequences.get(epoch, 0)
        builder = MemoryRecordsBuilder(
            producer_id=PRODUCER, producer_epoch=epoch, base_sequence=sequence, is_transactional=True
        )
        builder.append(0, None, value)
        self.log.append_as_leader(bytearray(builder.build()), 0, origin)
        self._sequences[epoch] = sequence + 1

    def send_in_no_transaction(self, value: bytes) -> None:
        """Append a record of a plain producer."""
        builder = MemoryRecordsBuilder()
        builder.append(0, None, value)
        self.log.append_as_leader(bytearray(builder.build()), 0)

    def committed(self) -> list[bytes | None]:
        """The values that a reader of committed records returns: of the one producer, and of no transaction."""
        values: list[bytes | None] = []
        waiting: list[bytes | None] = []
        for batch in batches(b"".join(path.read_bytes() for path in sorted(self.log.dir.glob("*.log")))):
            (record,) = batch.records()
            if batch.is_control:
                values += waiting if ControlRecordType.parse(record.key) is ControlRecordType.COMMIT else []
                waiting = []
            else:
                (waiting if batch.is_transactional else values).append(record.value)
        return values

    def mark(self, kind: ControlRecordType, epoch: int = 1) -> None:
        """Append the marker that ends the producer's transaction."""
        marker = EndTransactionMarker(kind, 0).to_batch(PRODUCER, epoch, 0)
        self.log.append_as_leader(bytearray(marker), 0, AppendOrigin.COORDINATOR)


@functools.cache
def seen() -> Seen:
    """The story of the notebook in one log: commit, abort, then x behind an open transaction, then a zombie."""
    with tempfile.TemporaryDirectory() as folder:
        partition = _Partition(Path(folder))
        partition.send(b"-100")
        while_open = partition.stable
        partition.mark(ControlRecordType.COMMIT)
        partition.send(b"-7")
        partition.mark(ControlRecordType.ABORT)
        partition.send(b"-1")
        x = partition.log.log_end_offset
        partition.send_in_no_transaction(b"x")
        readers = "read_uncommitted" if partition.stable <= x else "both"
        partition.mark(ControlRecordType.ABORT, epoch=2)
        error = "NONE"
        try:
            partition.send(b"too late", origin=AppendOrigin.CLIENT)
        except ApiError as refused:
            error = refused.error.name
        partition.send(b"-50", epoch=3)
        partition.mark(ControlRecordType.COMMIT, epoch=3)
        returned = len(partition.committed())
        partition.log.close()
    return Seen(while_open, readers, error, returned)


EPOCH = Prediction(
    epoch_of_the_second_start,
    Words(
        "A new id begins with 0, and each start raises the epoch: whatever still works with the smaller one is fenced.",
        "新的 id 从 0 开始，每启动一次，纪元就加一：还带着旧纪元工作的，从此失效。",
    ),
    {
        0: Words(
            "Then the broker could not tell two programs with the same id apart.",
            "那样就分不清同一个 id 的两个程序了。",
        ),
        2: Words("The first start has the smallest epoch there is.", "第一次启动得到的，是最小的纪元。"),
    },
)
STABLE = Prediction(
    lambda: seen().stable_while_open,
    Words(
        "The LSO is where the oldest open transaction begins, and this one begins with the first record of the log.",
        "LSO 是最早的未结束事务开始的地方，而这个事务从日志的第一条记录开始。",
    ),
    {
        1: Words(
            "That is the high watermark: the record is replicated, and not decided.",
            "那是高水位：记录已经复制，但还没有决定。",
        ),
        -1: Words("An LSO is an offset.", "LSO 是一个偏移量。"),
    },
)
TYPE = Prediction(
    lambda: int(ControlRecordType.COMMIT),
    Words(
        "Version, then type, each of two bytes: commit has the larger of both numbers.",
        "先是版本，后是类型，各两个字节；提交是两个编号里大的那个。",
    ),
    {0: Words("That is an abort.", "那是中止。"), 4: Words("That is the length of the key.", "那是键的长度。")},
)
RECORDS = Prediction(
    records_after_a_commit,
    Words(
        "One for each start, one for the partitions, one for the decision, one when all markers are written.",
        "两次启动各一条，加入分区一条，决定一条，全部标记写好之后一条。",
    ),
    {
        4: Words("How often has the id asked for an epoch?", "这个 id 一共请求过几次纪元？"),
        3: Words(
            "A decision is not yet the end: the markers follow. And how often has the id asked for an epoch?",
            "作出决定还不等于结束，标记随后才写。还有，这个 id 请求过几次纪元？",
        ),
        6: Words("Both partitions came in one request.", "两个分区是在同一个请求里加入的。"),
    },
)
BEHIND = Prediction(
    lambda: seen().readers_of_x,
    Words(
        "x is in no transaction, but it is behind one that is open: a reader of what is decided stops at its first "
        "offset.",
        "x 不属于任何事务，可是排在一个未结束的事务后面：只读已决定内容的读者，停在那个事务的第一个偏移量上。",
    ),
    {
        "both": Words(
            "Offsets are read in order. Which offset comes before that of x?", "偏移量是按顺序读的。x 前面是什么？"
        ),
        "nobody": Words(
            "It is replicated, so one of the two readers has it.", "它已经复制好，两种读者里有一种读得到。"
        ),
    },
)
HEIR = Prediction(
    epoch_of_the_heir,
    Words(
        "One step for the abort, whose marker fences the old producer in the partition, and one for the new program.",
        "先为中止加一，它的标记让旧的生产者在分区里失效；再为新的程序加一。",
    ),
    {
        1: Words("That is the epoch of the one that has stopped.", "那是已经停下的那个的纪元。"),
        2: Words(
            "The marker of the abort has this one: the old producer must not write behind it.",
            "中止标记带的是它：旧的生产者不能再写在标记后面。",
        ),
    },
)
ZOMBIE = Prediction(
    lambda: seen().error_of_the_zombie,
    Words(
        "The partition has seen a marker with a larger epoch. It knows nothing of transactional ids.",
        "分区见过一个纪元更大的标记。至于事务 id，它一无所知。",
    ),
    {
        "PRODUCER_FENCED": Words(
            "That is what the coordinator says, who knows the id. Who gets the record?",
            "那是协调者的说法，它认得这个 id。可是记录发给谁？",
        ),
        "NONE": Words(
            "Then a record would be in the log behind the abort.", "那样的话，中止之后日志里又多了一条记录。"
        ),
    },
)
RETURNED = Prediction(
    lambda: seen().returned,
    Words(
        "-100, x and -50: no markers, and nothing of what was aborted.",
        "-100、x 和 -50：不返回标记，也不返回中止了的。",
    ),
    {
        5: Words("Those of aborted transactions are sent, and dropped.", "已中止事务的记录会发来，但要丢掉。"),
        4: Words(
            "The transaction of -1 was open when its producer was fenced.", "-1 的事务还没结束，它的生产者就失效了。"
        ),
        9: Words("No consumer returns a marker.", "没有消费者会返回标记。"),
        2: Words(
            "x is in no transaction, and nothing before it is undecided any more.",
            "x 不属于任何事务，在它前面也没有还没结束的事务了。",
        ),
    },
)
