"""The part of KafkaZkClient that the controller's state machines use, in memory."""

from __future__ import annotations

from dataclasses import replace

from kafka_lite.zookeeper.data import LeaderIsrAndControllerEpoch
from kafka_lite.zookeeper.zk_errors import NodeExistsError


class FakeZk:
    """Partition states with versions, configurations, and a list of deletions in order."""

    def __init__(self):
        self.states = {}
        self.configs = {}
        self.deleted = []
        self.before_update = None

    def put(self, partition, state, version=0):
        self.states[partition] = replace(state, leader_and_isr=replace(state.leader_and_isr, zk_version=version))

    def get_partition_state(self, partition) -> LeaderIsrAndControllerEpoch | None:
        return self.states.get(partition)

    def create_partition_state(self, partition, state):
        if partition in self.states:
            raise NodeExistsError(str(partition))
        self.put(partition, state)

    def get_partition_states(self, partitions):
        return {partition: self.states[partition] for partition in partitions if partition in self.states}

    def create_partition_states(self, states):
        refused = {partition for partition in states if partition in self.states}
        for partition in states.keys() - refused:
            self.create_partition_state(partition, states[partition])
        return refused

    def update_partition_states(self, states):
        versions = {partition: self.update_partition_state(partition, state) for partition, state in states.items()}
        return {partition: version for partition, version in versions.items() if version is not None}

    def update_partition_state(self, partition, state):
        if self.before_update is not None:
            hook, self.before_update = self.before_update, None
            hook()
        found = self.states.get(partition)
        if found is None or found.leader_and_isr.zk_version != state.leader_and_isr.zk_version:
            return None
        version = state.leader_and_isr.zk_version + 1
        self.put(partition, state, version)
        return version

    def unwatch_topic(self, topic):
        pass

    def delete_topic_znode(self, topic):
        self.deleted.append(f"/brokers/topics/{topic}")

    def delete_entity_config(self, entity_path):
        self.deleted.append(f"/config/{entity_path}")

    def delete_delete_topic(self, topic):
        self.deleted.append(f"/admin/delete_topics/{topic}")
