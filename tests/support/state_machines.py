"""The controller's state machines around one context, with ZooKeeper and the brokers in memory."""

from kafka_lite.cluster.broker import Broker
from kafka_lite.cluster.end_point import EndPoint
from kafka_lite.common.security_protocol import SecurityProtocol
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.controller.controller_broker_request_batch import ControllerBrokerRequestBatch
from kafka_lite.controller.controller_context import ControllerContext
from kafka_lite.controller.partition_leader_selector import PartitionLeaderSelector
from kafka_lite.controller.partition_state_machine import PartitionState, PartitionStateMachine
from kafka_lite.controller.replica_state_machine import ReplicaState, ReplicaStateMachine
from kafka_lite.controller.topic_deletion_manager import TopicDeletionManager
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrRequest
from kafka_lite.protocol.messages.api_05_stop_replica import StopReplicaResponse
from tests.support.fake_zk import FakeZk

P = TopicPartition("t", 0)


def broker(broker_id):
    return Broker(broker_id, (EndPoint("h", 9000 + broker_id, "PLAINTEXT", SecurityProtocol.PLAINTEXT),))


class Controller:
    """The machines around one context; ``sent`` has the requests to the brokers."""

    zk_class = FakeZk

    def __init__(self, live=(1, 2, 3), assignment=None, unclean=False):
        self.zk = self.zk_class()
        self.sent = []
        self.context = ControllerContext()
        self.context.epoch = 5
        self.context.live_brokers = {broker_id: broker(broker_id) for broker_id in live}
        self.context.partition_replica_assignment = dict(assignment or {P: [1, 2, 3]})
        self.context.all_topics = {p.topic for p in self.context.partition_replica_assignment}
        self.gone = []
        self.unclean_elections = 0
        self.deletion = TopicDeletionManager(
            self.context,
            self.zk,
            self.update_metadata,
            lambda *response: self.responses.append(response),
            on_deleted=self.gone.append,
            enabled=True,
        )
        self.responses = []
        is_deleted = self.deletion.is_topic_queued_up_for_deletion
        selector = PartitionLeaderSelector(self.context, lambda topic: unclean, self.count_unclean_election)
        self.partitions = PartitionStateMachine(1, self.context, self.zk, self.batch(), selector)
        self.replicas = ReplicaStateMachine(1, self.context, self.zk, self.batch(), is_deleted, lambda topic: unclean)
        self.deletion.attach(self.partitions, self.replicas)

    def count_unclean_election(self):
        self.unclean_elections += 1

    def batch(self):
        return ControllerBrokerRequestBatch(1, self.context, self.send, lambda: self.deletion.partitions_to_be_deleted)

    def send(self, broker_id, request, callback):
        self.sent.append((broker_id, request))
        if callback is not None:
            callback(StopReplicaResponse())

    def update_metadata(self, partitions):
        batch = self.batch()
        batch.new_batch()
        batch.add_update_metadata(self.context.live_or_shutting_down_broker_ids, partitions)
        batch.send_requests_to_brokers()

    def create(self, partition=P):
        replicas = self.context.replicas_of([partition])
        self.partitions.handle_state_changes([partition], PartitionState.NEW)
        self.replicas.handle_state_changes(replicas, ReplicaState.NEW)
        self.partitions.handle_state_changes([partition], PartitionState.ONLINE)
        self.replicas.handle_state_changes(replicas, ReplicaState.ONLINE)

    def die(self, broker_id):
        del self.context.live_brokers[broker_id]

    def told(self, kind):
        return [(b, request) for b, request in self.sent if isinstance(request, kind)]

    def states_told(self):
        return [
            (b, s.leader, s.isr, s.leader_epoch)
            for b, request in self.told(LeaderAndIsrRequest)
            for s in request.ungrouped_partition_states
        ]

    def state(self, partition=P):
        return self.zk.states[partition].leader_and_isr
