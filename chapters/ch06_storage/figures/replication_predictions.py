"""The answers to the predictions of the notebook on replication by hand, found by doing the same. Book 6.2."""

from __future__ import annotations

import functools

from chapters.ch06_storage.figures.replica_drawings import BOOKS_KAFKA
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.replicas_by_hand import Frame, ReplicasByHand

FETCHES = (2, 3, 2, 3, 2)
"""The followers that fetch, one after the other."""
WAITING = "…"
"""The response of a produce request that has none yet."""


@functools.cache
def fetches_until_the_response() -> int:
    """After how many fetches a record with acks=all is acknowledged."""
    with ReplicasByHand() as replicas:
        replicas.lead(1)
        sent = replicas.produce("a", acks=-1)
        for number, follower in enumerate(FETCHES, 1):
            replicas.fetch(follower)
            if sent.response != WAITING:
                return number
    return 0


@functools.cache
def survivors() -> int:
    """How many of three records, one for each acks, are there after the leader has died at once."""
    count = 0
    for acks in (0, 1, -1):
        with ReplicasByHand() as replicas:
            replicas.lead(1)
            written = replicas.produce("a", acks=acks)
            while acks == -1 and written.response == WAITING:
                for follower in (2, 3):
                    replicas.fetch(follower)
            replicas.kill(1)
            replicas.elect()
            count += bool(replicas.film[-1].views[2].values)
    return count


def restart_and_lose_the_leader(protocol: str = "") -> list[Frame]:
    """The nine steps in which a restart and the death of the leader follow each other."""
    with ReplicasByHand(protocol=protocol) as replicas:
        replicas.lead(1)
        replicas.produce("a")
        for follower in (2, 3, 2, 3, 2, 3):
            replicas.fetch(follower)
        replicas.advance(6)  # the high watermarks are written to disk
        replicas.produce("b")
        for follower in (2, 2, 3, 3):
            replicas.fetch(follower)
        replicas.kill(2)
        replicas.start(2)
        replicas.kill(1)
        replicas.elect()
        replicas.fetch(3)
        return list(replicas.film[-9:])


@functools.cache
def first_difference() -> str:
    """The step after which the logs of old and of new brokers differ for the first time."""
    old, new = (restart_and_lose_the_leader(protocol) for protocol in (BOOKS_KAFKA, ""))
    return next(one.step for one, other in zip(old, new, strict=True) if _letters(one) != _letters(other))


def _letters(frame: Frame) -> dict[int, list[str]]:
    """The records of each broker, without their epochs, which old brokers do not have."""
    return {broker: [value for value, _ in view.values] for broker, view in frame.views.items()}


@functools.cache
def common_end() -> int:
    """Up to which offset two logs are the same, after each of two leaders has written for itself."""
    with ReplicasByHand(brokers=2) as replicas:
        replicas.lead(1)
        replicas.produce("a")
        for _ in range(2):
            replicas.fetch(2)
        replicas.produce("b", acks=1)
        replicas.produce("c", acks=1)
        replicas.kill(1)
        replicas.elect()
        replicas.produce("d", acks=1)
        replicas.start(1)
        own, leaders = (replicas.brokers[number].partition.log for number in (1, 2))
        assert own is not None
        assert leaders is not None
        return leaders.end_offset_for_epoch(own.latest_epoch).start_offset


def is_lost(*, acks: int, unclean: bool) -> bool:
    """Whether an acknowledged record can be lost although ``min.insync.replicas`` is 2, when leaders die in turn.

    Broker 3 does not fetch, so it leaves the ISR. A clean election chooses among the others.
    """
    with ReplicasByHand(min_insync_replicas=2) as replicas:
        replicas.lead(1, isr=(1, 2))
        sent = replicas.produce("a", acks=acks)
        while sent.response == WAITING:
            replicas.fetch(2)
        replicas.kill(1)
        if unclean:
            replicas.kill(2)
        leader = replicas.elect(unclean=unclean)
        return not replicas.film[-1].views[leader].values


@functools.cache
def left_after_an_unclean_election() -> int:
    """How many of two committed records a consumer gets from a leader that has fetched only the first."""
    with ReplicasByHand() as replicas:
        replicas.lead(1)
        replicas.produce("a")
        for follower in (2, 3, 2, 3):
            replicas.fetch(follower)
        replicas.kill(3)
        replicas.advance(60)  # longer than replica.lag.time.max.ms
        replicas.produce("b")
        for _ in range(2):
            replicas.fetch(2)
        replicas.kill(1)
        replicas.kill(2)
        replicas.start(3)
        replicas.elect(unclean=True)
        return len(replicas.consume())


@functools.cache
def given_up() -> str:
    """The promise without which an acknowledged record can be lost."""
    without_acks, without_clean = is_lost(acks=1, unclean=False), is_lost(acks=-1, unclean=True)
    if without_acks and without_clean:
        return "either"
    return "acks" if without_acks else "elections" if without_clean else "both"


RESPONSE = Prediction(
    fetches_until_the_response,
    Words(
        "The first round copies the record. Only the second one tells the leader that it is there: a fetch names the "
        "offset up to which the follower has everything.",
        "第一轮把记录复制过去，第二轮才让主副本知道已经复制好：拉取请求里写着备份副本已经有到哪里。",
    ),
    {
        2: Words(
            "Both have the record then. How does the leader learn of it?",
            "那时两个都有记录了。主副本怎么知道？",
        ),
        5: Words("After this one, broker 2 knows it, too.", "这一次之后，broker 2 也知道了。"),
        3: Words("One of the two has not said yet that it has the record.", "还有一个没有说过自己有这条记录。"),
    },
)
FIRST = Prediction(
    lambda: "ZooKeeper",
    Words(
        "If the write fails, because the controller was faster, nothing has been changed in memory.",
        "如果因为控制器抢先而写不成，内存里就什么也没改。",
    ),
    {
        "ISR": Words(
            "Then the leader could commit a record with an ISR that nobody else knows of.",
            "那样的话，主副本会按别人不知道的 ISR 提交记录。",
        ),
        "HW": Words("It is the smallest LEO of the ISR: of which ISR?", "它是 ISR 里最小的 LEO。哪个 ISR？"),
    },
)
SURVIVORS = Prediction(
    survivors,
    Words(
        "Only the record that the followers had when the producer was told. The others were on one disk.",
        "只剩下备份副本已经有了、才通知生产者的那一条。另外两条只在一块磁盘上。",
    ),
    {
        2: Words(
            "One of the three waits for the leader alone, which is dead.",
            "三条里有一条只等主副本，而它崩溃了。",
        ),
        3: Words("The leader dies at once. Who has fetched by then?", "主副本马上就崩溃了。那时谁拉取过？"),
        0: Words(
            "One of the three producers gets its response only after fetches.",
            "三个生产者里，有一个要等备份副本拉取之后才得到响应。",
        ),
    },
)
DIFFERENCE = Prediction(
    first_difference,
    Words(
        "The old broker truncates to its high watermark as soon as it becomes a follower. The new one asks the leader "
        "first.",
        "旧的 broker 一当上备份副本就截断到高水位；新的要先询问主副本。",
    ),
    {
        "kill 2": Words("A broker that is down does nothing to its log.", "停掉的 broker 不会动自己的日志。"),
        "kill 1": Words("The record is lost before: look at broker 2.", "记录在这之前就丢了，看看 broker 2。"),
        "lead 2": Words("A leader truncates nothing.", "主副本什么也不截断。"),
        "fetch 3": Words(
            "Here the last copy goes. But where did the first one?", "最后一份是在这里没有的。可是第一份呢？"
        ),
    },
)
COMMON = Prediction(
    common_end,
    Words(
        "The follower asks where its newest epoch ends at the leader. There, epoch 0 ends with a.",
        "备份副本询问：我最新的纪元，在你那里到哪里为止？在主副本那里，纪元 0 到 a 为止。",
    ),
    {
        2: Words("Both have a record there, but not the same one.", "那里两边都有记录，但不是同一条。"),
        3: Words("That is the end of one of them.", "那是其中一个的末端。"),
        0: Words("a was fetched.", "a 已经拉取过。"),
    },
)
GIVEN_UP = Prediction(
    given_up,
    Words(
        "With `acks=1` a record is acknowledged that only the leader has. And an unclean election may choose a replica "
        "that was never asked, whatever the producer waited for.",
        "用 `acks=1`，只有主副本有的记录就已经确认了。不干净的选举则可能选中一个从没参与过确认的副本，不论生产者等过什"
        "么。",
    ),
    {
        "acks": Words(
            "Kill both members of the ISR, and let the third broker lead.",
            "杀掉 ISR 的两个成员，让第三个 broker 当主副本。",
        ),
        "elections": Words(
            "With `acks=1`, what does `min.insync.replicas` count?",
            "用 `acks=1` 时，`min.insync.replicas` 还起作用吗？",
        ),
        "both": Words("Try to keep one of them.", "试试保留其中一个。"),
    },
)
UNCLEAN = Prediction(
    left_after_an_unclean_election,
    Words(
        "Only a. What was committed, acknowledged and read is gone, and the next record gets the offset of b: two "
        "consumers disagree about what was there.",
        "只有 a。提交过、确认过、读过的记录没有了，下一条记录得到的正是 b 的偏移量：两个消费者看到的历史不同。",
    ),
    {
        2: Words("Where would broker 3 have b from?", "broker 3 从哪里得到 b？"),
        0: Words("What did broker 3 have before it fell silent?", "broker 3 停止拉取之前，已经有什么？"),
    },
)
