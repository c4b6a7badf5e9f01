"""The answers to the predictions of the notebook of Helix's state models, computed by the shipped pipeline."""

from __future__ import annotations

from collections.abc import Mapping

from chapters.ch08_pipelines.figures.helix_by_hand import HelixByHand
from kafka_learn.check import Prediction, Words
from kafka_lite.mirror.helix.model.built_in_state_models import LEADER_STANDBY, MASTER_SLAVE, ONLINE_OFFLINE
from kafka_lite.mirror.helix.model.state_model_definition import StateModelDefinition

INSTANCES = ("a", "b", "c")
ALONE: Mapping[str, list[str]] = {"0": ["a"], "1": ["b"], "2": ["c"]}
"""Each partition has one instance, as in uReplicator."""
IN_TURN: Mapping[str, list[str]] = {"0": ["a", "b", "c"], "1": ["b", "c", "a"], "2": ["c", "a", "b"]}
"""Each partition has all of them, and another one is the best."""


def settled(model: StateModelDefinition, preference_lists: Mapping[str, list[str]]) -> HelixByHand:
    """A cluster whose instances have all states that they should have."""
    cluster = HelixByHand(model, preference_lists)
    cluster.start(*INSTANCES)
    cluster.settle()
    return cluster


def _messages_after(model: StateModelDefinition, lists: Mapping[str, list[str]], *killed: str) -> int:
    cluster = settled(model, lists)
    cluster.kill(*killed)
    return sum(map(len, cluster.settle()))


def _masters_after(steps: int) -> int:
    """Of partition 0, when its best instance has come back and the controller has run so many times."""
    cluster = settled(MASTER_SLAVE, IN_TURN)
    cluster.kill("a")
    cluster.settle()
    cluster.start("a")
    for _ in range(steps):
        cluster.step()
    return len(cluster.instances_in("MASTER")["0"])


def _led_by_the_last() -> int:
    cluster = settled(LEADER_STANDBY, IN_TURN)
    cluster.kill("a", "b")
    cluster.settle()
    return sum(leaders == ["c"] for leaders in cluster.instances_in("LEADER").values())


NOBODY = Prediction(
    lambda: _messages_after(ONLINE_OFFLINE, ALONE, "a"),
    Words(
        "The list of partition 0 names nobody else. Another worker gets it when somebody writes another ideal state. "
        "In uReplicator `AutoRebalanceLiveInstanceChangeListener` does.",
        "分区 0 的列表里没有别的实例。要等到有人写入新的理想状态，别的工作节点才会接手；在 uReplicator 里由 "
        "`AutoRebalanceLiveInstanceChangeListener` 来写。",
    ),
    {
        1: Words("To which instance? Look at the first list.", "发给哪个实例？看看第一个列表。"),
        2: Words("Partitions 1 and 2 are not concerned.", "与分区 1、2 无关。"),
    },
)
PROMOTION = Prediction(
    lambda: _messages_after(MASTER_SLAVE, IN_TURN, "a"),
    Words(
        "b is a SLAVE of partition 0 already, so that one transition makes it MASTER. Nobody replaces the two SLAVEs.",
        "b 已经是分区 0 的 SLAVE，一次转换就成为 MASTER。失去的两个 SLAVE 没有替补。",
    ),
    {
        2: Words("A SLAVE need not become OFFLINE first.", "SLAVE 不需要先变为 OFFLINE。"),
        3: Words("a had three replicas. Who could be a new SLAVE?", "a 有三个副本，可是谁能成为新的 SLAVE？"),
    },
)
BETWEEN = Prediction(
    lambda: _masters_after(2),
    Words(
        "First b becomes SLAVE, and only then a becomes MASTER: for a moment there is none. Two would break the bound.",
        "先把 b 降为 SLAVE，再把 a 升为 MASTER：中间有一刻没有 MASTER。若有两个，就超出了上限。",
    ),
    {
        1: Words(
            "After the first step a is SLAVE and b still MASTER. What is the next message?",
            "第一步之后 a 是 SLAVE，b 仍是 MASTER。下一条消息是什么？",
        ),
        2: Words("The bound of MASTER is 1.", "MASTER 的上限是 1。"),
    },
)
LAST = Prediction(
    _led_by_the_last,
    Words(
        "c is on each list, and STANDBY of each partition: one transition each.",
        "每个列表里都有 c，它是每个分区的 STANDBY：各需一次转换。",
    ),
    {
        1: Words("It led one before. What of the other two?", "它原来是一个分区的 LEADER，另外两个呢？"),
        2: Words("Count its own partition, too.", "别忘了它自己原来的那个分区。"),
    },
)
