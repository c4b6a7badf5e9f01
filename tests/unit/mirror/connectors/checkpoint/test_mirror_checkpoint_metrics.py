"""Each partition of each group has its latency."""

from __future__ import annotations

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_config import MirrorCheckpointConfig
from kafka_lite.mirror.connectors.checkpoint.mirror_checkpoint_metrics import MirrorCheckpointMetrics
from tests.support.mirror_clusters import BOTH

T0 = TopicPartition("west.t", 0)


def test_latencies_of_two_groups() -> None:
    time = MockTime()
    metrics = MirrorCheckpointMetrics(MirrorCheckpointConfig(BOTH), time)
    now_ms = time.milliseconds()
    metrics.emitted("g", T0, now_ms - 10)
    metrics.emitted("g", T0, now_ms - 30)
    metrics.emitted("h", T0, now_ms - 500)
    ends = ("", "-max", "-min", "-avg")
    found = {
        str(name): [numbers[f"checkpoint-latency-ms{end}"] for end in ends]
        for name, numbers in metrics.beans().items()
        if name.tags
    }
    bean = (
        "kafka.connect.mirror:type=MirrorCheckpointConnector,source=west,target=east,group={},topic=west.t,partition=0"
    )
    assert found == {bean.format("g"): [30, 30, 10, 20], bean.format("h"): [500, 500, 500, 500]}
