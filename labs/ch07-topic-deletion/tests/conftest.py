"""A controller without brokers, and its deletion manager."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController, replica
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.replica_state_machine import VALID_PREVIOUS_STATES, ReplicaState
from kafka_lite.controller.topic_deletion_manager import TopicDeletionManager
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaPartitionError, StopReplicaResponse


class Deleting:
    """Topics, with one partition each on brokers 1, 2 and 3, which broker 1 leads. ``moves``: who was to go where."""

    def __init__(self, *partitions):
        self.controller = LabController({partition: [1, 2, 3] for partition in partitions})
        for partition in partitions:
            self.controller.lead(1, [1, 2, 3], partition=partition)
        self.events = []
        self.responses = []
        self.gone = []
        self.manager = TopicDeletionManager(
            self.controller.context,
            self.controller.zookeeper,
            lambda partitions: self.events.append(("forget", sorted(map(str, partitions)))),
            lambda replicas, _response: self.responses.append(replicas),
            on_deleted=self.gone.append,
            enabled=True,
        )
        self.manager.attach(self.controller.partitions, self.controller.replicas)
        self.controller.replicas._is_topic_to_be_deleted = self.manager.is_topic_queued_up_for_deletion
        send = self.controller.replicas._batch._send

        def noted(broker_id, request, callback):
            self.events.append((type(request).__name__, broker_id))
            send(broker_id, request, callback)

        self.controller.replicas._batch._send = noted
        self.moves, self.impossible = [], []
        handle = self.controller.replicas.handle_state_changes

        def watched(replicas, target, *callbacks, **named):
            replicas = list(replicas)
            for each in replicas:
                state = self.controller.replicas.state(each)
                self.moves.append((each.replica, target.name))
                if state not in VALID_PREVIOUS_STATES[target]:
                    self.impossible.append(f"{each} from {state.name} to {target.name}")
            handle(replicas, target, *callbacks, **named)

        self.controller.replicas.handle_state_changes = watched

    def mark(self):
        """A mark appears in ZooKeeper."""
        self.manager.enqueue_topics_for_deletion(["demo"])

    def respond(self, number, error_code=0, whole=0, listed=True, partitions=(PARTITION,), errors_of=None):
        errors = [
            StopReplicaPartitionError(
                topic_name=topic,
                partition_index=index,
                error_code=error_code if errors_of is None or (topic, index) in errors_of else 0,
            )
            for topic, index in partitions
            if listed
        ]
        response = StopReplicaResponse(error_code=whole, partition_errors=errors)
        self.manager.stop_replica_responded([replica(number, TopicPartition(*each)) for each in partitions], response)

    def states(self, partition=PARTITION):
        return {number: self.controller.replicas.state(replica(number, partition)).name for number in (1, 2, 3)}

    def must_be_possible(self):
        assert self.impossible == [], f"the state machine refuses such a step: {self.impossible[0]}; leave that one out"

    def deletions(self):
        return sorted(n for n, request in self.controller.told("StopReplica") if request.delete_partitions)

    def put(self, **states):
        """``put(b1="OFFLINE")``: bring replicas into states, without the learner's code."""
        for name, state in states.items():
            self.controller.replicas._put(replica(int(name[1:])), ReplicaState[state])


@pytest.fixture
def deleting():
    """The topic demo, which is on line."""
    return Deleting(PARTITION)


@pytest.fixture
def deleting_two():
    """``deleting_two(("demo", 0), ("demo", 1))``: two partitions that are on line."""
    return lambda *partitions: Deleting(*(TopicPartition(*each) for each in partitions))
