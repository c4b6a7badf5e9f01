"""The coordinator's counters become rates, and its groups are counted by state."""

from __future__ import annotations

import pytest

from kafka_lite.common.time import MockTime
from kafka_lite.coordinator.group.group_coordinator_metrics import (
    PACKAGE,
    PACKAGE_OF_0_10,
    SENSOR_GROUP,
    GroupBeans,
    GroupCoordinatorMetrics,
)
from kafka_lite.coordinator.group.group_metadata import GroupMetadata
from kafka_lite.coordinator.group.group_state import GroupState
from kafka_lite.coordinator.group.modern.consumer_group import ConsumerGroup
from kafka_lite.coordinator.group.modern.share.share_group import ShareGroup
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.metrics_registry import MetricsRegistry


class Beans:
    """The beans of a coordinator and what they read."""

    def __init__(self) -> None:
        self.time = MockTime()
        self.registry, self.metrics = MetricsRegistry(), Metrics(time=self.time)
        self.counted, self.groups = GroupCoordinatorMetrics(), list[GroupMetadata]()
        GroupBeans(self.registry, self.metrics, self.time, self.counted, lambda: self.groups)

    def value(self, name: str) -> float:
        return self.metrics.metrics[self.metrics.metric_name(name, SENSOR_GROUP)].value

    def gauge(self, package: str, name: str) -> object:
        beans = {each.mbean_name: attributes for each, attributes in self.registry.beans().items()}
        return beans[f"{package}:type=GroupMetadataManager,name={name}"]["Value"]


@pytest.fixture
def beans() -> Beans:
    return Beans()


def test_counts_are_taken_once() -> None:
    counted = GroupCoordinatorMetrics()
    counted.committed()
    counted.committed()
    counted.expired(3)
    counted.loaded(12.5)
    counts, load_times_ms = counted.take()
    assert counts == {"offset-commit": 2, "offset-expiration": 3}
    assert load_times_ms == [12.5]
    assert counted.take() == ({}, [])


def test_what_was_counted_becomes_a_rate_and_a_total(beans: Beans) -> None:
    beans.counted.committed()
    beans.counted.expired(60)
    beans.counted.deleted(3)
    beans.counted.rebalanced()
    assert beans.value("offset-commit-count") == 1
    assert beans.value("offset-expiration-rate") == pytest.approx(60 / 30)
    assert beans.value("offset-expiration-count") == 60
    assert beans.value("offset-deletion-count") == 3
    assert beans.value("group-completed-rebalance-count") == 1


def test_the_times_of_loads_have_a_mean_and_a_maximum(beans: Beans) -> None:
    beans.counted.loaded(10)
    beans.counted.loaded(30)
    assert beans.value("partition-load-time-avg") == 20
    assert beans.value("partition-load-time-max") == 30


def test_groups_are_counted_by_state_and_under_the_names_of_both_packages(beans: Beans) -> None:
    empty, dead = GroupMetadata("a", beans.time), GroupMetadata("b", beans.time)
    dead.transition_to(GroupState.DEAD)
    beans.groups += [empty, dead]
    assert beans.gauge(PACKAGE, "NumGroups") == beans.gauge(PACKAGE_OF_0_10, "NumGroups") == 2
    assert beans.gauge(PACKAGE, "NumGroupsEmpty") == 1
    assert beans.gauge(PACKAGE, "NumGroupsDead") == 1
    assert beans.gauge(PACKAGE, "NumGroupsStable") == 0
    assert beans.gauge(PACKAGE_OF_0_10, "NumOffsets") == 0


def test_groups_that_the_coordinator_assigns_are_counted_apart(beans: Beans) -> None:
    classic, modern, share = (GroupMetadata(name, beans.time) for name in ("a", "b", "c"))
    modern.modern, share.share = ConsumerGroup("b"), ShareGroup("c")
    beans.groups += [classic, modern, share]
    beans.counted.raised_epoch()
    beans.counted.raised_share_epoch()

    def count(name: str, **tags: str) -> float:
        return beans.metrics.metrics[beans.metrics.metric_name(name, SENSOR_GROUP, "", tags)].value

    assert (count("group-count", protocol="classic"), count("group-count", protocol="consumer")) == (1, 1)
    assert count("consumer-group-count", state="Empty") == 1
    assert count("consumer-group-count", state="Stable") == 0
    assert beans.gauge(PACKAGE, "NumGroupsEmpty") == 1
    assert beans.value("consumer-group-rebalance-count") == 1
    assert (count("group-count", protocol="share"), count("share-group-count", state="Empty")) == (1, 1)
    assert beans.value("share-group-rebalance-count") == 1
