"""A SQLite database for the tests of the SQL connectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa


class Database:
    """One file."""

    def __init__(self, file: Path) -> None:
        self._open(f"sqlite:///{file}")

    def _open(self, url: str) -> None:
        self.url = url
        self._engine = sa.create_engine(url)
        self.at_end: list[Callable[[], object]] = []
        """Stops of tasks that use it. A server would keep their connections, and so their locks."""

    @property
    def is_sqlite(self) -> bool:
        """SQLite has texts for times and floats for decimals, and its own words for what it refuses."""
        return self._engine.dialect.name == "sqlite"

    def run(self, *statements: str) -> None:
        """Carry out statements in one transaction."""
        with self._engine.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self._engine.connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(query)]

    @contextmanager
    def connection(self) -> Iterator[sa.Connection]:
        """A connection of its own."""
        with self._engine.connect() as connection:
            yield connection

    def close(self) -> None:
        for stop in self.at_end:
            stop()
        self._engine.dispose()


class StoredOffsets:
    """A source task's context: what was stored under each table."""

    def __init__(self, stored: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._stored = stored or {}

    @property
    def offset_storage_reader(self) -> Any:
        return self

    def offset(self, partition: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return self._stored.get(partition["table"])

    def configs(self) -> dict[str, str]:
        return {}
