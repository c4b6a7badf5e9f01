"""Renders the state of a running pipeline: a live view for a terminal of 80 columns, a line for everything else.

With rich · book 2.3
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from rich import box
from rich.console import Group, RenderableType
from rich.filesize import decimal
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from kafka_lite.common.topic_partition import TopicPartition
from pipeline.replay import ReplayStatus
from pipeline.replay_plan import Fault
from pipeline.view.query_progress import Offsets, QueryStatus, lag

BAR_WIDTH = 28
_NOTHING = "–"
_UNKNOWN = "?"


@dataclass(frozen=True)
class RunStatus:
    """A moment of a run.

    ``send_rate`` is in records per second, ``waiting`` has the names of queries that have run no batch, and ``ends``
    the end offset of each partition that they read. ``ends`` and ``dead_letters`` are None while the broker is away:
    how far it is to the ends is not known then, and not 0.
    """

    phase: str
    elapsed_s: float
    replay: ReplayStatus
    send_rate: float
    queries: Sequence[QueryStatus]
    waiting: Sequence[str] = ()
    ends: Offsets | None = None
    dead_letters: int | None = None
    restarts: int = 0

    def lag(self, query: QueryStatus) -> dict[TopicPartition, int]:
        """The lag of a query in each partition that it reads and whose end is known."""
        return lag(self.ends or {}, query.consumed)

    def total_lag(self, query: QueryStatus) -> int | None:
        """The sum of that; None if no end is known."""
        return None if self.ends is None else sum(self.lag(query).values())


def live_view(status: RunStatus) -> RenderableType:
    """The view of a terminal: replay, queries, lag of each partition."""
    return Group(_heading(status), _replay(status), Text(), _queries(status), Text(), _lags(status))


def status_line(status: RunStatus) -> str:
    """The same in one line, for a file or a pipe."""
    replay, queries = status.replay, status.queries
    batches = " ".join(f"{query.name}={query.batch_id}" for query in queries) or "none yet"
    return (
        f"{status.elapsed_s:4.0f} s  {status.phase}  {event_time(replay.clock_ms)}  "
        f"sent {replay.sent:,}/{replay.total:,} ({_rate(status.send_rate)}/s)  batches {batches}  "
        f"lag {_count(_largest_lag(status))}  state {_state_rows(queries):,} rows {decimal(_state_bytes(queries))}  "
        f"dropped {_dropped(queries):,}  dead letters {_count(status.dead_letters)}"
        + (f"  queries restarted {status.restarts}" if status.restarts else "")
    )


def event_time(instant_ms: int | None) -> str:
    """``2013-01-01 14:32`` in UTC; a dash for None."""
    return _NOTHING if instant_ms is None else f"{datetime.fromtimestamp(instant_ms / 1000, UTC):%Y-%m-%d %H:%M}"


def _heading(status: RunStatus) -> Text:
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append("kafka_lite pipeline", "bold cyan").append(f"  {status.phase}", "bold")
    return text.append(f"  {status.elapsed_s:.0f} s  Ctrl-C stops", "dim")


def _replay(status: RunStatus) -> RenderableType:
    replay = status.replay
    progress = Table.grid(padding=(0, 2))
    progress.add_row(
        Text("replay", "bold"),
        ProgressBar(total=max(replay.total, 1), completed=replay.sent, width=BAR_WIDTH),
        event_time(replay.clock_ms),
        f"{replay.sent:,}/{replay.total:,}",
    )
    counts = Text("in ", "dim").append(f"{_rate(status.send_rate)}/s", "default")
    for fault in Fault:
        counts.append(f"  {fault.value} ", "dim").append(f"{replay.faults.get(fault, 0):,}", "default")
    counts.append("  dead letters ", "dim").append(_count(status.dead_letters), "default")
    if status.restarts:
        counts.append("  queries restarted ", "dim").append(f"{status.restarts}", "bold yellow")
    parts: list[RenderableType] = [progress, counts]
    if replay.failure is not None:
        parts.append(Text(f"The replay failed: {replay.failure}", "red"))
    return Group(*parts)


def _queries(status: RunStatus) -> RenderableType:
    table = _table()
    table.add_column("query", style="cyan", overflow="ellipsis", min_width=8)  # the only one that may be cut
    for name in ("batch", "took", "in/s", "out/s", "watermark", "state", "memory", "drop", "lag"):
        table.add_column(name, justify="right", no_wrap=True)
    for query in status.queries:
        table.add_row(
            query.name, str(query.batch_id), f"{query.duration_ms / 1000:.1f} s",
            _rate(query.input_rate), _rate(query.processing_rate), event_time(query.watermark_ms)[5:] or _NOTHING,
            f"{query.state_rows:,}", decimal(query.state_bytes) if query.state_bytes else _NOTHING,
            _alarming(query.dropped_by_watermark), _count(status.total_lag(query)),
        )  # fmt: skip
    for name in status.waiting:
        table.add_row(name, *[_NOTHING] * 9, style="dim")
    return table


def _lags(status: RunStatus) -> RenderableType:
    """The lag of each partition, of the query that is furthest behind."""
    lags: dict[TopicPartition, int] = {}
    for query in status.queries:
        for partition, count in status.lag(query).items():
            lags[partition] = max(lags.get(partition, 0), count)
    table = _table()
    table.add_column("lag of partition", style="cyan", no_wrap=True)
    numbers = sorted({number for _, number in lags})
    for number in numbers:
        table.add_column(str(number), justify="right", no_wrap=True, min_width=5)
    for topic in sorted({topic for topic, _ in lags}):
        cells = [lags.get(TopicPartition(topic, number)) for number in numbers]
        table.add_row(topic, *("" if count is None else f"{count:,}" for count in cells))
    return table


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=0, header_style="bold")


def _alarming(count: int) -> Text:
    return Text(f"{count:,}", "bold yellow" if count else "")


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 or value == 0 else f"{value:.1f}"


def _count(number: int | None) -> str:
    return _UNKNOWN if number is None else f"{number:,}"


def _largest_lag(status: RunStatus) -> int | None:
    lags = [status.total_lag(query) for query in status.queries]
    return max((each for each in lags if each is not None), default=None if None in lags else 0)


def _state_rows(queries: Sequence[QueryStatus]) -> int:
    return sum(query.state_rows for query in queries)


def _state_bytes(queries: Sequence[QueryStatus]) -> int:
    return sum(query.state_bytes for query in queries)


def _dropped(queries: Sequence[QueryStatus]) -> int:
    return sum(query.dropped_by_watermark for query in queries)
