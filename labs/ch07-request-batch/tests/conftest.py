"""A batch whose requests end up in a list."""

import pytest

from kafka_learn.labs.controllers import LabController
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.zookeeper.data import LeaderAndIsr, LeaderIsrAndControllerEpoch


class Batch:
    """A batch of the controller of epoch 5; ``sent`` has the requests."""

    def __init__(self):
        self.controller = LabController(
            {TopicPartition("demo", number): [1, 2, 3] for number in range(3)}, (1, 2, 3, 4)
        )
        self.batch = self.controller.batch()
        self.batch.new_batch()

    def state(self, leader=1, isr=(1, 2, 3), epoch=4, version=7, number=0, controller_epoch=5):
        state = LeaderIsrAndControllerEpoch(LeaderAndIsr(leader, list(isr), epoch, version), controller_epoch)
        self.controller.context.partition_leadership_info[TopicPartition("demo", number)] = state
        return state

    def order(self, brokers, number=0, is_new=None, **fields):
        partition = TopicPartition("demo", number)
        said = {} if is_new is None else {"is_new": is_new}
        self.batch.add_leader_and_isr(brokers, partition, self.state(number=number, **fields), [1, 2, 3], **said)

    def send(self):
        del self.controller.sent[:]
        self.batch.send_requests_to_brokers()
        return self.controller.sent

    def told(self, kind):
        return self.controller.told(kind)


@pytest.fixture
def collected():
    """A new batch."""
    return Batch()
