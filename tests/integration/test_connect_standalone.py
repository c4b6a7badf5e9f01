"""Kafka's system tests of standalone workers, the source and the sink each in a process of its own.

Kafka 0.10.2 and 3.9: tests/kafkatest/tests/connect/connect_test.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.connect_process import OurWorker
from tests.support.eventually import eventually

pytestmark = [pytest.mark.soak, pytest.mark.nightly]

JSON = "org.apache.kafka.connect.json.JsonConverter"
STRING = "org.apache.kafka.connect.storage.StringConverter"
FIRST, SECOND = ["foo", "bar", "baz"], ["razz", "ma", "tazz"]
SCHEMA = {"type": "string", "optional": False}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as cluster:
        cluster.create_topic("test", 1)
        yield cluster


def _converters(of: str, schemas: bool | None) -> dict[str, str]:
    """Those of a connector, which are stronger than the worker's."""
    own = {f"{part}.converter": of for part in ("key", "value")}
    if schemas is not None:
        own |= {f"{part}.converter.schemas.enable": str(schemas).lower() for part in ("key", "value")}
    return own


def _source(cluster: Cluster, folder: Path, converters: dict[str, str]) -> OurWorker:
    config = {"connector.class": "FileStreamSource", "file": str(folder / "in.txt"), "topic": "test", **converters}
    return OurWorker(folder, "source", cluster.bootstrap_servers, {}, {"in": config})


def _sink(cluster: Cluster, folder: Path, converters: dict[str, str], **more: str) -> OurWorker:
    config = {"connector.class": "FileStreamSink", "file": str(folder / "out.txt"), "topics": "test", **converters}
    return OurWorker(folder, "sink", cluster.bootstrap_servers, {}, {"out": {**config, **more}})


def _append(folder: Path, lines: list[str]) -> None:
    with (folder / "in.txt").open("a") as file:
        file.write("".join(f"{line}\n" for line in lines))


def _written(folder: Path) -> list[str]:
    file = folder / "out.txt"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize(
    ("converter", "schemas"), [(JSON, True), (JSON, False), (STRING, None)], ids=["schemas", "plain", "string"]
)
def test_file_source_and_sink(cluster: Cluster, tmp_path: Path, converter: str, schemas: bool | None) -> None:
    """Both workers are stopped between the first lines and the second, and continue where they were."""
    converters = _converters(converter, schemas)
    source, sink = _source(cluster, tmp_path, converters), _sink(cluster, tmp_path, converters)
    _append(tmp_path, FIRST)
    with source, sink:
        eventually(lambda: _written(tmp_path) == FIRST, lambda: (_written(tmp_path), sink.end_of_log()))
    _append(tmp_path, SECOND)
    with source, sink:
        eventually(lambda: _written(tmp_path) == FIRST + SECOND, lambda: (_written(tmp_path), sink.end_of_log()))
    found = [value.decode() for value in cluster.values("test") if value is not None]
    if converter == STRING:
        assert found == FIRST + SECOND
    else:
        expected = [{"schema": SCHEMA, "payload": line} if schemas else line for line in FIRST + SECOND]
        assert [json.loads(value) for value in found] == expected


@pytest.mark.parametrize("tolerance", ["all", "none"])
def test_skip_and_log_to_dlq(cluster: Cluster, tmp_path: Path, tolerance: str) -> None:
    """Every other line is no JSON. The first of them ends a task that tolerates none; each is in the queue."""
    good, bad = [f'{{"some_key":{number}}}' for number in range(20)], [f'{{"some_key:{n}}}' for n in range(20)]
    _append(tmp_path, [line for pair in zip(good, bad, strict=True) for line in pair])
    source = _source(cluster, tmp_path, _converters(STRING, None))
    queue = {
        "errors.tolerance": tolerance, "errors.deadletterqueue.topic.name": "my-connector-errors",
        "errors.deadletterqueue.topic.replication.factor": "1", "key.converter": STRING,
    }  # fmt: skip
    sink = _sink(cluster, tmp_path, _converters(JSON, False), **queue)
    with source, sink:
        if tolerance == "all":
            eventually(lambda: len(_written(tmp_path)) == len(good), lambda: (_written(tmp_path), sink.end_of_log()))
            eventually(lambda: len(cluster.values("my-connector-errors")) == len(bad))
        else:
            eventually(lambda: sink.ask("GET", "/connectors/out/tasks/0/status")[1].get("state") == "FAILED")
    expected = bad if tolerance == "all" else bad[:1]
    assert [(value or b"").decode() for value in cluster.values("my-connector-errors")] == expected
    assert len(_written(tmp_path)) == (len(good) if tolerance == "all" else 0)
