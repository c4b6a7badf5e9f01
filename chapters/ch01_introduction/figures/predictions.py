"""The answers to the predictions of the chapter's notebook, computed by the code that the chapter shows."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Sequence

from chapters.ch01_introduction.figures.platform_runs import one_record_two_readers
from chapters.ch01_introduction.figures.quorum_tables import survived
from chapters.ch01_introduction.figures.request_bytes import produce_request
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.recorded_run import Kind
from kafka_lite.admin.replica_assignment import BrokerMetadata, assign_replicas_to_brokers
from kafka_lite.consumer.assignors.partition_assignor import Subscription
from kafka_lite.consumer.assignors.range_assignor import RangeAssignor
from kafka_lite.producer.partitioner import partition_for_key
from kafka_lite.record.compression import CompressionType
from kafka_lite.record.memory_records_builder import memory_records
from kafka_lite.record.record import MAGIC_V1, MAGIC_V2
from kafka_lite.server.delayed_produce import DelayedProduce
from kafka_lite.streams.kstream.windows import TimeWindows

CUSTOMERS = tuple(f"customer-{number}" for number in range(1_000))
FEW, HALF, MOST = "few", "half", "most"
SHORT, LONG = 5, 105
WINDOW_MIN = 10
LATE_RECORDS = ((1, 1), (4, 5), (9, 12), (11, 13), (8, 21), (22, 22))
"""The minutes in which something happened, and in which the record of it arrived."""


def moved(keys: Sequence[str], before: int, after: int) -> int:
    """The number of keys whose partition changes with the number of partitions."""
    return sum(partition_for_key(key.encode(), before) != partition_for_key(key.encode(), after) for key in keys)


def shares(partitions: int, members: int) -> dict[str, list[int]]:
    """The partitions of each member of a group."""
    group = {f"consumer {number}": Subscription(("orders",)) for number in range(1, members + 1)}
    found = RangeAssignor().assign_partitions({"orders": partitions}, group)
    return {member: [each.partition for each in parts] for member, parts in found.items()}


def replicas(brokers: int, partitions: int, copies: int) -> dict[int, list[int]]:
    """The brokers of each partition, the preferred leader first."""
    given = [BrokerMetadata(number) for number in range(brokers)]
    return assign_replicas_to_brokers(given, partitions, copies, fixed_start_index=0)


def new_leaders(assignment: dict[int, list[int]], dead: int) -> dict[int, int]:
    """How many leaderships of a dead broker each other broker gets, if all replicas are in sync."""
    return dict(Counter(brokers[1] for brokers in assignment.values() if brokers[0] == dead))


def counted(minutes: Iterable[int]) -> dict[str, int]:
    """The number of records in each window of ten minutes."""
    windows = TimeWindows.of(WINDOW_MIN)
    starts = sorted(start for minute in minutes for start in windows.windows_for(minute))
    return {f"{start}–{start + WINDOW_MIN}": count for start, count in Counter(starts).items()}


@functools.cache
def calls_of_the_log(what: str) -> int:
    """How often a method of the log is called for one record and its readers."""
    return sum(event.kind is Kind.CALL and event.what == what for event in one_record_two_readers())


def empty_partitions(partitions: int) -> str:
    """The share of partitions without a customer, if there are as many of both: the mean of many groups."""
    groups = [CUSTOMERS[start : start + partitions] for start in range(0, len(CUSTOMERS) - partitions, partitions)]
    taken = [len({partition_for_key(key.encode(), partitions) for key in group}) for group in groups]
    share = 1 - sum(taken) / len(taken) / partitions
    return "none" if share < 0.1 else "about a third" if share < 0.5 else "most"


def records_until_a_batch_is_shorter(value: bytes) -> int:
    """How many records it takes until a batch of today's format is shorter than the same messages in the old one."""
    count = 1
    while _size(MAGIC_V2, value, count) >= _size(MAGIC_V1, value, count):
        count += 1
    return count


def _size(magic: int, value: bytes, count: int) -> int:
    return len(memory_records(magic, CompressionType.NONE, [(None, value)] * count, timestamp=1_600_000_000_000))


def _share_that_moves() -> str:
    share = moved(CUSTOMERS, 12, 13) / len(CUSTOMERS)
    return FEW if share < 0.25 else HALF if share < 0.75 else MOST


def _growth() -> int:
    sizes = [len(produce_request(3, bytes(size)).encode(3)) for size in (SHORT, LONG)]
    return sizes[1] - sizes[0]


APPENDED = Prediction(
    lambda: calls_of_the_log("append_as_leader"),
    Words("Readers share it: each has only a place in the log.", "读者共用它：每个读者只有自己的位置。"),
    {
        2: Words("Does each reader need a copy of its own?", "每个读者都要有自己的一份吗？"),
        3: Words("Does a read write something?", "读的时候会写什么吗？"),
    },
)
READ = Prediction(
    lambda: calls_of_the_log("read"),
    Words("A read deletes nothing, so it can be repeated.", "读并不删除，所以可以再读一遍。"),
    {
        2: Words("What about the next day?", "第二天呢？"),
        1: Words("Does the log push records to those who want them?", "日志会把记录推给想要的程序吗？"),
    },
)
EMPTY = Prediction(
    lambda: empty_partitions(12),
    Words(
        "The hash scatters keys like dice. A key misses a given partition with 11/12, and twelve keys all miss it with "
        "(11/12)¹², which is 35 percent. Many keys even it out.",
        "散列就像掷骰子：一个键不落在某个分区的机会是 11/12，十二个键都不落在那里的机会是 (11/12)¹²，即 35%。键多了才会"
        "均匀。",
    ),
    {
        "none": Words("Does a hash remember where the other keys went?", "散列会记得别的键去了哪里吗？"),
        "most": Words("Throw a die six times. How many of its sides do you see?", "把一个骰子掷六次，看得到几个面？"),
    },
)
MOVED = Prediction(
    _share_that_moves,
    Words(
        "The partition is the hash modulo the number of partitions; after the change, only one key in thirteen "
        "happens to get the same number.",
        "分区是散列值除以分区数的余数；分区数一变，十三个键里只有一个碰巧得到同样的余数。",
    ),
    {
        FEW: Words(
            "That is what consistent hashing would do. Kafka takes the hash modulo the number of partitions.",
            "那是一致性散列的结果。Kafka 用的是散列值除以分区数的余数。",
        ),
        HALF: Words("Compute the remainders of 24 by both numbers.", "请算算 24 除以这两个数的余数。"),
    },
)
IDLE = Prediction(
    lambda: sum(not parts for parts in shares(4, 5).values()),
    Words(
        "A partition has one reader in a group, so there is work for as many as there are partitions.",
        "在一个组里，一个分区只有一个读者，所以有几个分区就有几个人干活。",
    ),
    {
        0: Words(
            "Then two members would read the same partition, and its order would be gone.",
            "那样就有两个成员读同一个分区，顺序也就没有了。",
        ),
        4: Words("So many work. The question is how many do not.", "这么多个在干活。问的是几个闲着。"),
    },
)
TAKEN_OVER = Prediction(
    lambda: new_leaders(replicas(3, 6, 2), 0)[1],
    Words(
        "The shift grows with each round, so the second replicas of one broker's partitions are on different brokers.",
        "每过一轮 shift 就加一，所以同一个 broker 上的分区，第二个副本在不同的 broker 上。",
    ),
    {
        2: Words(
            "That would be without the shift: the neighbour would get all of them.",
            "没有 shift 才会这样：全都给了邻居。",
        ),
        0: Words("Look at the second broker of the lists that begin with 0.", "请看以 0 开头的列表里的第二个 broker。"),
    },
)
GROWTH = Prediction(
    _growth,
    Words(
        "The value is longer by a hundred bytes, and two lengths inside the batch, varints, need a second byte each: "
        "that of the record and that of the value.",
        "值长了一百字节，而批次里有两个变长整数各多用一个字节：记录的长度和值的长度。",
    ),
    {
        100: Words(
            "Those are the bytes of the value. Lengths in a record batch are varints: which of them pass 63?",
            "这只是值的字节数。记录批次里的长度是变长整数：哪几个超过了 63？",
        ),
        101: Words("One length more has grown.", "变长的长度还有一个。"),
    },
)
SURVIVED = Prediction(
    lambda: survived(3)[0],
    Words(
        "Every member of the ISR has every committed record, so the last one is enough.",
        "ISR 的每个成员都有每一条已提交的记录，所以剩下一个就够了。",
    ),
    {
        1: Words("So many a majority survives.", "这是多数能经得起的个数。"),
        3: Words("Then nobody is left that has the record.", "那就没有谁还有这条记录了。"),
    },
)
IN_THE_FIRST_WINDOW = Prediction(
    lambda: counted(happened for happened, _ in LATE_RECORDS)["0–10"],
    Words(
        "Two of them arrive after the window has ended, one of them eleven minutes later: a count by event time must "
        "wait, or be corrected.",
        "其中两条在窗口结束之后才到，有一条晚了十一分钟：按事件时间计数，要么等，要么事后更正。",
    ),
    {
        2: Words(
            "That is the count by arrival. Which records tell of the minutes 0 to 9?",
            "这是按到达计的数。哪些记录说的是第 0 到 9 分钟？",
        ),
        3: Words("One more arrives very late.", "还有一条很晚才到。"),
    },
)
MODULE_OF_CLASS = Prediction(
    lambda: DelayedProduce.__module__.rpartition(".")[2],
    Words(
        "A class of Kafka is a class here, in a module named after it.",
        "Kafka 的一个类就是这里的一个类，模块以它命名。",
    ),
    {
        "replica_manager": Words(
            "It makes the operation. The class has a module of its own.", "操作由它创建，但这个类有自己的模块。"
        ),
        "DelayedProduce": Words("That is the class. The module is named in lower case.", "这是类名。模块名用小写。"),
    },
)
SHORTER = Prediction(
    lambda: records_until_a_batch_is_shorter(bytes(SHORT)),
    Words(
        "A batch begins with 61 bytes, and each record takes 12. In version 2 each takes 39: offset, size, checksum "
        "and timestamp are written for every message.",
        "批次开头是 61 字节，每条记录 12 字节；版本 2 里每条 39 字节：偏移量、长度、校验和、时间戳，每条消息都要写。",
    ),
    {
        1: Words("The head of a batch alone has 61 bytes.", "批次的开头就有 61 字节。"),
        2: Words("85 bytes against 78.", "85 字节对 78 字节。"),
        6: Words(
            "Let the notebook print the lengths of both, with some records.", "请让笔记本打印出两者的长度，放几条记录。"
        ),
        61: Words("So many bytes does a batch begin with.", "那是批次开头的字节数。"),
    },
)
