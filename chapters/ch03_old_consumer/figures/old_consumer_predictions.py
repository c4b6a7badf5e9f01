"""The answers to the predictions of the notebook on the old consumers, by recorded runs. Book 3."""

from __future__ import annotations

import functools
import logging
import threading
from contextlib import ExitStack

from chapters.ch03_old_consumer.figures import old_consumer_runs as runs
from chapters.ch03_old_consumer.figures.old_consumer_figures import assign, znodes_of_two
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.recorded_run import Event, Kind, RecordedRun
from kafka_learn.recording.run_brokers import TOPIC
from kafka_lite.common.errors import KafkaError
from kafka_lite.common.process.log_levels import quiet
from kafka_lite.old_consumer.zookeeper_consumer_connector import ZookeeperConsumerConnector

ONLY_CONSUMERS = ("kafka-consumer", f"{runs.GROUP_ID}_a")
"""Beginnings of the names of a consumer's own threads; that of a fetcher contains the second one."""
SMALLER_THAN_A_MESSAGE = 50


@functools.cache
def threads_of_a_consumer() -> int:
    """How many threads a consumer has, without those of its user and of the ZooKeeper client."""
    with runs.running_cluster() as cluster, runs.running_members() as members:
        before = set(threading.enumerate())
        members.append(runs.Member(cluster, "a"))
        members[0].join()
        runs.wait_balanced(members)
        names = [thread.name for thread in set(threading.enumerate()) - before]
    return sum(any(each in name for each in ONLY_CONSUMERS) for name in names)


@functools.cache
def kind_of_znode_that_stays() -> str:
    """The kind of znode of a member that leaves which is still what it was."""
    _, both, after = znodes_of_two()
    of_a = ("ids/readers_a", f"owners/{TOPIC}/0", f"offsets/{TOPIC}/0")
    (stays,) = [path.partition("/")[0] for path in of_a if after.get(path) == both[path]]
    return stays


@functools.cache
def joining() -> tuple[int, int]:
    """How often member b tries to rebalance until it has its partitions, and how many of its claims fail."""
    calls = runs.rebalance().calls()
    tries = sum((call.begin.who, call.begin.what) == ("b", "_try_rebalance") for call in calls)
    refused = sum(call.begin.what == "create_owner" and call.end is not None and call.end.detail["result"] is False
                  for call in calls)  # fmt: skip
    return tries, refused


@functools.cache
def when_c_joined() -> tuple[int, int]:
    """How many partitions kept their owner when a third member joined, and how many of these were released."""
    found, tries = None, 0
    while found is None and tries < 5:
        found, tries = _third_join(runs.one_to_three()), tries + 1
    if found is None:
        raise TimeoutError("the group of three was never at rest")
    return found


def _third_join(run: RecordedRun) -> tuple[int, int] | None:
    """The same of a run; None if the machine was so busy that the first member left before all three were done."""
    claims = {call.begin.number: call.begin.detail for call in run.calls() if call.begin.what == "create_owner"}
    owners: dict[int, str] = {}
    before: dict[int, str] = {}
    released: set[int] = set()
    done: set[str] = set()
    for event in run:
        if event.kind is Kind.RETURN and event.number in claims and event.detail["result"] is True:
            owners[claims[event.number]["partition"]] = claims[event.number]["owner"]
        elif event.kind is Kind.RETURN and event.what == "_try_rebalance" and event.detail.get("result") is True:
            done.add(event.who)
        elif event.kind is Kind.CALL and event.detail.get("consumer") == "readers_c":
            before = dict(owners)
            released.clear()
            done.clear()
        elif event.kind is Kind.CALL and event.what == "release_owner":
            released.add(event.detail["partition"])
            owners.pop(event.detail["partition"], None)
        if before and done == set("abc") and len(owners) == runs.PARTITIONS:
            kept = {partition for partition, owner in before.items() if owners[partition] == owner}
            return len(kept), len(kept & released)
    return None


def partitions_of_the_first(strategy: str, topics: int) -> int:
    """How many partitions the first of two members gets, of topics with three partitions each."""
    names = [f"t{number}" for number in range(topics)]
    members = {name: dict.fromkeys(names, 1) for name in ("C1", "C2")}
    return len(assign(strategy, members, dict.fromkeys(names, 3))["C1-0"])


@functools.cache
def offsets_of_a_partition() -> tuple[int, int]:
    """The fetched offset when the user comes, and the consumed offset when the user has the first message."""
    fetched = consumed = -1
    when_the_user_comes: int | None = None
    for event in runs.queue_and_iterator():
        fetched, consumed = _after(event, "fetched_offset", fetched), _after(event, "consumed_offset", consumed)
        if event.what == "__next__" and when_the_user_comes is None:
            when_the_user_comes = fetched
        if event.what == "__next__" and event.kind is Kind.RETURN:
            break
    assert when_the_user_comes is not None
    return when_the_user_comes, consumed


def _after(event: Event, what: str, before: int) -> int:
    return int(event.detail["after"]) if event.what == what else before


@functools.cache
def writes() -> int:
    """How many offsets three commits write to ZooKeeper, the second of which comes without a message before it."""
    return sum(event.kind is Kind.CALL and event.what == "set_offset" for event in runs.commit_to_zookeeper())


@functools.cache
def connections_of_the_example() -> int:
    """How many connections the low-level example opens, with one fetch that is rejected."""
    return sum(event.kind is Kind.PUT and event.what == "connection" for event in runs.low_level())


@functools.cache
def outcome_of_small_fetches() -> str:
    """The user's outcome if a fetch may not be as large as a message."""
    with quiet(runs.QUIET, below=logging.CRITICAL), runs.running_cluster(partitions=1) as cluster, ExitStack() as stack:
        settings = {"fetch_message_max_bytes": SMALLER_THAN_A_MESSAGE, "consumer_timeout_ms": 5_000}
        connector = ZookeeperConsumerConnector(runs.old_config(cluster, "a", **settings))
        stack.callback(connector.shutdown)
        (stream,) = connector.create_message_streams({TOPIC: 1})[TOPIC]
        try:
            next(iter(stream))
        except KafkaError as error:
            return "nothing" if "Timeout" in type(error).__name__ else "an error"
    return "the message"


THREADS = Prediction(
    threads_of_a_consumer,
    Words(
        "One rebalances, one looks up leaders, one fetches (there is one for each broker), and the scheduler's commits."
        "",
        "一个负责再平衡，一个寻找主副本，一个拉取（每个 broker 都会有一个），调度器的那个负责提交。",
    ),
    {
        1: Words("Which thread notices that another member has joined?", "哪个线程得知又来了一个成员？"),
        2: Words(
            "Which thread finds the leader of a partition, and which one commits?", "哪个线程寻找主副本，哪个线程提交？"
        ),
        3: Words("Do not forget the automatic commit.", "别忘了自动提交。"),
        5: Words("There is only one broker to fetch from.", "要拉取的只有一个 broker。"),
    },
)
STAYS = Prediction(
    kind_of_znode_that_stays,
    Words(
        "The next owner begins there. No session and no member ends them: nobody deletes the offsets of a group.",
        "下一个所有者从那里开始。它们不随会话或者成员而消失：消费组的偏移量，没有谁删除。",
    ),
    {
        "ids": Words("It is ephemeral: what ends with the session?", "它是临时的：会话结束时会怎样？"),
        "owners": Words("How could b claim the partition then?", "那样 b 怎么认领这个分区？"),
    },
)
TRIES = Prediction(
    lambda: joining()[0],
    Words(
        "At the first, a has not yet released the partitions. b gives back what it has claimed, waits for "
        "`rebalance.backoff.ms`, and tries once more.",
        "第一次，a 还没有释放分区。b 退回已经认领的，等 `rebalance.backoff.ms`，再试一次。",
    ),
    {
        1: Words("Who owns the partitions when b claims them?", "b 认领时，分区归谁所有？"),
        4: Words("A try is one for all partitions.", "一次尝试包括所有分区。"),
        0: Words("A member that joins rebalances.", "成员加入，就要再平衡。"),
    },
)
IN_VAIN = Prediction(
    lambda: joining()[1],
    Words(
        "It claims both of its partitions, and only then looks whether it has all of them.",
        "两个分区它都去认领，然后才看是否全都得到。",
    ),
    {
        1: Words("Does it stop at the first claim that fails?", "第一个认领失败，它就停下吗？"),
        4: Words("Which partitions are its own, with two members?", "有两个成员时，哪些分区归它？"),
        0: Words("The listener of a takes a while before it releases.", "a 的监听器要过一会儿才释放。"),
    },
)
KEPT = Prediction(
    lambda: when_c_joined()[0],
    Words(
        "Before, a has 0 and 1, and b has 2 and 3. Afterwards c has one of those of b.",
        "之前 a 有 0 和 1，b 有 2 和 3；之后 b 的一个归了 c。",
    ),
    {
        4: Words("Then c has nothing.", "那样 c 就什么也没有。"),
        2: Words(
            "Range gives the remainder to the first members. What does b keep?",
            "range 把余数给前面的成员。b 保住什么？",
        ),
        0: Words(
            "Write down the ranges of two members, and of more.", "请写下两个成员时各自的范围，再写多一个成员时的。"
        ),
        1: Words("a is the first before and after.", "a 前后都排第一。"),
    },
)
RELEASED = Prediction(
    lambda: when_c_joined()[1],
    Words(
        "Each member releases everything, and claims everything that it gets. Nobody compares.",
        "每个成员先释放全部，再认领分到的全部，不作比较。",
    ),
    {
        0: Words("Does a member know its new partitions before it releases?", "成员释放之前，知道自己的新分区吗？"),
        1: Words("Does a member compare the old assignment with the new one?", "成员会比较新旧两次分配吗？"),
        2: Words("Do a and b do different things?", "a 和 b 的做法有什么不同吗？"),
    },
)
RANGE = Prediction(
    lambda: partitions_of_the_first("range", 2),
    Words("Two of each topic: every topic is divided by itself.", "每个主题两个：各个主题单独划分。"),
    {
        3: Words("Each topic is divided by itself. Who gets its remainder?", "各个主题单独划分。余数归谁？"),
        2: Words("That is what C2 gets.", "那是 C2 分到的。"),
        6: Words("C2 gets something of each topic.", "每个主题都有 C2 的份。"),
    },
)
ROUND_ROBIN = Prediction(
    lambda: partitions_of_the_first("roundrobin", 2),
    Words("All six in one row, dealt in turn.", "六个排成一列，轮流分发。"),
    {
        4: Words("The second topic continues where the first ends.", "第二个主题接着第一个的末尾。"),
        2: Words("Six, and two members.", "六个，两个成员。"),
        6: Words("They are dealt in turn.", "轮流分发。"),
    },
)
RANGE_OF_TEN = Prediction(
    lambda: partitions_of_the_first("range", 10),
    Words("The remainder of each topic goes to the first member.", "每个主题的余数都归第一个成员。"),
    {
        15: Words(
            "The remainders do not even out: each topic is divided by itself.", "余数不会拉平：各个主题单独划分。"
        ),
        16: Words("There is a remainder in each topic.", "每个主题都有余数。"),
        10: Words("That is what C2 gets.", "那是 C2 分到的。"),
    },
)
FETCHED = Prediction(
    lambda: offsets_of_a_partition()[0],
    Words(
        "The second chunk was fetched, too, but there is no room for it. The offset advances only when it is in the "
        "queue.",
        "第二个数据块也拉取了，可是没有空位。它进了队列，偏移量才移动。",
    ),
    {
        2: Words("Is the second chunk in the queue?", "第二个数据块在队列里吗？"),
        0: Words("Nobody has to take a chunk before the fetcher continues.", "数据块不必有谁取走，拉取线程就会继续。"),
    },
)
CONSUMED = Prediction(
    lambda: offsets_of_a_partition()[1],
    Words(
        "It advances when the message is handed over. A commit now would skip it if the user died before the work is "
        "done.",
        "消息一交给用户，它就移动。如果此刻提交，而用户在处理完之前崩溃，这条消息就跳过了。",
    ),
    {
        0: Words("Does the iterator wait for the user's work?", "迭代器会等用户处理完吗？"),
        2: Words("The user has only the first message.", "用户只有第一条消息。"),
    },
)
WRITES = Prediction(
    writes,
    Words(
        "The second commit has nothing new: the connector remembers what it has written.",
        "第二次提交没有什么新的：连接器记得自己写过什么。",
    ),
    {
        3: Words("What would the second commit change?", "第二次提交会改变什么？"),
        1: Words("Each message moves the offset.", "每条消息都使偏移量移动。"),
    },
)
CONNECTIONS = Prediction(
    connections_of_the_example,
    Words(
        "Each look-up of the leader opens one: at first, after the error, and after a pause, since the leader is still "
        "the same. And one to fetch, before the error and after it.",
        "每次查找主副本打开一个：起初一次，出错之后一次，主副本没有变，停一会儿又一次。拉取用的，出错前后各一个。",
    ),
    {
        1: Words(
            "Does the example keep the connection over which it asks for the leader?",
            "示例会保留询问主副本的那个连接吗？",
        ),
        2: Words("What of the error?", "出错之后呢？"),
        3: Words("What does the example do after an error?", "出错之后，示例做什么？"),
        4: Words(
            "After the error, the leader is still the same. Does the example believe that at once?",
            "出错之后，主副本没有变。示例马上就相信吗？",
        ),
    },
)
SMALL_FETCHES = Prediction(
    outcome_of_small_fetches,
    Words(
        "Since version 3 of Fetch, the first message of a response may be larger than the limit: a consumer never gets "
        "stuck.",
        "从 Fetch 版本 3 起，响应里的第一条消息可以超过上限，消费者不会卡住。",
    ),
    {
        "an error": Words(
            "In older versions: `MessageSizeTooLargeError`, when the chunk has no whole message. Which version is used "
            "here?",
            "在更旧的版本里会这样：数据块里没有一条完整的消息，就抛出 `MessageSizeTooLargeError`。这里用的是哪个版本？",
        ),
        "nothing": Words("What could the user do about it?", "那样用户能怎么办？"),
    },
)
