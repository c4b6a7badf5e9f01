"""Whether a broker is the controller, and what is wrong with the leaders in the cluster.

Kafka 0.10.2: core/.../controller/KafkaController.scala (gauges) · book 7.1.1
"""

from __future__ import annotations

from kafka_lite.common.time import Time
from kafka_lite.controller.kafka_controller import KafkaController
from kafka_lite.metrics.kafka_metrics_group import KafkaMetricsGroup
from kafka_lite.metrics.metrics_registry import MetricsRegistry


def measure_controller(registry: MetricsRegistry, time: Time, controller: KafkaController) -> None:
    """The beans of the controller itself. All but the active controller show zeros."""
    group = KafkaMetricsGroup(registry, time, "kafka.controller", "KafkaController")
    group.new_gauge("ActiveControllerCount", lambda: int(controller.is_active))
    group.new_gauge("OfflinePartitionsCount", lambda: offline_partitions_count(controller))
    group.new_gauge("PreferredReplicaImbalanceCount", lambda: preferred_replica_imbalance_count(controller))


def offline_partitions_count(controller: KafkaController) -> int:
    """Partitions whose leader is not alive, except those of topics that are being deleted."""
    if not controller.is_active:
        return 0
    context = controller.context
    alive = context.live_or_shutting_down_broker_ids
    is_deleted = controller.topic_deletion_manager.is_topic_queued_up_for_deletion
    leaders = list(context.partition_leadership_info.items())  # at once: the controller's thread may change it
    return sum(
        1
        for partition, state in leaders
        if state.leader_and_isr.leader not in alive and not is_deleted(partition.topic)
    )


def preferred_replica_imbalance_count(controller: KafkaController) -> int:
    """Partitions whose leader is not their first assigned replica, except those being deleted."""
    if not controller.is_active:
        return 0
    context = controller.context
    is_deleted = controller.topic_deletion_manager.is_topic_queued_up_for_deletion
    count = 0
    for partition, replicas in list(context.partition_replica_assignment.items()):
        state = context.partition_leadership_info.get(partition)
        if (
            state is not None
            and replicas
            and state.leader_and_isr.leader != replicas[0]
            and not is_deleted(partition.topic)
        ):
            count += 1
    return count
