"""Drawings and tables of quotas: the burst, the delays and the levels, computed by the broker's classes. Book 10.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_learn.both_languages import with_chinese_twin
from kafka_learn.drawing.charts import BarChart, LineChart
from kafka_lite.common.time import MockTime
from kafka_lite.metrics.metrics import Metrics
from kafka_lite.metrics.stats import MetricConfig
from kafka_lite.server.quotas.client_quota_entity import PRECEDENCE, KafkaQuotaEntity, Level
from kafka_lite.server.quotas.client_quota_manager import ClientQuotaManager
from kafka_lite.server.quotas.quota_type import QuotaType

MB = 1_000_000
RATE = 1 * MB
REQUEST_BYTES = 900_000
SENDING_MS = 50
"""How long the producer takes for a request."""
SHOWN_S = 45
WINDOWS = MetricConfig(samples=11, time_window_ms=1000)


@dataclass(frozen=True)
class Sent:
    """One request: when it was sent (ms), and the delay that followed."""

    number: int
    at_ms: float
    throttle_time_ms: int


def obedient_producer(
    request_bytes: int = REQUEST_BYTES, windows: MetricConfig = WINDOWS, seconds: float = SHOWN_S
) -> list[Sent]:
    """A producer that sends requests of this size as fast as it may, with a quota of ``RATE``."""
    time = MockTime()
    manager = ClientQuotaManager(windows, Metrics(time=time), QuotaType.PRODUCE, time)
    manager.update_quota(KafkaQuotaEntity(client_id="c"), RATE)
    started_ms = time.hi_res_ms()
    sent: list[Sent] = []
    while time.hi_res_ms() - started_ms < seconds * 1000:
        time.sleep(SENDING_MS)
        now_ms = time.hi_res_ms()
        delay_ms = manager.record_and_get_throttle_time_ms("u", "c", request_bytes, now_ms)
        sent.append(Sent(len(sent), now_ms - started_ms, delay_ms))
        time.sleep(delay_ms)
    return sent


def saw_tooth_figure(language: str) -> str:
    """The bytes that the producer has sent, beside its quota."""
    title, sent_name, quota_name = {
        "en": ("A producer with a quota of 1 MB/s that sends whenever it may", "sent", "quota"),
        "zh": ("一个配额为 1 MB/s、能发就发的生产者", "已发送", "配额"),
    }[language]
    points = stairs(obedient_producer(), REQUEST_BYTES)
    return LineChart(title, {sent_name: points, quota_name: [(0.0, 0.0), (SHOWN_S, RATE / MB * SHOWN_S)]}, "MB").svg()


def stairs(sent: list[Sent], request_bytes: int) -> list[tuple[float, float]]:
    """The corners of a line: seconds, and the megabytes that have been sent by then."""
    points, total = [(0.0, 0.0)], 0.0
    for each in sent:
        points.append((each.at_ms / 1000, total))
        total += request_bytes / MB
        points.append((each.at_ms / 1000, total))
    return points


@with_chinese_twin
def draw_sent(producers: Mapping[str, list[Sent]], request_bytes: int, language: str = "en") -> LineChart:
    """A line for each producer, with the bytes that it has sent, beside the quota of ``RATE``."""
    title, quota_name = {
        "en": ("Sent, beside a quota of 1 MB/s", "quota"),
        "zh": ("已发送的字节与 1 MB/s 的配额", "配额"),
    }[language]
    lines = {name: stairs(sent, request_bytes) for name, sent in producers.items()}
    end_s = max(points[-1][0] for points in lines.values())
    return LineChart(title, {**lines, quota_name: [(0.0, 0.0), (end_s, RATE / MB * end_s)]}, "MB")


@with_chinese_twin
def draw_throttle_times(delays_ms: Sequence[float], language: str = "en") -> BarChart:
    """The throttle times of requests, one bar each."""
    title, request = {"en": ("throttle_time_ms", "request"), "zh": ("throttle_time_ms", "请求")}[language]
    return BarChart(title, {f"{request} {number}": delay_ms for number, delay_ms in enumerate(delays_ms)}, "ms")


def throttle_times(language: str) -> str:
    """A table: the delays of the first requests."""
    head = {
        "en": ("request", "sent at, s", "throttle_time_ms"),
        "zh": ("请求", "发送时刻（秒）", "throttle_time_ms"),
    }[language]
    rows = [[str(each.number), f"{each.at_ms / 1000:.2f}", str(each.throttle_time_ms)] for each in obedient_producer()]
    return _markdown_table(head, rows[9:22])


def levels(language: str) -> str:
    """A table: the levels, the strongest first, and what shares a sensor."""
    head = {"en": ("", "node", "one sensor for each"), "zh": ("", "节点", "谁共用一个传感器")}[language]
    every = {
        "en": {(True, True): "user and client id", (True, False): "user", (False, True): "client id"},
        "zh": {(True, True): "用户与客户端 id", (True, False): "用户", (False, True): "客户端 id"},
    }[language]
    rows = []
    for number, level in enumerate(PRECEDENCE, 1):
        tags = level.tags("U", "C")
        rows.append([str(number), f"`/config/{_node(level)}`", every[bool(tags.user), bool(tags.client_id)]])
    rows.append([str(len(PRECEDENCE) + 1), "`quota.producer.default`, `quota.consumer.default`", every[False, True]])
    return _markdown_table(head, rows)


def _node(level: Level) -> str:
    entity = level.entity("U", "C")
    parts = [("users", entity.user), ("clients", entity.client_id)]
    return "/".join(f"{folder}/{name if isinstance(name, str) else '<default>'}" for folder, name in parts if name)


def _markdown_table(head: tuple[str, ...], rows: list[list[str]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
