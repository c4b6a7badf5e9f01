"""Rebalances: who gets the partitions of the dead, and that nothing else moves."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.helix.model.ideal_state import IdealState
from kafka_lite.mirror.ureplicator.controller.assignment import (
    instance_to_topic_partitions,
    serving_instances,
    unassigned_partitions,
)
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import (
    build_custom_ideal_state_for,
    expand_custom_rebalance_mode_ideal_state_for,
    ideal_state_of,
)
from kafka_lite.mirror.ureplicator.controller.rescale import rebalanced_ideal_states

WORKERS = ("w1", "w2", "w3", "w4")
TOPICS = ("t", "u", "v")


class Mirror:
    """The decisions of a controller, on ideal states in memory."""

    def __init__(self) -> None:
        self.states: dict[str, IdealState] = {}
        self.live: set[str] = set()

    def add(self, topic: str, partitions: int) -> None:
        queue = serving_instances(self.states, self.live)
        self.states[topic] = build_custom_ideal_state_for(topic, partitions, queue)

    def expand(self, topic: str, partitions: int) -> None:
        queue, old = serving_instances(self.states, self.live), self.states[topic]
        self.states[topic] = expand_custom_rebalance_mode_ideal_state_for(old, topic, partitions, queue)

    def rebalance(self) -> dict[str, IdealState]:
        changed = rebalanced_ideal_states(self.states, self.live)
        self.states |= changed
        return changed

    @property
    def owners(self) -> dict[TopicPartition, str]:
        """The only worker of each partition."""
        owners: dict[TopicPartition, str] = {}
        for worker, partitions in instance_to_topic_partitions(self.states).items():
            for partition in partitions:
                assert owners.setdefault(partition, worker) == worker
        return owners

    @property
    def loads(self) -> list[int]:
        return sorted(list(self.owners.values()).count(worker) for worker in self.live)


def moved(before: dict[TopicPartition, str], after: dict[TopicPartition, str]) -> set[TopicPartition]:
    return {partition for partition, worker in before.items() if after.get(partition) != worker}


def owned(**topics: str) -> dict[str, IdealState]:
    """``t="121"``: t/0 is with w1, t/1 with w2, t/2 with w1; a dash: nobody has it."""
    return {
        topic: ideal_state_of(topic, {str(n): {f"w{w}": "ONLINE"} for n, w in enumerate(text) if w != "-"}, len(text))
        for topic, text in topics.items()
    }


def test_the_course_of_a_real_cluster() -> None:
    """Two workers, t with 4 partitions, u with 2, t expanded to 6; w2 dies and comes back."""
    mirror = Mirror()
    mirror.live = {"w1", "w2"}
    mirror.add("t", 4)
    mirror.add("u", 2)
    mirror.expand("t", 6)
    assert mirror.states == owned(t="121212", u="12")
    mirror.live = {"w1"}
    mirror.rebalance()
    assert mirror.states == owned(t="111111", u="11")
    mirror.live = {"w1", "w2"}
    mirror.rebalance()
    assert mirror.loads == [4, 4]  # which ones move is left open there


def test_only_partitions_of_the_dead_move() -> None:
    states = owned(t="123123")
    assert rebalanced_ideal_states(states, {"w1", "w3"}) == owned(t="113133")


def test_an_imbalance_alone_moves_nothing() -> None:
    assert rebalanced_ideal_states(owned(t="1111112"), {"w1", "w2"}) == {}


def test_topics_that_keep_their_workers_are_not_written() -> None:
    states = owned(t="123", u="113")
    assert list(rebalanced_ideal_states(states, {"w1", "w3"})) == ["t"]


def test_nobody_lives_or_nothing_is_mirrored() -> None:
    assert rebalanced_ideal_states(owned(t="12"), set()) == {}
    assert rebalanced_ideal_states({}, {"w1"}) == {}


def test_a_topic_added_while_nobody_lived_is_dealt_when_somebody_comes() -> None:
    assert rebalanced_ideal_states(owned(t="---"), {"w1", "w2"}) == owned(t="122")


def test_what_nobody_has_is_given_away_even_if_the_same_workers_are_back() -> None:
    states = owned(t="12", u="---")
    assert rebalanced_ideal_states(states, {"w1", "w2"}) == owned(u="121")


steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from(TOPICS), st.integers(1, 9)),
        st.tuples(st.just("delete"), st.sampled_from(TOPICS), st.just(0)),
        st.tuples(st.just("live"), st.sets(st.sampled_from(WORKERS)), st.just(0)),
    ),
    max_size=20,
)


@settings(max_examples=40, deadline=None)
@given(steps)
def test_a_topic_moves_no_partition_of_others_and_a_death_only_those_of_the_dead(courses: list[Any]) -> None:
    mirror = Mirror()
    for step, what, number in courses:
        before, even = mirror.owners, not mirror.loads or mirror.loads[-1] - mirror.loads[0] <= 1
        if step == "add":
            known = mirror.states.get(what)
            if known is None:
                mirror.add(what, number)
            elif number > known.num_partitions:
                mirror.expand(what, number)
            assert moved(before, mirror.owners) == set()
        elif step == "delete":
            mirror.states.pop(what, None)
            assert {partition.topic for partition in moved(before, mirror.owners)} <= {what}
        else:
            only_deaths = what < mirror.live
            served = set(before.values())
            mirror.live = what
            changed = mirror.rebalance()
            moves = moved(before, mirror.owners)
            assert {partition.topic for partition in moves} <= changed.keys()
            if what:
                assert unassigned_partitions(mirror.states) == set()
                assert set(mirror.owners.values()) <= what
                assert what == served or mirror.loads[-1] - mirror.loads[0] <= 1
            if only_deaths and even:
                assert all(before[partition] not in what for partition in moves)
