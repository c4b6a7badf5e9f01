from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import mysql, postgresql

from kafka_lite.connect.api.data.schema import Schema
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.sql.sql_rows import SqlRow
from kafka_lite.connect.sql.sql_sink_config import sql_sink_config_def
from kafka_lite.connect.sql.sql_writer import SqlWriter

SCHEMAS = {"id": Schema.INT64_SCHEMA, "what": Schema.STRING_SCHEMA}
TABLE = sa.Table("t", sa.MetaData(), sa.Column("id", sa.BigInteger, primary_key=True), sa.Column("what", sa.Text))


def _writer(**props: str) -> SqlWriter:
    base = {"connection.url": "sqlite://", "insert.mode": "upsert", "batch.size": "2"}
    return SqlWriter(sql_sink_config_def().parse(base | {key.replace("_", "."): value for key, value in props.items()}))


def _row(number: int, table: str = "t", is_deletion: bool = False) -> SqlRow:
    return SqlRow(table, {"id": number}, None if is_deletion else {"what": "x"}, SCHEMAS)


def test_rows_of_a_table_keep_their_order() -> None:
    rows = [_row(1), _row(9, "u"), _row(2), _row(1, is_deletion=True), _row(1), _row(4), _row(5)]
    groups = [[(row.table, row.key["id"], row.others is None) for row in group] for group in _writer()._groups(rows)]
    assert groups == [
        [("t", 1, False), ("t", 2, False)],
        [("t", 1, True)],
        [("t", 1, False), ("t", 4, False)],
        [("t", 5, False)],
        [("u", 9, False)],
    ]


@pytest.mark.parametrize(
    ("dialect", "name", "clause"),
    [
        (postgresql.dialect(), "postgresql", "ON CONFLICT (id) DO UPDATE SET what = excluded.what"),
        (mysql.dialect(), "mysql", "ON DUPLICATE KEY UPDATE what = VALUES(what)"),
    ],
)
def test_upserts_of_databases(dialect: Any, name: str, clause: str) -> None:
    statement = _writer()._insert(name, TABLE, _row(1))
    assert clause in str(statement.values(_row(1).values).compile(dialect=dialect))


def test_a_database_without_upserts() -> None:
    with pytest.raises(ConnectError, match=r"insert\.mode=upsert is not there for oracle"):
        _writer()._insert("oracle", TABLE, _row(1))
    assert "INSERT INTO t" in str(_writer(insert_mode="insert")._insert("oracle", TABLE, _row(1)))
