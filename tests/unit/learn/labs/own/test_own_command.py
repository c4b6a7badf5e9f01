"""The verbs ``labs broker``, ``cluster``, ``streams`` and ``connect``: which program they run, and what they show."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest
from rich.console import Console

from kafka_learn.labs.command import add_arguments, run
from kafka_learn.labs.own import own_command
from kafka_learn.labs.own.own_command import house
from kafka_learn.labs.own.own_kafka import OwnKafka, Room
from kafka_learn.labs.own.trial import Named, Outcome
from kafka_lite.tools.server.local_cluster import LocalCluster

OWN = OwnKafka({}, (Room("log", 1, 4), Room("network", 0, 16)), ("x is different",))


class BecameError(Exception):
    """In place of ``os.execv``, which does not return."""


@pytest.fixture(autouse=True)
def empty_house(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(own_command, "own_kafka", lambda *, unchecked: OWN)
    monkeypatch.setattr(own_command, "_data", lambda name: tmp_path / name)
    monkeypatch.setattr(own_command, "_modules", lambda: tmp_path / "modules")


def labs(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(words))


def shown(own: OwnKafka, *, zh: bool = False) -> str:
    console = Console(width=100, file=io.StringIO())
    console.print(house(own, zh=zh))
    return cast(io.StringIO, console.file).getvalue()


def test_the_house_shows_how_much_of_each_room_is_lit() -> None:
    own = OwnKafka({}, (Room("log", 1, 4), Room("network", 0, 16)), ("x is different",))
    text = shown(own)
    assert text.splitlines()[0].strip() == "Your Kafka: 1 of 20 functions are yours"
    assert f"log      {'█' * 6}{'░' * 18}  1/4" in text
    assert f"network  {'░' * 24}  0/16" in text
    assert "x is different" in text
    assert "你的 Kafka：20 个函数里有 1 个是你写的" in shown(own, zh=True)


@pytest.fixture
def became(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The commands that have taken the place of this process."""
    commands: list[Sequence[str]] = []

    def execv(_path: str, command: Sequence[str]) -> None:
        commands.append(command)
        raise BecameError

    monkeypatch.setattr(os, "execv", execv)
    return commands


def test_the_broker_takes_the_place_of_the_command(became: list[Sequence[str]], tmp_path: Path) -> None:
    with pytest.raises(BecameError):
        labs("broker", "--port", "19092", "--override", "num.partitions=7")
    _, _, program, *rest = became[0]
    assert program == "kafka_learn.labs.overlay"
    assert rest[:3] == ["-m", "kafka_lite.tools.main", "server-start"]
    assert rest[4::2] == ["listeners=PLAINTEXT://127.0.0.1:19092", f"log.dirs={tmp_path}/broker", "num.partitions=7"]


def test_streams_counts_the_words_that_one_types(became: list[Sequence[str]], tmp_path: Path) -> None:
    with pytest.raises(BecameError):
        labs("streams", "--bootstrap-server", "127.0.0.1:19092")
    assert became[0][4:] == [
        "examples.word_count", "--bootstrap-server", "127.0.0.1:19092", "--state-dir", f"{tmp_path}/streams",
    ]  # fmt: skip


def test_connect_is_a_worker_of_the_shipped_properties(became: list[Sequence[str]]) -> None:
    with pytest.raises(BecameError):
        labs("connect", "--override", "rest.port=18083")
    _, _, _, _, program, verb, properties, *rest = became[0]
    assert (program, verb) == ("kafka_lite.tools.main", "connect-distributed")
    assert Path(properties).read_text()
    assert rest[1::2] == ["bootstrap.servers=127.0.0.1:9092", "rest.port=18083"]


@pytest.mark.parametrize("what", ["broker", "streams", "connect"])
@pytest.mark.parametrize(("passed", "code"), [(True, 0), (False, 1)])
def test_a_check_says_whether_real_clients_were_content(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], what: str, passed: bool, code: int
) -> None:
    tried: list[str] = []

    def run_trials(_files: object, _folder: Path, trials: Sequence[Named], *, zh: bool) -> list[Outcome]:
        tried.extend(title_zh if zh else title for title, title_zh, _ in trials)
        return [Outcome("kill -9", passed, "17 [of] 20")]

    monkeypatch.setattr(own_command, "run_trials", run_trials)
    assert labs(what, "--check") == code
    assert tried[0] == {"broker": "librdkafka writes and reads", "streams": "two instances count words"}.get(
        what, "a file is copied"
    )
    assert f"{'✓' if passed else '✗'}  kill -9  17 [of] 20" in capsys.readouterr().out


def test_the_cluster_starts_its_brokers_with_the_merged_modules(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clusters: list[LocalCluster] = []

    def run_in_foreground(_tool: str, create: object) -> int:
        monkeypatch.setattr(own_command, "ForegroundCluster", clusters.append)
        create()  # type: ignore[operator]
        return 0

    monkeypatch.setattr(own_command, "run_in_foreground", run_in_foreground)
    assert labs("cluster", "--port", "19092", "--zookeeper-port", "12181") == 0
    (cluster,) = clusters
    assert (cluster.ports, cluster.zookeeper_port, cluster.folder) == (
        [19092, 19093, 19094],
        12181,
        tmp_path / "cluster",
    )
    assert "kafka_learn.labs.overlay" in cluster.start_command
