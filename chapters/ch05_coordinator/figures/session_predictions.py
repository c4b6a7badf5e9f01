"""The answers to the predictions of the notebook on sessions and states, by members that are moved by hand.

Book 5.2, 5.4.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from chapters.ch05_coordinator.figures.group_runs import LONG_SESSION_S, REBALANCE_S
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.group_by_hand import GroupByHand
from kafka_learn.recording.run_brokers import wait_until
from kafka_lite.common.errors import Errors
from kafka_lite.common.time import SYSTEM_TIME
from kafka_lite.testing.cluster import Cluster

NONE = Errors.NONE.name
FIRST_EXPIRY_S = (20, 26, 60)
"""When ann may be removed: rebalance timeout of bob, session of ann after her last heartbeat, her rebalance timeout."""
SECOND_EXPIRY_S = (10, 20, 30)
"""When bob may be removed, after his response: session of ann, his rebalance timeout, his session."""
GRACE_MS = 1_500
"""How long to wait for what should not happen: the broker's threads are told at once when its clock moves."""


@functools.cache
def generations_of_one_member() -> int:
    """The generation after a single member has joined, synced, joined again and left."""
    with Cluster() as cluster:
        group = GroupByHand(cluster)
        ann = group.member("ann")
        ann.join()
        ann.sync({ann: b"all"})
        ann.heartbeat()
        ann.join()
        ann.leave()
        assert group.metadata is not None
        return group.metadata.generation_id


@functools.cache
def commits() -> dict[str, str]:
    """The response to a commit with the member's newest generation, by the state of the group."""
    found = {}
    with Cluster() as cluster:
        group = GroupByHand(cluster)
        ann, bob = group.member("ann"), group.member("bob")
        ann.join()
        ann.sync({ann: b"all"})
        steps: tuple[Callable[[], object], ...] = (ann.heartbeat, bob.join, ann.join)
        for step in steps:
            step()
            found[group.state] = ann.commit(10).response
    return found


def state_that_refuses() -> str:
    """The state in which a member cannot commit."""
    (state,) = [state for state, response in commits().items() if response != NONE]
    return state


def state_of_a_commit_on_revocation() -> str:
    """The state of a group that has a new member, before the old one joins again."""
    with Cluster() as cluster:
        group = GroupByHand(cluster)
        ann, bob = group.member("ann"), group.member("bob")
        ann.join()
        ann.sync({ann: b"all"})
        bob.join()
        return group.state


@functools.cache
def after_a_pause() -> tuple[str, str]:
    """The responses to bob's heartbeat and to his commit after a session without any, while ann was there."""
    with Cluster() as cluster:
        group = GroupByHand(cluster)
        ann, bob = group.member("ann"), group.member("bob")
        ann.join()
        bob.join()
        ann.join()
        ann.sync({ann: b"0 1", bob: b"2 3"})
        bob.sync()
        for _ in range(3):
            cluster.time.advance(seconds=4)
            ann.heartbeat()
        group.wait_for("PREPARING_REBALANCE")
        ann.join()
        ann.sync({ann: b"0 1 2 3"})
        return bob.heartbeat().response, bob.commit(10).response


def fate_of_his_records() -> str:
    """The fate of records that bob has read and not committed."""
    return "lost" if after_a_pause()[1] == NONE else "read again"


@functools.cache
def longest_wait_s(*rebalance_timeouts_s: int) -> int:
    """How long a group waits for members that send heartbeats and do not join."""
    with Cluster() as cluster:
        group = GroupByHand(cluster)
        for number, seconds in enumerate(rebalance_timeouts_s):
            session_ms = LONG_SESSION_S * 1000
            group.member(f"m{number}", session_timeout_ms=session_ms, rebalance_timeout_ms=seconds * 1000).join()
        assert group.metadata is not None
        return group.metadata.rebalance_timeout_ms // 1000


@functools.cache
def removals_s() -> tuple[int, int]:
    """After how many seconds ann is removed, who has stopped sending heartbeats, and then bob, who does not sync."""
    with Cluster() as cluster:
        group = GroupByHand(cluster)
        ann = group.member("ann", session_timeout_ms=10_000, rebalance_timeout_ms=60_000)
        bob = group.member("bob", session_timeout_ms=30_000, rebalance_timeout_ms=20_000)
        ann.join()
        bob.join()
        for _ in range(2):
            cluster.time.advance(seconds=8)
            ann.heartbeat()
        first = _when(cluster, group, (each - 16 for each in FIRST_EXPIRY_S), "AWAITING_SYNC") + 16
        return first, _when(cluster, group, SECOND_EXPIRY_S, "EMPTY")


def _when(cluster: Cluster, group: GroupByHand, candidates_s: Iterable[int], state: str) -> int:
    """The first of these times at which the group is in the state."""
    passed_s = 0
    for seconds in candidates_s:
        cluster.time.advance(seconds=seconds - passed_s)
        passed_s = seconds
        for _ in range(GRACE_MS // 20):
            if group.state == state:
                return seconds
            SYSTEM_TIME.sleep(20)
    wait_until(lambda: group.state == state)
    return passed_s


GENERATIONS = Prediction(
    generations_of_one_member,
    Words(
        "Each join starts a generation, since the leader's metadata may have changed; and so does the leave.",
        "每次加入都开始一个世代，因为主消费者的元数据也许变了；离开也是。",
    ),
    {
        1: Words("What does it mean that the leader joins again?", "主消费者再次加入，意味着什么？"),
        2: Words("A leave is a change of the members, too.", "离开也改变了成员。"),
        5: Words("A heartbeat and a SyncGroup change nothing.", "心跳和 SyncGroup 不改变世代。"),
        4: Words("A heartbeat does not count.", "心跳不算。"),
    },
)
REFUSES = Prediction(
    state_that_refuses,
    Words(
        "The new generation has begun, and its assignment is not known: nobody owns what is committed. The member is "
        "to sync first.",
        "新的世代已经开始，分配还不知道：谁也不拥有要提交的分区。成员要先同步。",
    ),
    {
        "STABLE": Words("When else could a member commit?", "那么成员什么时候才能提交？"),
        "PREPARING_REBALANCE": Words(
            "The old generation is still valid: members should be able to save what they have read.",
            "旧的世代仍然有效：成员应该能保存自己读到的。",
        ),
    },
)
STATE = Prediction(
    state_of_a_commit_on_revocation,
    Words(
        "A heartbeat has told her of the new member, and she has not joined again yet. Her generation is still the old "
        "one.",
        "心跳告诉她有了新成员，她还没有再次加入。她的世代仍是旧的那个。",
    ),
    {
        "STABLE": Words("Why would she revoke anything then?", "那她为什么要放弃分区？"),
        "AWAITING_SYNC": Words("For whom does the group still wait?", "组还在等谁？"),
        "EMPTY": Words("She is a member, and so is the new one.", "她是成员，新来的也是。"),
    },
)
ACCEPTED = Prediction(
    lambda: commits()[state_of_a_commit_on_revocation()] == NONE,
    Words(
        "So the next owner of the partitions continues where she stopped.", "这样，下一个所有者就从她停下的地方继续。"
    ),
    {False: Words("Then every rebalance would deliver records twice.", "那样，每次再平衡都会重复消费。")},
)
PAUSED = Prediction(
    lambda: after_a_pause()[0],
    Words(
        "His session is over, and he is not a member any more. He has to join as a new one.",
        "他的会话已经结束，不再是成员，要作为新成员加入。",
    ),
    {
        "REBALANCE_IN_PROGRESS": Words(
            "That is what ann was told. Is bob still in the group?", "那是 ann 得到的。bob 还在组里吗？"
        ),
        "ILLEGAL_GENERATION": Words("The coordinator looks for the member first.", "协调者先查找成员。"),
        "NONE": Words("For twelve seconds he has sent nothing.", "十二秒里他什么也没发送。"),
    },
)
RECORDS = Prediction(
    fate_of_his_records,
    Words(
        "His commit is rejected, and ann begins at what was committed last: at least once.",
        "他的提交被拒绝，ann 从上一次提交的位置开始：至少一次。",
    ),
    {"lost": Words("From which offset does ann read?", "ann 从哪个偏移量读起？")},
)
WAIT = Prediction(
    lambda: longest_wait_s(REBALANCE_S, REBALANCE_S),
    Words(
        "The rebalance timeout, which a consumer sets to `max.poll.interval.ms`. Heartbeats keep the session, and do "
        "not help.",
        "再平衡超时，消费者把它设为 `max.poll.interval.ms`。心跳维持会话，却没有帮助。",
    ),
    {
        45: Words("Her heartbeats are on time: the session does not end.", "她的心跳都按时：会话不会结束。"),
        75: Words("The two do not follow each other.", "两者不是先后相接的。"),
        0: Words("The others wait for her: she may still come.", "其他成员等她：她还可能来。"),
    },
)
ANN = Prediction(
    lambda: removals_s()[0],
    Words(
        "Ten seconds after her last heartbeat, her session ends. That is earlier than any rebalance timeout.",
        "最后一次心跳之后十秒，会话结束，早于再平衡超时。",
    ),
    {
        20: Words("The group waits as long as its slowest member may take.", "组按最慢的成员等待。"),
        60: Words("Her heartbeats have ended before.", "她的心跳早就停了。"),
    },
)
BOB = Prediction(
    lambda: removals_s()[1],
    Words(
        "A member has its rebalance timeout for SyncGroup, too, whatever its session is. Heartbeats do not help.",
        "发送 SyncGroup 的期限，也是再平衡超时，不管会话有多长；发送心跳没有帮助。",
    ),
    {
        10: Words("That was the session of ann.", "那是 ann 的会话。"),
        30: Words("He sends heartbeats: his session does not end.", "他发送心跳：会话不会结束。"),
    },
)
WITH_HEARTBEATS = Prediction(
    lambda: longest_wait_s(60, 20),
    Words("The longest rebalance timeout of all members.", "所有成员的再平衡超时中最长的那个。"),
    {
        10: Words("Her heartbeats keep her session.", "她的心跳维持着会话。"),
        20: Words("The group waits as long as its slowest member may take.", "组按最慢的成员等待。"),
        30: Words("Bob waits, and his session is not looked at meanwhile.", "bob 在等，这期间不看他的会话。"),
    },
)
