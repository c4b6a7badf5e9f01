from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.connect_sql import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "shop.db")
    yield database
    database.close()
