"""Notices tables that are created and dropped · book 8.3.2"""

from __future__ import annotations

import logging
from collections.abc import Callable

from kafka_lite.common.shutdownable_thread import ShutdownableThread

logger = logging.getLogger(__name__)


class TableMonitorThread(ShutdownableThread):
    """Looks every ``table.poll.interval.ms``."""

    def __init__(
        self, name: str, find: Callable[[], list[str]], changed: Callable[[], None], interval_ms: float
    ) -> None:
        """``changed`` is called if there are other tables than before."""
        super().__init__(f"table-monitor-{name}")
        self._find = find
        self._changed = changed
        self._interval_ms = interval_ms
        self.tables: list[str] = find()

    def do_work(self) -> None:
        """Wait, then look."""
        if not self.pause(self._interval_ms):
            self.look()

    def look(self) -> None:
        """Compare the tables with those of the last time. A database that does not answer is asked again later."""
        try:
            tables = self._find()
        except Exception as error:  # noqa: BLE001  a driver's
            logger.warning("Could not list the tables, will look again: %s", error)
            return
        if tables != self.tables:
            logger.info("The tables have changed: %s", ", ".join(tables) or "there are none")
            self.tables = tables
            self._changed()
