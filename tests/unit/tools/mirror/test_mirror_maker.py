"""``kafka-lite mirror-maker`` without clusters: its flags, its files, its words and its exit codes."""

from __future__ import annotations

import argparse
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kafka_lite.common.time import MockTime
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.mirror.maker.mirror_maker import MirrorMaker
from kafka_lite.mirror.maker.mirror_maker_base_consumer import PartitionProgress
from kafka_lite.mirror.maker.mirror_maker_config import MirrorMakerConfig
from kafka_lite.mirror.maker.mirror_maker_state import MirrorMakerState
from kafka_lite.mirror.maker.mirror_progress import MirrorSnapshot, PartitionRow
from kafka_lite.tools.common.stop_signals import StopRequested
from kafka_lite.tools.main import main
from kafka_lite.tools.mirror import mirror_maker
from kafka_lite.tools.mirror.mirror_maker_view import live_view, watching


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    consumer, producer = tmp_path / "consumer.properties", tmp_path / "producer.properties"
    consumer.write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\npartition.assignment.strategy=range\n")
    producer.write_text("bootstrap.servers=127.0.0.1:1\n")
    return ["--consumer.config", str(consumer), "--producer.config", str(producer)]


def read(*arguments: str) -> MirrorMakerConfig:
    parser = argparse.ArgumentParser()
    mirror_maker.add_arguments(parser)
    return mirror_maker.read_config(parser.parse_args(arguments))


def test_kafkas_flags_and_defaults(files: list[str]) -> None:
    config = read(*files, "--whitelist", "t")
    assert config == MirrorMakerConfig(
        {"bootstrap.servers": "127.0.0.1:1", "group.id": "g", "partition.assignment.strategy": "range"},
        {"bootstrap.servers": "127.0.0.1:1"},
        whitelist="t",
    )
    all_flags = read(
        *(*files, "--new.consumer", "--whitelist", "t", "--num.streams", "3", "--offset.commit.interval.ms", "500"),
        *("--abort.on.send.failure", "False", "--message.handler", "m.H", "--message.handler.args", "a"),
        *("--consumer.rebalance.listener", "m.L", "--rebalance.listener.args", "b"),
    )
    assert all_flags == MirrorMakerConfig(
        *(config.consumer, config.producer, True, 3, "t", None, 500, False, "m.H", "a", "m.L", "b")
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Continuously copy data between two Kafka clusters"),
        (["--consumer.config", "FILES"], 'Missing required argument "[producer.config]"'),
        (["FILES"], "whitelist must be specified when using new consumer in mirror maker."),
        (["FILES", "--blacklist", "t"], "blacklist can not be used when using new consumer in mirror maker."),
        (["FILES", "--whitelist", "t", "--abort.on.send.failure", "no"], 'For input string: "no"'),
        (["FILES", "--whitelist", "t", "--watch"], "--watch requires a terminal"),
        (["FILES", "--whitelist", "t", "--message.handler", "m.H"], "Exception when starting mirror maker."),
        (["--consumer.config", "missing", "--producer.config", "missing"], "missing: No such file or directory"),
    ],
)
def test_a_mirror_that_cannot_start_says_why_and_exits_with_1(
    files: list[str], arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [each for word in arguments for each in (files if word == "FILES" else [word])]
    if given[:2] == ["--consumer.config", "--consumer.config"]:
        given = given[1:3]
    assert main(["mirror-maker", *given]) == 1
    assert words in capsys.readouterr().err


def test_the_default_assignor_is_warned_of_in_kafkas_words(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(files[1]).write_text("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n")
    assert main(["mirror-maker", *files, "--whitelist", "t", "--message.handler", "m.H"]) == 1
    assert "WARNING: The default partition assignment strategy of the new-consumer" in capsys.readouterr().err


class FakeMirror:
    """A mirror that a test ends."""

    def __init__(self) -> None:
        self.state = MirrorMakerState()
        self.calls: list[str] = []
        self.on_wait: Callable[[], bool] = lambda: True
        self.waits_of_shutdown = 0

    def start(self) -> None:
        self.calls.append("start")

    def await_end(self, timeout_s: float) -> bool:
        return self.on_wait()

    def initiate_shutdown(self) -> None:
        self.calls.append("initiate shutdown")

    def await_shutdown(self, timeout_s: float | None = None) -> bool:
        self.calls.append("await shutdown")
        self.waits_of_shutdown -= 1
        return self.waits_of_shutdown < 0

    def progress(self) -> list[PartitionProgress]:
        return [PartitionProgress(TopicPartition("t", 0), 5, 9)]


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> FakeMirror:
    fake = FakeMirror()
    monkeypatch.setattr(MirrorMaker, "create", lambda _config: fake)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    return fake


def test_a_thread_that_ends_stops_the_whole_mirror_with_255(
    files: list[str], mirror: FakeMirror, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mirror-maker", *files, "--whitelist", "t"]) == 255
    assert mirror.calls == ["start", "initiate shutdown", "await shutdown"]
    assert "Mirror maker thread exited abnormally, stopping the whole mirror maker." in capsys.readouterr().err


def test_a_signal_stops_it_cleanly_and_a_target_that_is_down_is_said(
    files: list[str], mirror: FakeMirror, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop() -> bool:
        raise StopRequested

    mirror.on_wait = stop
    mirror.waits_of_shutdown = 2
    assert main(["mirror-maker", *files, "--whitelist", "t"]) == 143
    assert mirror.calls == ["start", "initiate shutdown", *["await shutdown"] * 3]
    assert "Waiting for the target cluster to acknowledge the last records." in capsys.readouterr().err


def text_of(renderable: Any) -> str:
    console = Console(width=80, file=io.StringIO())
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


def test_the_view_shows_the_largest_lag_first() -> None:
    rows = [
        PartitionRow(TopicPartition("t", 0), 1500, 0, 25.4),
        PartitionRow(TopicPartition("t", 1), 7, None, 0),
        PartitionRow(TopicPartition("u", 3), 2, 1234, 0),
    ]
    lines = text_of(live_view(MirrorSnapshot(rows, 1509, 3, 25.4, 1234))).splitlines()
    assert lines[0].strip() == "mirror-maker  25 records/s  1,509 acknowledged · lag 1,234 · 3 dropped"
    assert [line.split() for line in lines[4:7]] == [
        ["u", "3", "2", "1,234", "0"], ["t", "0", "1,500", "0", "25"], ["t", "1", "7", "-", "0"],
    ]  # fmt: skip


def test_a_mirror_without_records_says_so() -> None:
    lines = text_of(live_view(MirrorSnapshot([], 0, 0, 0, None)))
    assert "No partition has had records yet." in lines


def test_watching_redraws_with_rates() -> None:
    fake: Any = FakeMirror()
    screen, time = io.StringIO(), MockTime()
    with watching(fake, time, Console(file=screen, force_terminal=True, width=80, height=20)) as show:
        show()
        assert "0 records/s" in screen.getvalue()
        time.sleep(1000)
        for _ in range(7):
            fake.state.count_acknowledged()
        show()
    assert "7 records/s" in screen.getvalue()
    assert "lag 4" in screen.getvalue()
