"""The tables of the chapter on quotas have the numbers that were measured on real Kafka."""

from __future__ import annotations

from chapters.ch10_advanced.figures.quota_drawings import (
    RATE,
    draw_sent,
    draw_throttle_times,
    levels,
    obedient_producer,
    saw_tooth_figure,
    stairs,
    throttle_times,
)
from kafka_lite.metrics.stats import MetricConfig


def test_the_delays_grow_until_the_burst_leaves_the_ring() -> None:
    """3.9.1 delayed a producer of 0.9 MB requests by 244, 832, 1849, 2855, 2851 and 3847 ms; then a burst was free."""
    sent = obedient_producer()
    delays = [each.throttle_time_ms for each in sent]
    assert delays[:11] == [0] * 11
    assert delays[11:17] == [250, 850, 1850, 2850, 3850, 4850]
    assert delays[17:26] == [0] * 9
    total_mb, quota_mb = len(sent) * 0.9, sent[-1].at_ms / 1000
    assert quota_mb < total_mb < quota_mb + 10, "the mean is the quota, and a burst"


def test_other_windows_and_sizes_are_drawn_beside_the_quota() -> None:
    sent = obedient_producer(RATE, MetricConfig(2, 5000), seconds=20)
    assert [each.throttle_time_ms for each in sent[:6]] == [0] * 5 + [750], "six seconds' worth in 5.25 s"
    assert stairs(sent[:2], RATE) == [(0, 0), (0.05, 0), (0.05, 1), (0.1, 1), (0.1, 2)]
    chart = draw_sent({"a": sent}, RATE)
    assert set(chart.series) == {"a", "quota"}
    assert chart.chinese is not None
    assert "配额" in chart.chinese()


def test_delays_are_bars_by_the_number_of_their_request() -> None:
    chart = draw_throttle_times([0, 250])
    assert chart.values == {"request 0": 0, "request 1": 250}
    assert chart.chinese is not None
    assert "请求 1" in chart.chinese()


def test_the_tables_in_both_languages() -> None:
    for language in ("en", "zh"):
        assert "| 11 | 0.60 | 250 |" in throttle_times(language).splitlines()
        assert len(levels(language).splitlines()) == 2 + 9
    assert "| 4 | `/config/users/<default>/clients/C` | user and client id |" in levels("en").splitlines()
    assert "| 8 | `/config/clients/<default>` | 客户端 id |" in levels("zh").splitlines()
    assert "配额" in saw_tooth_figure("zh")
