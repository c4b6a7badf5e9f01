"""Quotas of clients: what is recorded, who shares it, how long a client is delayed, and changes of quotas."""

from __future__ import annotations

import math

import pytest

from kafka_lite.common.time import SYSTEM_TIME, MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.quota import UNLIMITED
from kafka_lite.metrics.sensor import KafkaMetric
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.quotas.client_quota_entity import DEFAULT, KafkaQuotaEntity
from kafka_lite.server.quotas.client_quota_manager import ClientQuotaManager
from kafka_lite.server.quotas.quota_type import QuotaType
from tests.support.eventually import eventually

CONFIG = MetricConfig(samples=11, time_window_ms=1000)
ALICE, BOB = "alice", "bob"


@pytest.fixture
def time() -> MockTime:
    return MockTime()


@pytest.fixture
def metrics(time: MockTime) -> Metrics:
    return Metrics(time=time)


@pytest.fixture
def manager(metrics: Metrics, time: MockTime) -> ClientQuotaManager:
    return ClientQuotaManager(CONFIG, metrics, QuotaType.PRODUCE, time)


def client_id(name: str) -> KafkaQuotaEntity:
    return KafkaQuotaEntity(client_id=name)


def metric(metrics: Metrics, name: str, user: str, client: str) -> KafkaMetric:
    found = metrics.metric(metrics.metric_name(name, "Produce", tags={"user": user, "client-id": client}))
    assert found is not None, (name, user, client)
    return found


def produce(manager: ClientQuotaManager, time: MockTime, value: float, user: str = ALICE, client: str = "c") -> int:
    return manager.maybe_record_and_get_throttle_time_ms(user, client, value, time.hi_res_ms())


class Channel:
    """Notes whether it is muted."""

    muted = 0

    def start_throttling(self) -> None:
        self.muted += 1

    def end_throttling(self) -> None:
        self.muted -= 1


# ── what is recorded, and the delay


def test_as_long_as_there_is_no_quota_nothing_is_recorded(
    manager: ClientQuotaManager, metrics: Metrics, time: MockTime
) -> None:
    before = set(metrics.metrics)
    assert not manager.quotas_enabled
    assert produce(manager, time, 1e12) == 0
    assert manager.max_value_in_quota_window(ALICE, "c") == UNLIMITED
    assert set(metrics.metrics) == before


def test_a_burst_of_ten_windows_is_free_and_what_exceeds_it_is_waited_for(
    manager: ClientQuotaManager, time: MockTime
) -> None:
    manager.update_quota(client_id("c"), 100)
    assert manager.quotas_enabled
    assert produce(manager, time, 1000) == 0
    assert produce(manager, time, 50) == 500, "1050 bytes at 100 a second take 10.5 s, of which 10 are given"
    time.sleep(500)
    assert produce(manager, time, 0) == 0


def test_a_client_that_waits_as_it_is_told_keeps_to_its_quota(manager: ClientQuotaManager, time: MockTime) -> None:
    manager.update_quota(client_id("c"), 1000)
    sent = 0
    while time.hi_res_ms() < 600_000:
        sent += 700
        time.sleep(produce(manager, time, 700) + 1)
    assert sent == pytest.approx(1000 * 600, rel=0.1)


def test_clients_are_delayed_each_for_what_it_did(manager: ClientQuotaManager, time: MockTime) -> None:
    manager.update_quota(KafkaQuotaEntity(client_id=DEFAULT), 100)
    assert produce(manager, time, 2000, client="fast") == 10_000
    assert produce(manager, time, 900, client="slow") == 0


def test_all_connections_of_a_user_share_a_quota(manager: ClientQuotaManager, time: MockTime) -> None:
    manager.update_quota(KafkaQuotaEntity(ALICE), 100)
    assert produce(manager, time, 600, client="a") == 0
    assert produce(manager, time, 600, client="b") == 2000
    assert produce(manager, time, 600, user=BOB, client="b") == 0


def test_some_values_delay_nobody_but_count_for_the_next(manager: ClientQuotaManager, time: MockTime) -> None:
    manager.update_quota(client_id("c"), 100)
    manager.record_no_throttle(ALICE, "c", 1100)
    assert produce(manager, time, 0) == 1000


def test_a_value_that_was_taken_back_does_not_count(manager: ClientQuotaManager, time: MockTime) -> None:
    manager.update_quota(client_id("c"), 100)
    assert produce(manager, time, 3000) == 20_000
    manager.unrecord_quota_sensor(ALICE, "c", 3000, time.hi_res_ms())
    assert produce(manager, time, 1000) == 0


def test_the_largest_value_in_a_window_is_just_free(manager: ClientQuotaManager, time: MockTime) -> None:
    manager.update_quota(client_id("c"), 100)
    largest = manager.max_value_in_quota_window(ALICE, "c")
    assert largest == 1000
    assert produce(manager, time, largest) == 0
    assert produce(manager, time, 1) > 0
    assert manager.max_value_in_quota_window(ALICE, "unlimited") == UNLIMITED


def test_the_configured_default_enables_quotas(metrics: Metrics, time: MockTime) -> None:
    manager = ClientQuotaManager(CONFIG, metrics, QuotaType.PRODUCE, time, default_bound=100)
    assert manager.quotas_enabled
    assert manager.quota(ALICE, "c").bound == 100
    assert produce(manager, time, 1100) == 1000


# ── changes


def test_a_new_quota_applies_to_what_has_been_recorded(manager: ClientQuotaManager, time: MockTime) -> None:
    manager.update_quota(client_id("c"), 1000)
    assert produce(manager, time, 2000) == 0
    manager.update_quota(client_id("c"), 100)
    assert produce(manager, time, 0) == 10_000
    manager.update_quota(client_id("c"), None)
    assert produce(manager, time, 1e9) == 0


def test_a_new_default_changes_all_sensors_without_a_quota_of_their_own(
    manager: ClientQuotaManager, metrics: Metrics, time: MockTime
) -> None:
    manager.update_quota(client_id("own"), 500)
    for client in ("own", "a", "b"):
        produce(manager, time, 1, client=client)
    manager.update_quota(KafkaQuotaEntity(client_id=DEFAULT), 70)
    bounds = {client: metric(metrics, "byte-rate", "", client).config.quota for client in ("own", "a", "b")}
    assert {client: quota and quota.bound for client, quota in bounds.items()} == {"own": 500, "a": 70, "b": 70}


def test_a_more_specific_quota_gives_a_client_a_sensor_of_its_own(
    manager: ClientQuotaManager, metrics: Metrics, time: MockTime
) -> None:
    manager.update_quota(KafkaQuotaEntity(ALICE), 100)
    assert produce(manager, time, 1100, client="c") == 1000
    manager.update_quota(KafkaQuotaEntity(ALICE, "c"), 10)
    assert produce(manager, time, 50, client="c") == 0, "what was recorded with the user stays there"
    assert produce(manager, time, 0, client="d") == 1000
    manager.update_quota(KafkaQuotaEntity(ALICE), 220)
    assert produce(manager, time, 0, client="d") == 0
    assert metric(metrics, "byte-rate", ALICE, "c").value == 5


def test_a_change_of_one_type_leaves_other_types_alone(metrics: Metrics, time: MockTime) -> None:
    produce_manager = ClientQuotaManager(CONFIG, metrics, QuotaType.PRODUCE, time)
    fetch_manager = ClientQuotaManager(CONFIG, metrics, QuotaType.FETCH, time)
    for manager in (produce_manager, fetch_manager):
        manager.update_quota(KafkaQuotaEntity(client_id=DEFAULT), 100)
        produce(manager, time, 1)
    fetch_manager.update_quota(KafkaQuotaEntity(client_id=DEFAULT), 7)
    quota = metric(metrics, "byte-rate", "", "c").config.quota
    assert quota is not None
    assert quota.bound == 100


# ── sensors and metrics


def test_metrics_have_kafkas_names(manager: ClientQuotaManager, metrics: Metrics, time: MockTime) -> None:
    manager.update_quota(client_id("slow"), 100)
    manager.update_quota(KafkaQuotaEntity("ANONYMOUS", "both"), 100)
    produce(manager, time, 1, user="ANONYMOUS", client="slow")
    produce(manager, time, 1, user="ANONYMOUS", client="both")
    names = {f"{name.bean('kafka.server')} {name.name}" for name in metrics.metrics if name.group == "Produce"}
    assert names == {
        "kafka.server:type=Produce queue-size",
        "kafka.server:type=Produce,client-id=slow byte-rate",
        "kafka.server:type=Produce,client-id=slow throttle-time",
        "kafka.server:type=Produce,user=ANONYMOUS,client-id=both byte-rate",
        "kafka.server:type=Produce,user=ANONYMOUS,client-id=both throttle-time",
    }


def test_an_expired_sensor_is_created_again(manager: ClientQuotaManager, metrics: Metrics, time: MockTime) -> None:
    manager.update_quota(client_id("c"), 100)
    produce(manager, time, 2000)
    time.sleep(3_600_001)
    metrics.remove_expired_sensors()
    assert metrics.get_sensor("Produce-:c") is None
    assert produce(manager, time, 2000) == 10_000


def test_throttled_channels_are_counted_and_their_times_averaged(
    manager: ClientQuotaManager, metrics: Metrics, time: MockTime
) -> None:
    manager.update_quota(client_id("c"), 100)
    produce(manager, time, 1)
    assert math.isnan(metric(metrics, "throttle-time", "", "c").value)
    channels = [Channel(), Channel(), Channel()]
    for throttle_time_ms, channel in zip((300, 100, 0), channels, strict=True):
        manager.throttle(ALICE, "c", throttle_time_ms, channel)
    assert [channel.muted for channel in channels] == [1, 1, 0]
    queue_size = metrics.metric(metrics.metric_name("queue-size", "Produce"))
    assert queue_size is not None
    assert (queue_size.value, metric(metrics, "throttle-time", "", "c").value) == (2, 200)
    for left in (1, 0):
        manager._reaper.do_work()
        assert queue_size.value == left
    assert [channel.muted for channel in channels] == [0, 0, 0]
    assert time.hi_res_ms() == 300


def test_the_reaper_runs_from_the_first_delay_until_the_shutdown() -> None:
    manager = ClientQuotaManager(CONFIG, Metrics(), QuotaType.PRODUCE, SYSTEM_TIME)
    manager.startup()
    assert not manager._reaper.is_alive()
    channels = [Channel(), Channel()]
    for channel in channels:
        manager.throttle(ALICE, "c", 1, channel)
        eventually(lambda: not channel.muted)  # noqa: B023
    assert manager._reaper.is_alive()
    assert manager._reaper.name == "ThrottledChannelReaper-Produce"
    manager.shutdown()
    assert not manager._reaper.is_alive()
    manager.throttle(ALICE, "c", 1, Channel())
    assert not manager._reaper.is_alive(), "it does not start again"
    manager.shutdown()
