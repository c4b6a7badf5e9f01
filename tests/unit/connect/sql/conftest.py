from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.connect_sql import Database
from tests.support.postgresql import PostgresqlDatabase, postgresql

BESIDE_POSTGRESQL = pytest.param("postgresql", marks=[pytest.mark.soak, pytest.mark.nightly])


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL server."""
    with postgresql() as url:
        yield url


@pytest.fixture(params=["sqlite", BESIDE_POSTGRESQL])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """An empty database: of SQLite, and once more of PostgreSQL."""
    if request.param == "sqlite":
        database = Database(tmp_path / "shop.db")
    else:
        database = PostgresqlDatabase(request.getfixturevalue("server"))
    yield database
    database.close()
