"""The parts of ``make connect`` without a broker."""

from __future__ import annotations

import io
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.properties import load_properties
from kafka_lite.connect.runtime.plugin_discovery import connector_class
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from pipeline import connect_demo
from pipeline.connect_demo import TOPIC, ConnectDemo, _until


class Rig:
    def __init__(self, folder: Path, orders: int = 20) -> None:
        self.shown = io.StringIO()
        self.folder = folder
        self.demo = ConnectDemo(Console(file=self.shown, width=80), folder, orders, per_second=10**6)
        self.demo._open_shop()

    def sold(self) -> list[Any]:
        with closing(sqlite3.connect(self.folder / "shop.db")) as shop:
            return shop.execute("SELECT * FROM orders ORDER BY id").fetchall()

    def write(self, rows: list[Any]) -> None:
        """As the sink does: a file for each country, which is in the folder's name only."""
        for country in {row[1] for row in rows}:
            folder = self.folder / "lake" / "topics" / TOPIC / f"country={country}"
            folder.mkdir(parents=True, exist_ok=True)
            ours = [{"id": row[0], "what": row[2], "price": row[3]} for row in rows if row[1] == country]
            pq.write_table(pa.Table.from_pylist(ours), folder / f"{len(ours)}.parquet")


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path)


def test_the_same_orders_are_sold_in_each_run(rig: Rig, tmp_path: Path) -> None:
    rig.demo._sell()
    (tmp_path / "again").mkdir()
    again = Rig(tmp_path / "again")
    again.demo._sell()
    assert rig.sold() == again.sold()
    assert [row[0] for row in rig.sold()] == list(range(1, 21))


def test_the_configurations_are_valid_and_in_files(rig: Rig) -> None:
    worker, connectors = rig.demo._configurations("127.0.0.1:9092")
    assert StandaloneConfig(worker)["bootstrap.servers"] == ["127.0.0.1:9092"]
    for config in connectors:
        values = connector_class(config["connector.class"])().validate(config)
        assert [error for value in values for error in value.error_messages] == []
        assert load_properties(rig.folder / f"{config['name']}.properties") == config
    assert load_properties(rig.folder / "worker.properties") == worker


def test_equal_rows_are_confirmed(rig: Rig) -> None:
    rig.demo._sell()
    rig.write(rig.sold())
    rig.demo._verify()
    assert "Each of the 20 orders is in one Parquet file, once." in rig.shown.getvalue()


@pytest.mark.parametrize("change", ["missing", "twice", "other"])
def test_other_rows_are_refused(rig: Rig, change: str) -> None:
    rig.demo._sell()
    rows = rig.sold()
    first = rows[0]
    rig.write({"missing": rows[1:], "twice": [first, *rows], "other": [(*first[:3], first[3] + 1), *rows[1:]]}[change])
    with pytest.raises(KafkaError, match="rows that are not the 20 of the shop"):
        rig.demo._verify()


def test_the_view_counts_rows(rig: Rig) -> None:
    class Rest:
        url = "http://w:1"

        def version(self) -> str:
            return "1"

        def connectors(self) -> list[str]:
            return []

    rig.demo._sell()
    rig.write(rig.sold()[:10])
    rig.demo._console.print(rig.demo._frame(Rest(), in_topic=15, in_files=10))
    lines = [line.split("█")[0].split() for line in rig.shown.getvalue().splitlines()[:3]]
    assert [line[-1] for line in lines] == ["20", "15", "10"]
    assert max(map(len, rig.shown.getvalue().splitlines())) <= 80


def test_the_end_is_waited_for_but_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return now_s

        @staticmethod
        def sleep(seconds: float) -> None:
            nonlocal now_s
            now_s += seconds

    monkeypatch.setattr(connect_demo, "time", Clock)
    ended = threading.Thread(target=lambda: None)
    counts = iter([0, 1, 3])
    assert list(_until(3, lambda: next(counts), ended)) == [0, 1, 3]
    with pytest.raises(KafkaError, match="only 2 of 3 orders have come into files"):
        list(_until(3, lambda: 2, ended))
    assert now_s > connect_demo.PATIENCE_S
