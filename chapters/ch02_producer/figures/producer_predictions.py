"""The answers to the predictions of the producer's notebook, by its accumulator and by recorded runs.

Book 2.1.1, 2.1.2.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from chapters.ch02_producer.figures import producer_runs
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.recorded_run import CallSpan, RecordedRun
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.producer.buffer_pool import BufferExhaustedError, BufferPool
from kafka_lite.producer.producer_batch import ProducerBatch
from kafka_lite.producer.record_accumulator import RecordAccumulator
from kafka_lite.record.compression import CompressionType

LINGER_MS, BACKOFF_MS, BATCH_BYTES, BUFFERS = 10, 100, 400, 6
"""As in the notebook."""
LEFT, RIGHT = Node(0, "left", 9092), Node(1, "right", 9092)
CLUSTER = Cluster((LEFT, RIGHT), tuple(PartitionInfo("t", each, node) for each, node in enumerate((LEFT, LEFT, RIGHT))))
ENOUGH_BUFFERS = 100
RECORDS = 45


class ByHand:
    """An accumulator for three partitions, whose clock stands still."""

    def __init__(self, linger_ms: float = LINGER_MS, buffers: int = BUFFERS) -> None:
        self.clock = MockTime()
        self.pool = BufferPool(buffers * BATCH_BYTES, BATCH_BYTES, self.clock)
        self.accumulator = RecordAccumulator(
            BATCH_BYTES, CompressionType.NONE, linger_ms, BACKOFF_MS, 120_000, self.pool, time=self.clock
        )

    def append(self, partition: int, count: int = 1) -> list[int]:
        """Append records; returns the numbers, from 1, of those after which a batch is full."""
        place, fields = TopicPartition("t", partition), (0, None, bytes(60), (), None)
        return [each for each in range(1, count + 1) if self.accumulator.append(place, fields, 0).batch_is_full]

    def ready(self) -> str:
        """The nodes that are ready: left, right, both or none."""
        nodes = self._ready()
        return "both" if len(nodes) > 1 else next((node.host for node in nodes), "none")

    def drain(self) -> list[ProducerBatch]:
        """Batches that are sent to the nodes that are ready."""
        nodes = sorted(self._ready(), key=lambda node: node.id)
        drained = self.accumulator.drain(CLUSTER, nodes, 1 << 20, self.clock.hi_res_ms())
        return [batch for batches in drained.values() for batch in batches]

    def _ready(self) -> set[Node]:
        return self.accumulator.ready(CLUSTER, self.clock.hi_res_ms()).ready_nodes


class _Seen(NamedTuple):
    """The outcome of the notebook's cells before the recorded runs."""

    ready: tuple[str, ...]
    """Nodes that are ready: with two records, with a full batch, after linger.ms, after a failure."""
    used_bytes: int
    wakes: int
    """The number of the record, of five, after which a batch is full."""
    drained: int
    place: str
    """Of a batch that is sent again: before or behind the newer one."""
    fit: int


@functools.cache
def seen() -> _Seen:
    """Fill, drain, let time pass, let one batch succeed and another one fail, and append until memory is exhausted."""
    hand = ByHand()
    hand.append(0)
    hand.append(2)
    ready, used = [hand.ready()], hand.pool.total_memory - hand.pool.available_memory
    (wakes,) = hand.append(0, 5)
    hand.append(1)
    ready.append(hand.ready())
    drained = hand.drain()
    hand.clock.sleep(LINGER_MS)
    ready.append(hand.ready())
    hand.drain()
    done, failed = drained
    done.complete(0, -1)
    hand.accumulator.deallocate(done)
    hand.append(1)
    hand.accumulator.reenqueue(failed, hand.clock.hi_res_ms())
    ready.append(hand.ready())
    hand.clock.sleep(BACKOFF_MS)
    place = "before" if failed in hand.drain() else "behind"
    return _Seen(tuple(ready), used, wakes, len(drained), place, _batches_that_fit(hand))


def _batches_that_fit(hand: ByHand) -> int:
    before = hand.pool.available_memory
    try:
        for partition in range(3):
            hand.append(partition, 20)
    except BufferExhaustedError:
        pass
    return (before - hand.pool.available_memory) // BATCH_BYTES


def batches_made(linger_ms: float) -> int:
    """How many batches become of a record every millisecond, for three partitions in turn, if each is sent at once."""
    hand, batches = ByHand(linger_ms, ENOUGH_BUFFERS), 0
    for number in range(RECORDS):
        hand.append(number % 3)
        batches += len(hand.drain())
        hand.clock.sleep(1)
    hand.clock.sleep(linger_ms)
    return batches + len(hand.drain())


def batches_with_linger_0() -> str:
    """Whether there are more of them without linger.ms than with it."""
    without, with_linger = batches_made(0), batches_made(producer_runs.LINGER_MS)
    return "more" if without > with_linger else "fewer" if without < with_linger else "as many"


def place_of_a_failed_batch() -> str:
    """Where a batch is that a broker has rejected, and that is to be sent again."""
    hand = ByHand(linger_ms=0)
    hand.append(0)
    (batch,) = hand.drain()
    hand.accumulator.reenqueue(batch, hand.clock.hi_res_ms())
    return "accumulator" if hand.accumulator.has_undrained else "in flight"


# ── from recorded runs ──────────────────────────────────────────────────────────────────────────────────────────────


def _appends(run: RecordedRun) -> list[CallSpan]:
    return [call for call in run.calls() if call.begin.what == "append_as_leader"]


def _appended(run: RecordedRun) -> list[CallSpan]:
    """Appends that did not fail."""
    return [call for call in _appends(run) if call.end and "result" in call.end.detail]


@functools.cache
def order_in_the_log() -> str:
    """The three records in the order of the log, when the first of three batches in flight was rejected."""
    return "".join(call.begin.detail["values"] for call in _appended(producer_runs.reordered()))


@functools.cache
def appends_of_one_in_flight() -> int:
    """How many appends three records take, one batch in flight at a time."""
    return len(_appended(producer_runs.one_in_flight()))


@functools.cache
def keeper_of_the_order() -> str:
    """The side that keeps the order: the broker rejects, the producer sends again."""
    run = producer_runs.kept_in_order()
    values = [call.begin.detail["values"] for call in _appends(run)]
    sides = {"broker": len(_appended(run)) < len(values), "producer": len(set(values)) < len(values)}
    return "both" if all(sides.values()) else next(side for side, does in sides.items() if does)


@functools.cache
def last_offset(*, numbered: bool) -> int:
    """The offset in the response that the producer gets in the end, after the first one was lost."""
    run = producer_runs.removed_duplicate() if numbered else producer_runs.duplicate()
    end = _appended(run)[-1].end
    assert end is not None
    return int(end.detail["result"].rpartition("–")[2])


READY_AT_FIRST = Prediction(
    lambda: seen().ready[0],
    Words(
        "A batch that is not full waits for `linger.ms`: more records may come.",
        "没有满的批次要等 `linger.ms`：也许还有记录会来。",
    ),
    {
        "both": Words("Is either batch full, or ten milliseconds old?", "有哪个批次满了，或者等了十毫秒？"),
        "left": Words("Its one batch is as empty and as young as the other.", "它的批次和另一个一样空，一样新。"),
        "right": Words("Leading only one partition does not make a batch full.", "只有一个分区，批次也不会因此满了。"),
    },
)
MEMORY = Prediction(
    lambda: seen().used_bytes,
    Words(
        "A batch takes a whole buffer of `batch.size`, however few records it has.",
        "一个批次占用一整块 `batch.size` 的缓冲区，不管里面的记录多么少。",
    ),
    {
        120: Words(
            "So much do the values take. What does the pool give to a batch?", "值是这么多。缓冲池给一个批次多少？"
        ),
        136: Words(
            "So much do the records take. What does the pool give to a batch?", "记录是这么多。缓冲池给一个批次多少？"
        ),
        400: Words("Records of two partitions are never in one batch.", "两个分区的记录不会在同一个批次里。"),
        0: Words("The buffer is there before the first record is in it.", "先有缓冲区，才能放第一条记录。"),
    },
)
WAKES = Prediction(
    lambda: seen().wakes,
    Words(
        "A batch begins with 61 bytes of its own, and each record takes 68: with one from before, three more fit. The "
        "next one begins another batch, so the first one is full.",
        "批次自己占 61 字节，每条记录 68 字节：先前已有一条，还放得下三条。再来一条就开始了新的批次，旧的就满了。",
    ),
    {
        1: Words("A record for which there is room changes nothing for the sender.", "放得下的记录，与发送线程无关。"),
        2: Words("How many bytes has the batch then?", "那时批次有多少字节？"),
        3: Words("With this one the batch has 333 bytes.", "加上这一条，批次是 333 字节。"),
        5: Words("Do not forget the record that was there before.", "别忘了原来就有一条。"),
    },
)
READY_WITH_A_FULL_BATCH = Prediction(
    lambda: seen().ready[1],
    Words("A full batch does not wait for `linger.ms`.", "满了的批次不再等 `linger.ms`。"),
    {
        "none": Words("What could a full batch wait for?", "满了的批次还等什么？"),
        "both": Words("Nothing has changed for partition 2.", "分区 2 什么也没变。"),
        "right": Words("To which node does the full batch go?", "满了的批次要去哪个节点？"),
    },
)
DRAINED = Prediction(
    lambda: seen().drained,
    Words(
        "One for each partition that the node leads, whether it is full or not.",
        "这个节点是其主副本的每个分区各一个，满不满都一样。",
    ),
    {
        1: Words(
            "A request to the node is made anyway. What else could it take along?",
            "反正要向这个节点发一个请求，还能顺便带上什么？",
        ),
        3: Words("A request contains a partition only once.", "一个请求里每个分区只出现一次。"),
        4: Words("One of the four is for another node.", "四个里面有一个要去别的节点。"),
    },
)
READY_AFTER_LINGER = Prediction(
    lambda: seen().ready[2],
    Words(
        "A batch has stayed for each of them, and each is ten milliseconds old.",
        "每个节点都还有一个批次，都已经等了十毫秒。",
    ),
    {
        "left": Words("The record for partition 2 came even earlier.", "分区 2 的那条记录来得还更早。"),
        "right": Words("Has nothing of partition 0 stayed?", "分区 0 什么也没留下吗？"),
        "none": Words("So long does `linger.ms` let them wait.", "`linger.ms` 只让它们等这么久。"),
    },
)
PLACE = Prediction(
    lambda: seen().place,
    Words("It is older, and the order of a partition should be kept.", "它更早，而一个分区的次序应该保持。"),
    {"behind": Words("Then a later record would come earlier into the log.", "那样的话，后来的记录会先写入日志。")},
)
READY_AFTER_A_FAILURE = Prediction(
    lambda: seen().ready[3],
    Words(
        "The failed batch is the first of its partition, and waits for `retry.backoff.ms`. The newer one is behind it.",
        "失败的批次排在它的分区最前面，要等 `retry.backoff.ms`；新的那个排在它后面。",
    ),
    {
        "left": Words("What would a retry at once meet?", "马上重试，会遇到什么？"),
        "both": Words("The batch for the other node is in flight.", "另一个节点的批次在途。"),
        "right": Words("Its only batch is in flight.", "它唯一的批次在途。"),
    },
)
FIT = Prediction(
    lambda: seen().fit,
    Words(
        "Three batches are in flight and keep their buffers until a response comes. One is queued behind the batch "
        "that was sent again.",
        "三个批次在途，响应到来之前一直占着缓冲区；还有一个排在重发的批次后面。",
    ),
    {
        6: Words("So many buffers there are. Which are taken?", "缓冲区一共这么多。哪些已经占用？"),
        3: Words("Three are in flight. Does no other batch hold a buffer?", "三个在途。此外没有别的批次占着缓冲区吗？"),
        4: Words("So many are taken.", "已经占用的是这么多。"),
        5: Words("When does a buffer return to the pool?", "缓冲区什么时候归还？"),
    },
)
LINGER_0 = Prediction(
    batches_with_linger_0,
    Words(
        "Each is sent as soon as its node can take a request, mostly with one record. Only while the maximum is in "
        "flight do batches fill.",
        "节点一能接收请求就发送，多半只有一条记录。只有在途的请求到了上限，批次才会填充。",
    ),
    {
        "fewer": Words("What does a record wait for in `linger.ms`?", "在 `linger.ms` 里，记录在等什么？"),
        "as many": Words(
            "A batch of four records takes twelve milliseconds to fill.", "四条记录的批次，填满要十二毫秒。"
        ),
    },
)
ORDER = Prediction(
    order_in_the_log,
    Words(
        "B and C are on their way when A is rejected, and A is sent again behind them.",
        "A 被拒绝时，B 和 C 已经在路上；重发的 A 排到了它们后面。",
    ),
    {
        "ABC": Words("Could the producer take back what it has sent?", "已经发出去的，生产者能收回吗？"),
        "BC": Words("The error is one after which the producer tries again.", "遇到这种错误，生产者会重试。"),
        "ABCA": Words("A broker that rejects a batch does not append it.", "broker 拒绝一个批次，就没有追加它。"),
        "BAC": Words("C is in flight, too, when A is rejected.", "A 被拒绝时，C 也已经在途。"),
    },
)
APPENDS = Prediction(
    appends_of_one_in_flight,
    Words(
        "B and C wait in the accumulator until A is there: they become one batch.",
        "A 写入之前，B 和 C 在收集器里等，于是成为一个批次。",
    ),
    {
        3: Words("What happens in the accumulator to records that have to wait?", "要等待的记录，在收集器里会怎样？"),
        4: Words("A rejected batch is not appended.", "被拒绝的批次没有追加。"),
        1: Words("A batch that was sent takes no more records.", "已经发送过的批次不再接收记录。"),
    },
)
KEEPER = Prediction(
    keeper_of_the_order,
    Words(
        "The broker rejects a number that is too high, and the producer sends A and B again, in their order.",
        "序列号跳过了，broker 就拒绝；生产者再按次序重发 A 和 B。",
    ),
    {
        "producer": Words("B is in flight when A is rejected: who stops it?", "A 被拒绝时 B 已经在途：谁挡住它？"),
        "broker": Words("The broker does not keep what it rejects.", "broker 并不保留它拒绝的东西。"),
    },
)
OFFSET = Prediction(
    lambda: last_offset(numbered=False),
    Words(
        "The broker cannot know that it has the record. It is in the log twice, and the response is that to the second "
        "request.",
        "broker 无从知道它已经有这条记录。日志里有两份，响应是第二个请求的。",
    ),
    {
        1: Words("The response with this offset was lost.", "带着这个偏移量的响应丢了。"),
        0: Words("That is the record before.", "那是前一条记录的。"),
    },
)
NUMBERED_OFFSET = Prediction(
    lambda: last_offset(numbered=True),
    Words(
        "The broker keeps the sequence numbers and offsets of a producer's last batches, so it can say where the "
        "record is.",
        "broker 保存着每个生产者最近几个批次的序列号和偏移量，所以能说出记录在哪里。",
    ),
    {
        2: Words("Is the record appended once more?", "这条记录又追加了吗？"),
        0: Words("That is the record before.", "那是前一条记录的。"),
        -1: Words("The broker remembers more than the number.", "broker 记得的不只是序列号。"),
    },
)
RETRY_PLACE = Prediction(
    place_of_a_failed_batch,
    Words(
        "At the front of its partition's queue, until its backoff is over, and with its buffer.",
        "在它的分区的队列最前面，直到退避时间结束，缓冲区也还占着。",
    ),
    {
        "in flight": Words("Its request has got a response.", "它的请求已经得到响应。"),
        "pool": Words("The pool has only buffers without records.", "缓冲池里只有空的缓冲区。"),
    },
)
