"""Clusters, instances, and who got what."""

from itertools import combinations
from uuid import UUID

import pytest

from kafka_learn.labs.groups import GROUP_BROKER
from kafka_lite.clients.cluster import Cluster, Node, PartitionInfo
from kafka_lite.streams.assignment.client_state import ClientState
from kafka_lite.streams.assignment.task_assignor import TaskAssignor
from kafka_lite.streams.task_id import TaskId


@pytest.fixture(scope="session")
def broker_settings():
    """Groups start without delay."""
    return GROUP_BROKER


@pytest.fixture
def cluster_of():
    """``cluster_of(clicks=3, users=2)``: a cluster with topics of so many partitions."""

    def make(**counts):
        node = Node(0, "localhost", 9092)
        infos = [PartitionInfo(topic, number, node) for topic, count in counts.items() for number in range(count)]
        return Cluster((node,), tuple(infos))

    return make


def tasks(numbers):
    return {TaskId(0, number) for number in numbers}


@pytest.fixture
def instance():
    """``instance(active=[0, 1], kept=[2], threads=1)``: what an instance had before the rebalance."""
    return lambda active=(), kept=(), threads=1: ClientState(threads, tasks(active), tasks([*active, *kept]))


@pytest.fixture
def assigned():
    """``assigned(4, one, other, standby=0)``: the numbers of the active tasks of each instance."""

    def run(count, *instances, standby=0, first_id=1):
        states = {UUID(int=number): state for number, state in enumerate(instances, first_id)}
        TaskAssignor.assign(states, tasks(range(count)), standby)
        return [{task.partition for task in state.active_tasks} for state in instances]

    return run


@pytest.fixture
def assignor():
    """``assignor(4, one, other)``: an assignor of four tasks that has not begun."""
    return lambda count, *instances, first_id=1: TaskAssignor(
        {UUID(int=number): state for number, state in enumerate(instances, first_id)}, tasks(range(count))
    )


@pytest.fixture
def most_shared():
    """``most_shared(instances)``: on how many instances the same two tasks are together, at most."""

    def count(instances):
        shared = {}
        for state in instances:
            for pair in combinations(sorted(state.assigned_tasks), 2):
                shared[pair] = shared.get(pair, 0) + 1
        return max(shared.values(), default=0)

    return count
