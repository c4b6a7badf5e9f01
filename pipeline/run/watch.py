"""Watches a run: takes a look every now and then, shows it, and writes it down for the report.

With rich · book 2.3
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Self

from confluent_kafka import KafkaException
from rich.console import Console
from rich.live import Live
from rich.text import Text

from pipeline.events import DEAD_LETTERS, PARTITIONS, SOURCES
from pipeline.replay import ReplayStatus
from pipeline.run.progress_log import ProgressLog
from pipeline.run.run_folder import RunFolder
from pipeline.run.supervised_queries import SupervisedQueries
from pipeline.run.topic_ends import TopicEnds
from pipeline.view.live_view import RunStatus, live_view, status_line
from pipeline.view.query_progress import Offsets

_WATCHED = {topic: PARTITIONS[topic] for topic in (*(source.topic for source in SOURCES), DEAD_LETTERS)}
_INTERVALS_S = {True: 0.5, False: 5.0}
"""On a terminal, and without one."""
_LOOK_S = 0.25
_RATE_OVER_S = 3.0


class Watch:
    """A live view on a terminal, otherwise a line every few seconds; a context manager.

    ``start_number`` tells the samples of a resumed run from those before.
    """

    def __init__(
        self, console: Console, interval_s: float | None, folder: RunFolder, log: ProgressLog, ends: TopicEnds,
        jobs: Sequence[str], start_number: int,
    ) -> None:  # fmt: skip
        self._console = console
        self._interval_s = interval_s or _INTERVALS_S[console.is_terminal]
        self._folder = folder
        self._log = log
        self._ends = ends
        self._jobs = jobs
        self._start_number = start_number
        self._began = self._shown = time.monotonic()
        self._sent: list[tuple[float, int]] = []
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def look(self, phase: str, queries: SupervisedQueries, replay: ReplayStatus) -> None:
        """Pause a moment; if the interval has passed, collect everything and show it."""
        time.sleep(_LOOK_S)
        if time.monotonic() - self._shown >= self._interval_s:
            self.show(phase, queries, replay)

    def show(self, phase: str, queries: SupervisedQueries, replay: ReplayStatus) -> None:
        """Collect everything and show it now."""
        self._shown = now = time.monotonic()
        self._log.poll(queries.running)
        ends = self._known_ends()
        statuses = self._log.statuses()
        status = RunStatus(
            phase=phase,
            elapsed_s=now - self._began,
            replay=replay,
            send_rate=self._send_rate(now, replay.sent),
            queries=[statuses[job] for job in self._jobs if job in statuses],
            waiting=[job for job in self._jobs if job not in statuses],
            ends=ends,
            dead_letters=None if ends is None else _records_in(DEAD_LETTERS, ends),
            restarts=queries.restarts.total(),
        )
        self._write_down(status)
        if self._live is not None:
            self._live.update(live_view(status), refresh=True)
        else:
            self._console.print(Text(status_line(status)), soft_wrap=True)

    def _known_ends(self) -> Offsets | None:
        """The ends of the logs; None while no broker says where they are."""
        try:
            return self._ends.ends(_WATCHED)
        except KafkaException:
            return None

    def _send_rate(self, now: float, sent: int) -> float:
        """Records per second, over the last few seconds."""
        self._sent.append((now, sent))
        while now - self._sent[0][0] > max(_RATE_OVER_S, 2 * self._interval_s):
            self._sent.pop(0)
        then, sent_then = self._sent[0]
        return (sent - sent_then) / (now - then) if now > then else 0.0

    def _write_down(self, status: RunStatus) -> None:
        sample = {
            "start": self._start_number,
            "time_ms": time.time_ns() // 1_000_000,
            "clock_ms": status.replay.clock_ms,
            "sent": status.replay.sent,
            "send_rate": status.send_rate,
            "lag": {query.name: status.total_lag(query) for query in status.queries},
            "dead_letters": status.dead_letters,
        }
        self._folder.append(self._folder.samples, [sample])


def _records_in(topic: str, ends: Offsets) -> int:
    return sum(end for partition, end in ends.items() if partition.topic == topic)
