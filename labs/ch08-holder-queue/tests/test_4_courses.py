"""Task 4: topics and workers come and go at random."""

import random

import pytest

from kafka_lite.mirror.ureplicator.controller.assignment import instance_to_topic_partitions, serving_instances
from kafka_lite.mirror.ureplicator.controller.ideal_state_builder import (
    build_custom_ideal_state_for,
    expand_custom_rebalance_mode_ideal_state_for,
)
from kafka_lite.mirror.ureplicator.controller.rescale import rebalanced_ideal_states

WORKERS = ("w1", "w2", "w3", "w4")
SEEDS = 100


def owners(states):
    return {
        partition: worker
        for worker, partitions in instance_to_topic_partitions(states).items()
        for partition in partitions
    }


def change_of_topics(states, live, numbers):
    topic, number = numbers.choice("tuv"), numbers.randint(1, 9)
    queue, old = serving_instances(states, live), states.get(topic)
    if old is None:
        return {topic: build_custom_ideal_state_for(topic, number, queue)}
    if number > old.num_partitions:
        return {topic: expand_custom_rebalance_mode_ideal_state_for(old, topic, number, queue)}
    return {}


@pytest.mark.points(5, task=4)
def test_a_topic_moves_nothing():
    """Topics come and grow"""
    for seed in range(SEEDS):
        numbers, states, live = random.Random(seed), {}, ["w1", "w2"]
        for _ in range(6):
            before = owners(states)
            states |= change_of_topics(states, live, numbers)
            after = owners(states)
            moved = sorted(partition for partition, worker in before.items() if after[partition] != worker)
            assert not moved, f"seed {seed}: a topic was added or expanded, and {moved} moved"


@pytest.mark.points(5, task=4)
def test_a_death_moves_only_what_the_dead_had():
    """Workers die and come back"""
    for seed in range(SEEDS):
        numbers, states, live = random.Random(seed), {}, list(WORKERS)
        for _ in range(4):
            states |= change_of_topics(states, live, numbers)
            gone = numbers.choice(live)
            before, live = owners(states), [worker for worker in live if worker != gone]
            states |= rebalanced_ideal_states(states, live)
            after = owners(states)
            moved = {partition for partition, worker in before.items() if after[partition] != worker}
            lost = {partition for partition, worker in before.items() if worker == gone}
            assert moved == lost, f"seed {seed}: {gone} had {sorted(lost)}, but {sorted(moved)} moved"
            live = [*live, gone]
            states |= rebalanced_ideal_states(states, live)
            loads = [list(owners(states).values()).count(worker) for worker in live]
            served = min(loads) > 0
            assert not served or max(loads) - min(loads) <= 1, f"seed {seed}: {gone} is back, and loads are {loads}"
