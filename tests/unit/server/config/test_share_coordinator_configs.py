"""The keys of the share coordinator: Kafka's defaults and bounds."""

from __future__ import annotations

import pytest

from kafka_lite.common.config_def import ConfigError
from kafka_lite.coordinator.share.share_coordinator_config import ShareCoordinatorConfig
from kafka_lite.record.compression import CompressionType
from kafka_lite.server.config.share_coordinator_configs import SHARE_COORDINATOR_CONFIGS, share_coordinator_config


def parsed(**values: object) -> ShareCoordinatorConfig:
    keys = {f"share.coordinator.{name.replace('_', '.')}": value for name, value in values.items()}
    return share_coordinator_config(SHARE_COORDINATOR_CONFIGS.parse(keys))


def test_the_defaults_are_kafka_s() -> None:
    assert parsed() == ShareCoordinatorConfig()
    assert parsed() == ShareCoordinatorConfig(
        state_topic_num_partitions=50,
        state_topic_replication_factor=3,
        state_topic_min_isr=2,
        state_topic_segment_bytes=104857600,
        num_threads=1,
        snapshot_update_records_per_snapshot=500,
        load_buffer_size=5242880,
        compression_type=CompressionType.NONE,
        append_linger_ms=5,
        write_timeout_ms=5000,
        topic_prune_interval_ms=300000,
        cold_partition_snapshot_interval_ms=300000,
    )


def test_values_are_those_of_the_keys() -> None:
    config = parsed(state_topic_num_partitions=3, append_linger_ms=0, state_topic_compression_codec=4, threads=2)
    assert (config.state_topic_num_partitions, config.append_linger_ms, config.num_threads) == (3, 0, 2)
    assert config.compression_type is CompressionType.ZSTD


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("snapshot_update_records_per_snapshot", 501),
        ("snapshot_update_records_per_snapshot", -1),
        ("state_topic_num_partitions", 0),
        ("state_topic_replication_factor", 0),
        ("append_linger_ms", -1),
        ("write_timeout_ms", 0),
        ("threads", 0),
        ("state_topic_compression_codec", 5),
    ],
)
def test_values_out_of_bounds_are_refused(name: str, value: int) -> None:
    with pytest.raises(ConfigError):
        parsed(**{name: value})


def test_the_topic_never_needs_more_replicas_than_it_has() -> None:
    assert parsed().state_topic_configs(1)["min.insync.replicas"] == "1"
    assert parsed().state_topic_configs(3) == {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "segment.bytes": "104857600",
        "min.insync.replicas": "2",
        "retention.ms": "-1",
    }
