"""The answers to the predictions of the notebook on joining a group, by its runs, by hand and by the assignors.

Book 5.1, 5.3.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from chapters.ch05_coordinator.figures.group_runs import (
    HEARTBEAT_MS,
    NAMES,
    PARTITIONS,
    four_members_join,
    third_member_joins,
)
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.group_by_hand import GroupByHand
from kafka_learn.recording.recorded_run import Kind
from kafka_lite.clients.cluster import Cluster as ClusterView
from kafka_lite.clients.cluster import Node, PartitionInfo
from kafka_lite.common.errors import Errors
from kafka_lite.consumer.assignors.partition_assignor import Subscription
from kafka_lite.consumer.assignors.range_assignor import RangeAssignor
from kafka_lite.consumer.assignors.sticky_assignor import StickyAssignor
from kafka_lite.testing.cluster import Cluster

TOPIC = "demo"


class _Joined(NamedTuple):
    """The outcome of four members that join."""

    leader: str
    at_once: int
    """JoinGroup responses with a generation that are sent by one event."""
    thread: str


@functools.cache
def four_joined() -> _Joined:
    """The responses with a generation: the leader, how many they are after the delayed join is complete, and by "
    "whom."""
    run = four_members_join()
    complete_ns = next(event.time_ns for event in run if (event.who, event.what) == ("DelayedJoin", "complete"))
    pairs = [
        pair
        for pair in run.hand_overs()
        if pair.put.what == "JoinGroup response" and pair.take is not None and "generation" in str(pair.take.detail)
    ]
    (leader,) = [pair.take.who for pair in pairs if pair.take is not None and "leader" in str(pair.take.detail)]
    (thread,) = {pair.put.thread for pair in pairs}
    kind = "reaper" if "Reaper" in thread else "request handler" if "handler" in thread else "network thread"
    return _Joined(leader, sum(pair.put.time_ns >= complete_ns for pair in pairs), kind)


def owners(members: tuple[str, ...]) -> dict[int, str]:
    """The owner of each partition, as the range assignor divides them."""
    found = RangeAssignor().assign_partitions({TOPIC: PARTITIONS}, {name: Subscription((TOPIC,)) for name in members})
    return {partition.partition: name for name, parts in found.items() for partition in parts}


def idle_member() -> str:
    """The one of five members that has no partition."""
    (idle,) = set(NAMES) - set(owners(NAMES).values())
    return idle


def moved_when_the_first_leaves(kind: type[RangeAssignor] | type[StickyAssignor]) -> int:
    """How many partitions have another owner after the first of five members has left."""
    node = Node(0, "localhost", 9092)
    partitions = tuple(PartitionInfo(TOPIC, each, node, (node,), (node,)) for each in range(PARTITIONS))
    view = ClusterView((node,), partitions)
    assignors = {name: kind() for name in NAMES}
    generations: list[dict[int, str]] = []
    for generation, present in enumerate((NAMES, NAMES[1:]), 1):
        said = {name: Subscription((TOPIC,), assignors[name].subscription_user_data([TOPIC])) for name in present}
        assigned = assignors[present[0]].assign(view, said)
        for name, part in assigned.items():
            assignors[name].on_assignment(part, generation)
        generations.append({each.partition: name for name, part in assigned.items() for each in part.partitions})
    before, after = generations
    return sum(before[partition] != after[partition] for partition in before)


@functools.cache
def news() -> str:
    """The kind of response that tells members of a rebalance."""
    (kind,) = {
        event.what.removesuffix(" response")
        for event in third_member_joins()
        if event.kind is Kind.TAKE and event.detail.get("says") == Errors.REBALANCE_IN_PROGRESS.name
    }
    return kind


@functools.cache
def rebalances_by_hand() -> int:
    """How many rebalances ten requests of two members start: each ends with a new generation."""
    with Cluster() as cluster:
        group = GroupByHand(cluster)
        ann, bob = group.member("ann"), group.member("bob")
        for join in (ann.join, bob.join, ann.join, bob.join):
            join()
        ann.sync({ann: b"0 1", bob: b"2 3"})
        bob.sync()
        for request in (bob.join, ann.join, bob.heartbeat, bob.leave):
            request()
        assert group.metadata is not None
        return group.metadata.generation_id


@functools.cache
def early_sync() -> str:
    """The response to a leader's SyncGroup while another member's JoinGroup waits for a new generation."""
    with Cluster() as cluster:
        group = GroupByHand(cluster)
        ann, bob = group.member("ann"), group.member("bob")
        ann.join()
        bob.join()
        return ann.sync({ann: b"0 1 2 3"}).response


LEADER = Prediction(
    lambda: four_joined().leader,
    Words(
        "The first that has joined, and it stays the leader while it is a member.",
        "最先加入的那个；只要还是成员，就一直是主消费者。",
    ),
    {
        "dan": Words("The last one finds a group that has a leader.", "最后来的，看到的组已经有主消费者了。"),
        "bob": Words("Somebody was there before.", "在他之前已经有人来了。"),
        "cid": Words("Two were there before.", "在他之前已经来了两个。"),
        "broker": Words("The broker does not know how to divide partitions.", "broker 并不会划分分区。"),
    },
)
AT_ONCE = Prediction(
    lambda: four_joined().at_once,
    Words("The join is one operation, and its end is the response to all.", "加入是一个操作，它完成时响应所有人。"),
    {
        1: Words(
            "When could the first have got its response, without knowing the others?",
            "还不知道有谁要来，怎么响应第一个？",
        ),
        3: Words("The leader needs the list of all members.", "主消费者需要全体成员的名单。"),
        8: Words("At its first request, a member only gets its id.", "第一个请求，成员只得到编号。"),
    },
)
THREAD = Prediction(
    lambda: four_joined().thread,
    Words(
        "Nobody joined any more, and the time was up. Had the last member completed it, the thread of that member's "
        "request would have sent all of them.",
        "没有谁再来，时间到了。如果由最后一个成员完成，响应就都由处理它那个请求的线程发出。",
    ),
    {
        "request handler": Words("Which request was there at that moment?", "那一刻有什么请求？"),
        "network thread": Words(
            "It moves bytes. Who decides that the join is over?", "它只传送字节。由谁决定加入已经结束？"
        ),
    },
)
IDLE = Prediction(
    idle_member,
    Words(
        "There are four partitions, and range begins with the first member.", "分区只有四个，range 从第一个成员开始分。"
    ),
    {
        "ann": Words("With which member does range begin?", "range 从哪个成员开始？"),
        "dan": Words("Count the partitions.", "数一数分区。"),
        "nobody": Words("How many partitions are there, and how many members?", "有几个分区，几个成员？"),
    },
)
HEIR = Prediction(
    lambda: owners(NAMES[1:])[0],
    Words(
        "Range sorts the members, and starts from the beginning: partition 0 belongs to the first.",
        "range 给成员排序，从头再分：分区 0 归第一个。",
    ),
    {
        "eve": Words(
            "She gets one, but which? Write down the new assignment.", "她会得到一个，可是哪一个？请写下新的分配。"
        ),
        "ann": Words("She has left.", "她已经离开。"),
        "dan": Words("Sort the members that are left.", "请给剩下的成员排序。"),
        "cid": Words("Somebody stands before cid.", "cid 前面还有人。"),
    },
)
MOVED_BY_RANGE = Prediction(
    lambda: moved_when_the_first_leaves(RangeAssignor),
    Words("Every member moves up by one.", "每个成员都往前挪一位。"),
    {
        1: Words("So many would be enough. Write down both assignments.", "其实这么多就够了。请写下前后两次分配。"),
        3: Words("Does anybody keep a partition?", "有谁保住了分区吗？"),
        0: Words("A partition of the first one needs an owner.", "第一个成员的分区要有所有者。"),
    },
)
MOVED_BY_STICKY = Prediction(
    lambda: moved_when_the_first_leaves(StickyAssignor),
    Words(
        "Members tell what they own, and everybody keeps it; the free partition goes to the member without any.",
        "成员说出自己拥有什么，并且都保住；空出的分区给没有分区的那个。",
    ),
    {
        4: Words("Does `sticky` forget what the members own?", "`sticky` 会忘记成员拥有什么吗？"),
        0: Words("The free partition needs an owner.", "空出的分区要有所有者。"),
        2: Words("Must anybody who stays give up something?", "留下的成员有谁必须放弃什么吗？"),
    },
)
NEWS = Prediction(
    news,
    Words(
        "`REBALANCE_IN_PROGRESS`. A broker never sends anything unasked, so they read until their next heartbeat.",
        "`REBALANCE_IN_PROGRESS`。broker 从不主动发送什么，所以他们一直读到下一次心跳。",
    ),
    {
        "Fetch": Words("The leader of a partition knows nothing of groups.", "分区的主副本不知道消费组的事。"),
        "JoinGroup": Words("They send this one only when they know.", "得知之后，他们才会发送这个。"),
        "OffsetCommit": Words("Here they do not commit in between.", "这里他们在中间没有提交。"),
    },
)
READING = Prediction(
    lambda: HEARTBEAT_MS,
    Words("At worst, the last heartbeat was answered just before.", "最不巧的时候，上一次心跳刚刚得到响应。"),
    {
        0: Words("Can the broker interrupt them?", "broker 能打断他们吗？"),
        30: Words("That is the mean.", "那是平均值。"),
        120: Words("The next heartbeat tells it.", "下一次心跳就会得知。"),
    },
)
STARTED = Prediction(
    rebalances_by_hand,
    Words(
        "The first join of the group, that of a new member, and that of the leader, whose metadata may have changed.",
        "组的第一次加入，新成员的加入，还有主消费者的再次加入：它的元数据也许变了。",
    ),
    {
        2: Words("A group of one is rebalanced, too.", "只有一个成员，也要再平衡。"),
        4: Words(
            "Does a member that leaves start another one while one is running?",
            "再平衡正在进行，成员离开会再开始一次吗？",
        ),
        5: Words(
            "A follower that joins again, unchanged, gets the same generation.",
            "普通消费者没有变，再次加入得到的是同一个世代。",
        ),
        1: Words("What does a new member do to a generation?", "新成员对世代有什么影响？"),
    },
)
EARLY_SYNC = Prediction(
    early_sync,
    Words(
        "The generation is over. The leader has to join again before it can assign anything.",
        "这个世代已经结束。主消费者要先再次加入，才能分配。",
    ),
    {
        "its assignment": Words("To which members would that be known?", "别的成员怎么办？"),
        "ILLEGAL_GENERATION": Words(
            "The new generation has not started, so its number is still right.",
            "新的世代还没有开始，所以它的编号仍然对。",
        ),
        "UNKNOWN_MEMBER_ID": Words("It is still a member.", "它还是成员。"),
    },
)
