"""A controller without brokers, and its deletion manager."""

import pytest

from kafka_learn.labs.controllers import PARTITION, LabController, replica
from kafka_lite.controller.replica_state_machine import ReplicaState
from kafka_lite.controller.topic_deletion_manager import TopicDeletionManager
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaPartitionError, StopReplicaResponse


class Deleting:
    """The topic demo, with one partition on brokers 1, 2 and 3, which broker 1 leads."""

    def __init__(self):
        self.controller = LabController()
        self.controller.lead(1, [1, 2, 3])
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

    def mark(self):
        """A mark appears in ZooKeeper."""
        self.manager.enqueue_topics_for_deletion(["demo"])

    def respond(self, number, error_code=0, whole=0, listed=True):
        errors = [StopReplicaPartitionError(topic_name="demo", partition_index=0, error_code=error_code)] * listed
        response = StopReplicaResponse(error_code=whole, partition_errors=errors)
        self.manager.stop_replica_responded([replica(number)], response)

    def states(self):
        return {number: self.controller.replicas.state(replica(number, PARTITION)).name for number in (1, 2, 3)}

    def deletions(self):
        return sorted(n for n, request in self.controller.told("StopReplica") if request.delete_partitions)

    def put(self, **states):
        """``put(b1="OFFLINE")``: bring replicas into states, without the learner's code."""
        for name, state in states.items():
            self.controller.replicas._put(replica(int(name[1:])), ReplicaState[state])


@pytest.fixture
def deleting():
    """A topic that is on line."""
    return Deleting()
