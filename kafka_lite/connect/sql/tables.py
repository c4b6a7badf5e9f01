"""The tables of a database that a source copies · book 8.3.2"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from kafka_lite.connect.api.errors import ConnectError


@dataclass(frozen=True)
class TableFilter:
    """At most one of the four has entries. Names with a schema are ``schema.table``."""

    whitelist: Sequence[str] = ()
    """Names; only these tables."""
    blacklist: Sequence[str] = ()
    """Names; all tables but these."""
    include: Sequence[str] = ()
    """Regular expressions; only tables that one of them matches as a whole."""
    exclude: Sequence[str] = ()
    """Regular expressions; all tables but those that one of them matches as a whole."""

    def select(self, names: Iterable[str]) -> list[str]:
        """The tables to copy, sorted."""
        return sorted(name for name in names if self._accepts(name))

    def _accepts(self, name: str) -> bool:
        if self.whitelist:
            return name in self.whitelist
        if self.include:
            return any(re.fullmatch(pattern, name) for pattern in self.include)
        return name not in self.blacklist and not any(re.fullmatch(pattern, name) for pattern in self.exclude)


def table_names(engine: sa.Engine, schema: str | None, *, views: bool) -> list[str]:
    """All tables, and views if they are wanted. Raises sqlalchemy.exc.SQLAlchemyError."""
    inspector = sa.inspect(engine)
    names = [*inspector.get_table_names(schema), *(inspector.get_view_names(schema) if views else ())]
    return [name if schema is None else f"{schema}.{name}" for name in names]


def load_table(connection: sa.Connection, name: str) -> sa.Table:
    """A table with its columns. Raises ConnectError if there is none of this name."""
    schema, _, bare = name.rpartition(".")
    try:
        return sa.Table(bare, sa.MetaData(), schema=schema or None, autoload_with=connection)
    except sa.exc.NoSuchTableError as error:
        raise ConnectError(f"The table {name} does not exist: it was dropped, or renamed") from error
