import pytest

from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.sql.tables import TableFilter, load_table, table_names
from tests.support.connect_sql import Database

NAMES = ["orders", "items", "order_log", "x"]


@pytest.mark.parametrize(
    ("chosen", "found"),
    [
        (TableFilter(), ["items", "order_log", "orders", "x"]),
        (TableFilter(whitelist=["orders", "missing"]), ["orders"]),
        (TableFilter(blacklist=["orders"]), ["items", "order_log", "x"]),
        (TableFilter(include=["order.*", "it"]), ["order_log", "orders"]),
        (TableFilter(exclude=["order.*"]), ["items", "x"]),
    ],
)
def test_which_tables(chosen: TableFilter, found: list[str]) -> None:
    assert chosen.select(NAMES) == found


def test_tables_and_views(database: Database) -> None:
    database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)", "CREATE VIEW v AS SELECT id FROM t")
    with database.connection() as connection:
        assert table_names(connection.engine, None, views=False) == ["t"]
        assert table_names(connection.engine, None, views=True) == ["t", "v"]
        schema = "main" if database.is_sqlite else "public"
        assert table_names(connection.engine, schema, views=False) == [f"{schema}.t"]
        assert [column.name for column in load_table(connection, f"{schema}.t").columns] == ["id", "x"]
        with pytest.raises(ConnectError, match="The table none does not exist: it was dropped, or renamed"):
            load_table(connection, "none")
