"""The answers to the predictions of the notebook on the controller, from its tables, selectors and runs. Book 7."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import TypeVar

from chapters.ch07_controller.figures import controller_runs
from kafka_learn.check import Prediction, Words
from kafka_learn.recording.cluster_watches import broker_lane
from kafka_learn.recording.recorded_run import Kind, RecordedRun
from kafka_learn.recording.run_brokers import TOPIC, wait_until
from kafka_learn.recording.run_clusters import BROKER_IDS, WAIT_MS, running_brokers
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.partition_leader_selector import select_offline_partition_leader
from kafka_lite.controller.partition_state_machine import VALID_PREVIOUS_STATES as PARTITION_TABLE
from kafka_lite.controller.partition_state_machine import PartitionState
from kafka_lite.controller.replica_state_machine import VALID_PREVIOUS_STATES as REPLICA_TABLE
from kafka_lite.controller.replica_state_machine import ReplicaState
from kafka_lite.zookeeper.data import LeaderAndIsr

PARTITION = TopicPartition(TOPIC, 0)
S = TypeVar("S", bound=Enum)


def between(table: Mapping[S, Iterable[S]], *states: S) -> str:
    """The names of the states on the shortest way through these, without the first and the last of them."""
    ways = [_shortest(table, first, last) for first, last in itertools.pairwise(states)]
    return " ".join(state.name for way in ways for state in way[1:]).rpartition(" ")[0]


def _shortest(table: Mapping[S, Iterable[S]], first: S, last: S) -> list[S]:
    ways = [[first]]
    while ways:
        way = ways.pop(0)
        if way[-1] is last:
            return way
        ways += [[*way, state] for state, previous in table.items() if way[-1] in previous and state not in way]
    raise ValueError(f"no way from {first} to {last}")


# ── what was seen in runs ───────────────────────────────────────────────────────────────────────────────────────────


@functools.cache
def state_when_brokers_are_told() -> str:
    """The state of a new partition when the first LeaderAndIsr is sent."""
    state = ""
    for event in controller_runs.topic_creation():
        if event.what == str(PARTITION) and event.kind is Kind.STATE:
            state = event.detail["after"]
        if event.what.startswith("LeaderAndIsr"):
            break
    return state


def _sent_to(run: RecordedRun, broker_id: int, request: str) -> int:
    """How many of these requests a broker takes that is not the controller."""
    received = (event for event in run if event.kind is Kind.TAKE and event.who == broker_lane(broker_id))
    return sum(event.what == request for event in received)


@functools.cache
def stop_replica_requests() -> int:
    """To each broker, while a topic is deleted."""
    return _sent_to(controller_runs.topic_deletion(), 3, "StopReplica")


@functools.cache
def leader_and_isr_requests() -> int:
    """To the new leader, after a leader died."""
    return _sent_to(controller_runs.leader_dies(), 3, "LeaderAndIsr")


@functools.cache
def epoch_after_the_controllers_death() -> int:
    """The leader epoch of a partition of which the dead controller was a follower."""
    run = controller_runs.controller_dies()
    said = [str(event.detail["says"]) for event in run if event.what.startswith("set …/") and event.detail]
    return int(said[-1].split("epoch ")[1].split(",")[0])


@functools.cache
def led_when_the_session_ends() -> int:
    """The partitions that a broker leads when its session ends, if it stops in an orderly way."""
    happened = [event.what for event in controller_runs.controlled_shutdown()]
    return int(happened.index("BrokerChange") < happened.index("leads nothing any more"))


def leader_after(replicas: tuple[int, ...], dead: int) -> int:
    """The leader of a partition whose replicas are all in sync when its first one dies."""
    alive = [replica for replica in replicas if replica != dead]
    current = LeaderAndIsr(leader=replicas[0], isr=list(replicas))
    elected = select_offline_partition_leader(PARTITION, current, alive, set(BROKER_IDS) - {dead}, False)
    return elected.leader_and_isr.leader


@functools.cache
def leader_after_the_return() -> int:
    """The leader when the preferred replica has died, has been replaced, and is back in the ISR."""
    with running_brokers() as brokers:
        brokers.create_topic((3, 1, 2))
        brokers.stop(3)
        brokers.wait_until_led(1)
        brokers.start(3)
        known = brokers.servers[1].metadata_cache
        wait_until(lambda: 3 in getattr(known.get_partition_info(PARTITION), "isr", ()), WAIT_MS)
        info = known.get_partition_info(PARTITION)
        assert info is not None
        return info.leader


@functools.cache
def replaced_first() -> str:
    """The one of the two that is replaced first when the controller and a leader die together."""
    run = list(controller_runs.controller_dies(with_the_leader=True))
    elected = next(number for number, event in enumerate(run) if event.what.startswith("is the controller"))
    led = next(number for number, event in enumerate(run) if str(event.detail.get("says")).startswith("leader 3"))
    return "controller" if elected < led else "leader"


# ── the predictions ─────────────────────────────────────────────────────────────────────────────────────────────────

PARTITION_STATES = Prediction(
    lambda: between(
        PARTITION_TABLE, PartitionState.NON_EXISTENT, PartitionState.ONLINE, PartitionState.NON_EXISTENT
    ),
    Words(
        "NEW has replicas and no leader yet. And no arrow leads from ONLINE to the end: a partition loses its leader "
        "first.",
        "NEW 有副本，还没有主副本。从 ONLINE 没有直接通往终点的箭头：要先失去主副本。",
    ),
    {
        "NEW ONLINE": Words("A partition that has a leader cannot end.", "还有主副本的分区不能终结。"),
        "ONLINE OFFLINE": Words(
            "First the replicas are assigned, and then a leader is elected.", "先分配副本，再选举主副本。"
        ),
        "ONLINE": Words("It becomes something before it has a leader.", "有主副本之前，还有一个状态。"),
        "NEW ONLINE OFFLINE DELETION_STARTED": Words(
            "Replicas are deleted from disks. A partition has no state of this name.",
            "从磁盘上删除的是副本。分区没有这个状态。",
        ),
    },
)  # fmt: skip
REPLICA_STATES = Prediction(
    lambda: between(REPLICA_TABLE, ReplicaState.ONLINE, ReplicaState.NON_EXISTENT),
    Words(
        "It stops fetching, then it is deleted, and the broker's response says that it is gone.",
        "先停止拉取，再删除，broker 的响应说明已经删掉。",
    ),
    {
        "OFFLINE": Words(
            "Between the two the broker deletes files, and says so.", "中间 broker 要删除文件，并且报告结果。"
        ),
        "DELETION_STARTED DELETION_SUCCESSFUL": Words(
            "A replica that still fetches is not deleted.", "还在拉取的副本不能删除。"
        ),
        "OFFLINE DELETION_STARTED": Words("Who knows that the files are gone?", "谁知道文件已经删掉？"),
        "OFFLINE DELETION_STARTED DELETION_INELIGIBLE": Words(
            "That is the state of a deletion that fails.", "这是删除失败时的状态。"
        ),
    },
)
TOLD = Prediction(
    state_when_brokers_are_told,
    Words(
        "Leader and ISR are in ZooKeeper by then, and the controller has changed the state. The requests of a whole "
        "batch of changes are sent at its end.",
        "到那时，主副本和 ISR 已经写进 ZooKeeper，控制器也改了状态。一批改动的请求在这一批的末尾才发送。",
    ),
    {
        "NEW": Words("Which leader would the request name?", "那样的话，请求里的主副本写谁？"),
        "NON_EXISTENT": Words(
            "The controller knows of the topic when it sends the request.", "发送请求的时候，控制器已经知道这个主题。"
        ),
        "OFFLINE": Words("All brokers are alive.", "所有的 broker 都活着。"),
    },
)
STOPS = Prediction(
    stop_replica_requests,
    Words(
        "One for each change of state: OFFLINE stops the fetching, DELETION_STARTED deletes the files.",
        "每次状态改变一个：OFFLINE 停止拉取，DELETION_STARTED 删除文件。",
    ),
    {
        1: Words(
            "To stop fetching and to delete are different changes of a replica's state.",
            "停止拉取和删除，是副本状态的不同改变。",
        ),
        3: Words("Each broker has one replica of the partition.", "每个 broker 只有这个分区的一个副本。"),
        4: Words("Look at the arrows between ONLINE and the end again.", "再看看 ONLINE 到终点之间的箭头。"),
    },
)
TOLD_TWICE = Prediction(
    leader_and_isr_requests,
    Words(
        "The partition's change to a new leader sends it, and the change of the dead replica to OFFLINE sends the same "
        "again. The last one could be left out.",
        "分区改用新的主副本时发送一个；崩溃的副本变为 OFFLINE 时，同样的又发送一个。后一个可以省掉。",
    ),
    {
        1: Words(
            "The partition changes, and then the dead replica does. Each state machine sends its own requests.",
            "先改变的是分区，然后是崩溃的副本。两个状态机各发各的请求。",
        ),
        3: Words("Only the states of one partition and of one replica change.", "只有一个分区和一个副本的状态改变。"),
        0: Words("How else does it learn that it leads?", "否则它怎么知道自己是主副本？"),
    },
)
EPOCH = Prediction(
    epoch_after_the_controllers_death,
    Words(
        "The leader stays, but the dead broker leaves the ISR, and each change of leader or ISR by the controller has "
        "a "
        "new epoch. What the controller says before that is only a repetition.",
        "主副本没有变，但崩溃的 broker 离开 ISR；控制器每次改动主副本或 ISR，纪元都加一。在那之前发的，都只是重复。",
    ),
    {
        0: Words("The dead broker was in the ISR.", "崩溃的 broker 原来在 ISR 里。"),
        2: Words("That is the controller's epoch.", "这是控制器的纪元。"),
        3: Words("A controller that takes over repeats what it finds.", "新上任的控制器只是重复它读到的。"),
    },
)
LED = Prediction(
    led_when_the_session_ends,
    Words(
        "It asks the controller first, and leaves when all its partitions have other leaders. Its session ends after "
        "that.",
        "它先请求控制器，等自己的分区都有了别的主副本才离开，会话在这之后才结束。",
    ),
    {
        1: Words("So it would be if it died.", "崩溃才会这样。"),
        2: Words("One of them it only follows.", "其中一个，它只是备份副本。"),
    },
)
LEADER = Prediction(
    lambda: leader_after((3, 1, 2), 3),
    Words(
        "It is the first live replica, in the order of the assignment, that is in the ISR. All caches get the same "
        "message.",
        "按分配的顺序，第一个活着而且在 ISR 里的副本。各个缓存收到的消息相同。",
    ),
    {
        2: Words("The order of the replicas decides, and not who is asked.", "由副本的顺序决定，与问谁无关。"),
        3: Words("Would anybody wait for it to come back?", "难道要等它回来吗？"),
    },
)
REPLACED = Prediction(
    replaced_first,
    Words(
        "A new leader is chosen by a controller. So both failures together last longer than each alone.",
        "新的主副本由控制器选出。所以两个一起失败，比单独失败要持续得更久。",
    ),
    {
        "leader": Words("Who would choose it?", "由谁来选？"),
        "both": Words("One of them chooses the other.", "一个要由另一个来选。"),
    },
)
RETURNED = Prediction(
    leader_after_the_return,
    Words(
        "It comes back as a follower. The controller gives the preferred replicas their places back later, when it "
        "finds "
        "the leaders out of balance (`auto.leader.rebalance.enable`).",
        "它回来时是备份副本。控制器要等到发现主副本分布不均衡时，才让优先副本重新当主副本"
        "（`auto.leader.rebalance.enable`）。",
    ),
    {
        3: Words("Who would move the leadership, as long as the leader lives?", "主副本还活着，由谁来换？"),
        2: Words("Nothing has happened to the leader.", "主副本什么事也没有。"),
    },
)
