"""The paths of Kafka's znodes, as real brokers have left them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_lite.zookeeper import paths

DATA = Path(__file__).parents[2] / "data"
TREE = json.loads((DATA / "zookeeper-tree-0.10.2.json").read_text())


@pytest.mark.parametrize(
    ("path", "drawn"),
    [
        (paths.broker(0), "/brokers/ids/0"),
        (paths.topic("t"), "/brokers/topics/t"),
        (paths.topic_partitions("t"), "/brokers/topics/t/partitions"),
        (paths.partition_state("t", 12), "/brokers/topics/t/partitions/12/state"),
        (paths.delete_topic("t"), "/admin/delete_topics/t"),
        (paths.entity_config("topics/t"), "/config/topics/t"),
        (paths.entity_config("users/u/clients/c"), "/config/users/u/clients/c"),
        (paths.consumer_group("g"), "/consumers/g"),
        (paths.consumer_ids("g"), "/consumers/g/ids"),
        (paths.consumer_id("g", "g_host-1"), "/consumers/g/ids/g_host-1"),
        (paths.consumer_owners("g"), "/consumers/g/owners"),
        (paths.consumer_owner("g", "t", 3), "/consumers/g/owners/t/3"),
        (paths.consumer_offsets("g"), "/consumers/g/offsets"),
        (paths.consumer_offset("g", "t", 3), "/consumers/g/offsets/t/3"),
    ],
)
def test_a_znode_is_where_kafka_puts_it(path: str, drawn: str) -> None:
    assert path == drawn


def test_a_broker_of_0_10_2_has_created_all_persistent_paths() -> None:
    later = {paths.LOG_DIR_EVENT_NOTIFICATIONS}
    assert set(paths.PERSISTENT_PATHS) - later <= set(TREE)
    assert {paths.CLUSTER_ID, paths.CONTROLLER, paths.CONTROLLER_EPOCH} <= set(TREE)


def test_persistent_paths_are_absolute_and_come_once() -> None:
    assert len(set(paths.PERSISTENT_PATHS)) == len(paths.PERSISTENT_PATHS)
    assert all(path.startswith("/") and not path.endswith("/") for path in paths.PERSISTENT_PATHS)


@pytest.mark.parametrize(
    ("node", "number"),
    [("isr_change_0000000000", 0), ("config_change_0000000042", 42), ("log_dir_event_2147483647", 2**31 - 1)],
)
def test_the_number_of_a_sequential_node(node: str, number: int) -> None:
    assert paths.sequence_number(node) == number


@pytest.mark.parametrize("node", ["", "isr_change_", "config_change_x"])
def test_a_node_without_number_is_an_error(node: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        paths.sequence_number(node)
