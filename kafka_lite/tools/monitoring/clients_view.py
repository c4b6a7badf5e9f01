"""The clients of a broker and their quotas, for ``kafka-lite top --clients``.

Kafka has no such tool; the numbers are those of the beans of ClientQuotaManager · book 10.1
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.text import Text

from kafka_lite.metrics.metric_name import ObjectNamePattern
from kafka_lite.tools.monitoring.broker_beans import Beans
from kafka_lite.tools.monitoring.fitting_table import Column, FittingTable
from kafka_lite.tools.monitoring.top_view import bytes_text, count_text
from kafka_lite.zookeeper.sanitizer import desanitize

LINES_AROUND = 6
"""Lines of the screen other than clients: headings, notes, empty lines."""
KINDS = {"Produce": "produce", "Fetch": "fetch", "Request": "request", "ControllerMutation": "mutation"}
"""Type of the beans → what the quota limits."""
RATES = {
    "Produce": "byte-rate", "Fetch": "byte-rate", "Request": "request-time", "ControllerMutation": "mutation-rate"
}  # fmt: skip


@dataclass
class ClientRow:
    """Clients that share a sensor: their rates, and the delays of those that were throttled, by kind."""

    user: str
    client_id: str
    rates: dict[str, float] = field(default_factory=dict)
    delays_ms: dict[str, float] = field(default_factory=dict)

    @property
    def longest_delay_ms(self) -> float:
        """The longest mean delay; 0 if it is not throttled."""
        return max(self.delays_ms.values(), default=0.0)


@dataclass(frozen=True)
class ClientsSnapshot:
    """The clients that have sent something in the last hour, and how many channels are delayed now, by kind."""

    rows: Sequence[ClientRow]
    waiting: Mapping[str, int]


def clients_snapshot(beans: Beans) -> ClientsSnapshot:
    """Read the clients out of a broker's beans."""
    rows: dict[tuple[str, str], ClientRow] = {}
    waiting: dict[str, int] = {}
    for name, attributes in beans.items():
        properties = dict(ObjectNamePattern.parse(name).properties)
        type_name = properties.get("type", "")
        if not name.startswith("kafka.server:") or type_name not in KINDS:
            continue
        if "queue-size" in attributes:
            waiting[KINDS[type_name]] = int(_number(attributes["queue-size"]))
            continue
        key = desanitize(properties.get("user", "")), properties.get("client-id", "")
        row = rows.setdefault(key, ClientRow(*key))
        row.rates[KINDS[type_name]] = _number(attributes.get(RATES[type_name]))
        delay_ms = _number(attributes.get("throttle-time"))
        if delay_ms > 0:
            row.delays_ms[KINDS[type_name]] = delay_ms
    ordered = sorted(rows.values(), key=lambda row: (-row.longest_delay_ms, row.user, row.client_id))
    return ClientsSnapshot(ordered, waiting)


def _number(value: object) -> float:
    """An attribute's number; 0 for NaN: nothing was recorded in the window."""
    number = float(value) if isinstance(value, (int, float, str)) else 0.0
    return number if math.isfinite(number) else 0.0


COLUMNS = (
    Column("user", "left", "cyan", is_name=True),
    Column("client id", "left", "cyan", is_name=True),
    Column("in/s"),
    Column("out/s"),
    Column("threads", expendable=2),
    Column("partitions/s", expendable=1),
    Column("throttled", "left"),
)


def clients_view(snapshot: ClientsSnapshot, max_rows: int | None = None) -> RenderableType:
    """The table of clients, longest delay first. ``max_rows``: how many fit; the others are only counted."""
    if not snapshot.rows:
        return Text("no client has been measured: there is no quota yet (kafka-lite configs --entity-type clients)")
    shown = snapshot.rows[:max_rows]
    table = FittingTable(COLUMNS)
    for row in shown:
        table.add_row(*_cells(row))
    left = len(snapshot.rows) - len(shown)
    more = f" · … and {left:,} more" if left else ""
    note = f"throttled: mean delay of throttled requests, by what exceeded its quota{more}"
    return Group(_heading(snapshot), table, Text(note, "dim"))


def _heading(snapshot: ClientsSnapshot) -> Text:
    throttled = sum(1 for row in snapshot.rows if row.delays_ms)
    text = Text()
    text.append(f"{len(snapshot.rows):,} users and client ids", "bold cyan")
    text.append("  throttled ", "dim").append(f"{throttled:,}", "bold red" if throttled else "")
    text.append("  waiting now ", "dim").append(
        ", ".join(f"{kind} {n}" for kind, n in sorted(snapshot.waiting.items()))
    )
    return text


def _cells(row: ClientRow) -> list[RenderableType]:
    delays = ", ".join(f"{kind} {delay_ms:,.0f} ms" for kind, delay_ms in sorted(row.delays_ms.items()))
    return [
        row.user or "–",
        row.client_id or "–",
        bytes_text(row.rates.get("produce", 0)),
        bytes_text(row.rates.get("fetch", 0)),
        f"{row.rates.get('request', 0):.1f} %",
        count_text(row.rates.get("mutation", 0)),
        Text(delays, "bold red"),
    ]
