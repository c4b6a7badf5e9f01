"""What ``kafka-lite top --cluster`` computes from the state of a cluster, and how it is drawn."""

from __future__ import annotations

import argparse
import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.tools.monitoring import top
from kafka_lite.tools.monitoring.cluster_snapshot import ClusterState, GroupState, PartitionState, cluster_snapshot
from kafka_lite.tools.monitoring.cluster_view import cluster_view
from kafka_lite.tools.server.running_brokers import RunningBrokers

ORDERS = TopicPartition("orders", 0)
HEALTHY = PartitionState(TopicPartition("flights", 0), 1, [1, 2], [2, 1], 50)
LAGGING = PartitionState(ORDERS, 2, [0, 1, 2], [2, 1], 100)
OFFLINE = PartitionState(TopicPartition("weather", 0), -1, [0], [0], None)
INTERNAL = PartitionState(TopicPartition("__consumer_offsets", 0), 1, [1, 2], [1, 2], 7)
STATE = ClusterState(
    "abc",
    1,
    {1: "one:9092", 2: "two:9092"},
    [INTERNAL, HEALTHY, LAGGING, OFFLINE],
    [GroupState("billing", "Stable", {ORDERS: 70}), GroupState("audit", "Empty", {ORDERS: 10, HEALTHY.partition: 50})],
    {1: 2000},
)


def drawn(state: ClusterState, max_rows: int | None = None, width: int = 120) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(cluster_view(cluster_snapshot(state), max_rows))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_problems_come_first_and_healthy_internal_partitions_are_only_counted() -> None:
    snapshot = cluster_snapshot(STATE)
    assert [row.state for row in snapshot.partitions] == [OFFLINE, LAGGING, HEALTHY]
    assert (snapshot.hidden, snapshot.under_replicated, snapshot.offline) == (1, 1, 1)
    sick = replace(INTERNAL, isr=[1])
    sick_snapshot = cluster_snapshot(replace(STATE, partitions=[sick, LAGGING, HEALTHY]))
    assert [row.state for row in sick_snapshot.partitions] == [LAGGING, sick, HEALTHY]


def test_a_broker_that_is_down_is_listed_with_its_replicas() -> None:
    down, one, two = cluster_snapshot(STATE).brokers
    assert (down.id, down.address, down.replicas, down.out_of_sync, down.preferred) == (0, None, 2, 1, 2)
    assert (one.is_controller, one.leads, one.size_bytes) == (True, 2, 2000)
    assert (two.is_controller, two.leads, two.size_bytes) == (False, 1, None)


def test_lag_counts_all_partitions_of_a_group_and_is_unknown_without_an_end_offset() -> None:
    assert [(group.name, group.lag) for group in cluster_snapshot(STATE).groups] == [("audit", 90), ("billing", 30)]
    unknown = replace(STATE, partitions=[replace(LAGGING, end_offset=None), HEALTHY])
    assert {group.lag for group in cluster_snapshot(unknown).groups} == {None}


def test_rates_compare_two_states() -> None:
    before = replace(
        STATE,
        partitions=[replace(LAGGING, end_offset=40)],
        groups=[GroupState("billing", "Stable", {ORDERS: 50})],
    )
    snapshot = cluster_snapshot(STATE, before, 2.0)
    assert {row.state.partition: row.rate for row in snapshot.partitions}[ORDERS] == 30
    assert {group.name: group.rate for group in snapshot.groups} == {"billing": 10, "audit": None}
    assert {row.rate for row in cluster_snapshot(STATE).partitions} == {None}


def test_the_view_shows_leaders_isrs_and_what_is_missing() -> None:
    text = drawn(replace(STATE, problems=["groups: no response"]))
    assert "2 brokers, 1 down  controller broker 1  partitions 4  under-replicated 1  offline 1  cluster abc" in text
    lines = [line.split() for line in text.splitlines()]
    assert ["0", "down", "0", "2", "2", "1", "–"] in lines
    assert ["1", "one:9092", "controller", "2", "2", "3", "0", "2.0", "kB"] in lines
    assert ["weather", "0", "none", "0", "0", "–", "–"] in lines
    assert ["orders", "0", "2", "0,1,2", "2,1", "0", "100", "–"] in lines
    assert ["billing", "Stable", "30", "–"] in lines
    assert "… and 1 healthy ones of internal topics" in text
    assert "groups: no response" in text


def test_eighty_columns_have_room_for_an_address_with_its_port() -> None:
    text = drawn(replace(STATE, brokers={1: "127.0.0.1:19092", 2: "127.0.0.1:19093"}, sizes={1: 19_500}), width=80)
    assert "  1  127.0.0.1:19092  controller " in text
    assert "19.5 kB" in text
    assert "…" not in text.partition("… and")[0]


@pytest.mark.parametrize("width", [50, 60, 80, 100])
def test_narrow_screens_get_fewer_columns_and_nothing_cut_off(width: int) -> None:
    topic = "orders-by-customer-v2"
    state = replace(
        STATE,
        cluster_id="q" * 22,
        brokers={1: "kafka-1.example.org:19092", 2: "kafka-2.example.org:19093"},
        partitions=[PartitionState(TopicPartition(topic, 123), 1, [1, 2, 3], [1, 2], 12_345_678)],
    )
    text = drawn(state, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert f" {topic} " in text
    assert "kafka-1.example.org:19092" in text
    assert "cluster" in text
    assert "q" * 22 in text
    assert ("end offset" in text) == (width > 80)


def test_groups_leave_half_of_the_room_to_partitions_that_need_it() -> None:
    groups = [GroupState(f"group-{number}", "Empty", {ORDERS: 100}) for number in range(9)]
    text = drawn(replace(STATE, groups=groups), max_rows=7)  # three brokers, two groups, two partitions
    assert [line.split()[0] for line in text.splitlines() if line.startswith(" group-")] == ["group-0", "group-1"]
    assert "… and 7 more" in text
    assert "orders" in text
    text = drawn(replace(STATE, groups=groups, partitions=[LAGGING]), max_rows=7)
    assert text.count(" group-") == 3


def test_rows_that_do_not_fit_are_counted() -> None:
    text = drawn(STATE, max_rows=7)  # three brokers, two groups, two partitions
    assert "… and 1 more and 1 healthy ones of internal topics" in text
    assert "flights" not in text


def options(**given: object) -> argparse.Namespace:
    return argparse.Namespace(**({"bootstrap_server": None, "metrics_url": None, "cluster": False} | given))


def test_several_running_brokers_are_watched_as_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = RunningBrokers(tmp_path)
    assert top._cluster_to_watch(options(), running) == ""
    with pytest.raises(ToolError, match="no broker running"):
        top._cluster_to_watch(options(cluster=True), running)
    assert top._cluster_to_watch(options(bootstrap_server="one:9092"), running) == ""
    assert top._cluster_to_watch(options(bootstrap_server="one:9092,two:9092"), running) == "one:9092,two:9092"
    assert top._cluster_to_watch(options(bootstrap_server="one:9092", cluster=True), running) == "one:9092"
    running.enter({"listeners": "127.0.0.1:9092 (PLAINTEXT), 127.0.0.1:9093 (INNER)"})
    try:
        assert top._cluster_to_watch(options(), running) == "", "one broker: its beans say more"
        assert top._cluster_to_watch(options(cluster=True), running) == "127.0.0.1:9092"
        (only,) = running.find()
        monkeypatch.setattr(running, "find", lambda: [only, only])
        assert top._cluster_to_watch(options(), running) == "127.0.0.1:9092,127.0.0.1:9092"
    finally:
        running.leave()
