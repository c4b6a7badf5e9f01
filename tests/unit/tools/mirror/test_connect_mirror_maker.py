"""``kafka-lite connect-mirror-maker`` without clusters: its file, its ready line, its ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lite.common.properties import dump_properties
from kafka_lite.tools.main import main
from kafka_lite.tools.mirror.connect_mirror_maker import ConnectMirrorMaker

PROPS = {
    "clusters": "west, east", "west.bootstrap.servers": "127.0.0.1:1", "east.bootstrap.servers": "127.0.0.1:1",
    "west->east.enabled": "true", "emit.heartbeats.enabled": "false",
}  # fmt: skip
SOON = {"east.default.api.timeout.ms": "100"}
"""How long a worker waits for brokers that are about to start."""


def test_the_ready_line_names_the_ways() -> None:
    mirror = ConnectMirrorMaker(PROPS | {"east->west.enabled": "true"}, [])
    assert mirror.ready_line().endswith("MirrorMaker started: west->east, east->west")
    assert ConnectMirrorMaker(PROPS, ["east"]).ready_line().endswith("started: west->east")
    mirror.shutdown()


@pytest.mark.parametrize(
    ("props", "arguments", "text"),
    [
        (PROPS | SOON, [], "Timed out while checking for or creating topic(s) 'mm2-offsets.west.internal'"),
        (PROPS, ["--clusters", "west"], "No source->target replication flows."),
        (PROPS, ["--override", "clusters=west,north"], "north.bootstrap.servers"),
        ({}, [], "Missing required configuration clusters"),
    ],
)
def test_a_mirror_that_cannot_start_says_why(
    props: dict[str, str], arguments: list[str], text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mm2.properties"
    path.write_text(dump_properties(props))
    assert main(["connect-mirror-maker", str(path), *arguments]) == 1
    assert text in capsys.readouterr().err


def test_a_file_has_to_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["connect-mirror-maker"])
    assert ended.value.code == 2
    assert "mm2.properties" in capsys.readouterr().err
