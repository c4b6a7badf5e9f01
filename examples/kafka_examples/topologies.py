"""Kafka's examples of Streams: a pipe, the temperatures of sensors, page views by region.

Topics, keys, windows and results are those of Kafka's. Page view has two differences: its values are JSON without
classes, and the size of its windows can be given.

Kafka: streams/examples/.../pipe/PipeDemo.java, temperature/TemperatureDemo.java,
pageview/PageViewUntypedDemo.java · book 9.2.1, 9.2.4
"""

from __future__ import annotations

from typing import Any

from kafka_lite.common.serdes import Serde, Serdes
from kafka_lite.streams.kstream.kstream import KStream
from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder
from kafka_lite.streams.kstream.ktable import KTable
from kafka_lite.streams.kstream.windowed_serde import WindowedSerde
from kafka_lite.streams.kstream.windows import TimeWindows
from kafka_lite.streams.windowed import Windowed

STRING: Serde[str] = Serdes.string()
JSON: Serde[Any] = Serdes.json()

# ── pipe ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

FILE_INPUT, PIPE_OUTPUT = "streams-file-input", "streams-pipe-output"


def pipe() -> KStreamBuilder:
    """Copies a topic, record by record."""
    builder = KStreamBuilder()
    lines: KStream[str, str] = builder.stream(FILE_INPUT, key_serde=STRING, value_serde=STRING)
    lines.to(PIPE_OUTPUT, STRING, STRING)
    return builder


# ── temperature ───────────────────────────────────────────────────────────────────────────────────────────────────────

TEMPERATURES, MAXIMA = "iot-temperature", "iot-temperature-max"
THRESHOLD = 20
"""Maxima up to this one are not worth a message."""
TEMPERATURE_WINDOW_MS = 5_000


def _hotter(value: str, other: str) -> str:
    return max(value, other, key=int)


def temperature() -> KStreamBuilder:
    """The maximum of all sensors in each window of five seconds, after each reading, if it is above the threshold."""
    builder = KStreamBuilder()
    readings: KStream[str, str] = builder.stream(TEMPERATURES, key_serde=STRING, value_serde=STRING)
    together = readings.select_key(lambda _key, _value: "temp").group_by_key(STRING, STRING)
    maxima = together.reduce(_hotter, "Maxima", TimeWindows.of(TEMPERATURE_WINDOW_MS))
    hot = maxima.to_stream().filter(lambda _window, value: int(value) > THRESHOLD)
    hot.to(MAXIMA, WindowedSerde(STRING), STRING)
    return builder


# ── page view ─────────────────────────────────────────────────────────────────────────────────────────────────────────

PAGE_VIEWS, USER_PROFILES = "streams-pageview-input", "streams-userprofile-input"
STATISTICS = "streams-pageviewstats-untyped-output"
PAGE_VIEW_WINDOWS = TimeWindows.of(7 * 24 * 60 * 60 * 1000).advance_by(1000)
"""Kafka's: a week, every second. A view belongs to 604,800 of them, so take others for more than a demonstration."""


def page_view(windows: TimeWindows = PAGE_VIEW_WINDOWS) -> KStreamBuilder:
    """Counts views by the region of the user, whose profile is looked up in a table. Views have users as their keys."""
    builder = KStreamBuilder()
    views: KStream[str, Any] = builder.stream(PAGE_VIEWS, key_serde=STRING, value_serde=JSON)
    profiles: KTable[str, Any] = builder.table(USER_PROFILES, "UserProfiles", key_serde=STRING, value_serde=JSON)
    regions = profiles.map_values(lambda profile: profile["region"])

    def with_region(view: dict[str, Any], region: str | None) -> dict[str, Any]:
        return {"user": view["user"], "page": view["page"], "region": region or "UNKNOWN"}

    by_region = views.left_join(regions, with_region).select_key(lambda _user, view: str(view["region"]))
    counts = by_region.group_by_key(STRING, JSON).count("RollingSevenDaysOfPageViewsByRegion", windows)

    def statistics(window: Windowed[str], count: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"window-start": window.window.start, "region": window.key}, {"count": count}

    counts.to_stream().map(statistics).to(STATISTICS, JSON, JSON)
    return builder
