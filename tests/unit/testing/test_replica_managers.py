"""The parts of a broker that tests, benchmarks and figures use without a broker."""

from __future__ import annotations

from pathlib import Path

from kafka_lite.common.errors import Errors
from kafka_lite.common.scheduler import MockScheduler
from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.log_config import LogConfig
from kafka_lite.log.log_manager import LogManager
from kafka_lite.protocol.messages.api_04_leader_and_isr import LeaderAndIsrPartitionState, LeaderAndIsrRequest
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.server.produce_status import PartitionResponse
from kafka_lite.testing.replica_managers import new_replica_manager, new_replica_state_changes

TP = TopicPartition("t", 0)


def test_a_replica_manager_without_a_broker_leads_with_the_given_topic_config(tmp_path: Path) -> None:
    time = MockTime()
    scheduler = MockScheduler(time)
    logs = LogManager([tmp_path], {}, LogConfig(), scheduler, time)
    logs.startup()
    config = KafkaConfig({"broker.id": 1, "zookeeper.connect": "embedded", "log.dirs": str(tmp_path)})
    replicas = new_replica_manager(config, logs, scheduler, time)
    changes = new_replica_state_changes(replicas, LogConfig({"min.insync.replicas": "2"}))
    state = LeaderAndIsrPartitionState(
        topic_name=TP.topic, partition_index=TP.partition, controller_epoch=1, leader=1, isr=[1], replicas=[1, 2]
    )
    request = LeaderAndIsrRequest(controller_id=1, controller_epoch=1, ungrouped_partition_states=[state])
    try:
        assert changes.become_leader_or_follower(request).error_code == Errors.NONE.code
        _, _, log = replicas.get_leader_log(TP)
        assert log.config.min_insync_replicas == 2
        responses: dict[TopicPartition, PartitionResponse] = {}
        replicas.append_records(1000, -1, False, {TP: b""}, responses.update)
        assert responses[TP].error is Errors.NOT_ENOUGH_REPLICAS
    finally:
        replicas.shutdown()
        logs.shutdown()
