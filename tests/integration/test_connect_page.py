"""A newcomer's connector, from docs/connect.md alone: the files of the page in an empty folder, and its commands."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path

import pytest

from kafka_lite.server.broker_process import free_port
from kafka_lite.testing.cluster import Cluster
from tests.support.connect_process import KAFKA_LITE, ConnectProcess
from tests.support.eventually import eventually

DOCS = Path(__file__).parents[2] / "docs"
FILES = {"countdown.py", "countdown.properties", "worker.properties"}
IT_WOULD_COUNT_S = 0.5


def _files_of(page: str) -> dict[str, str]:
    """The blocks that begin with the name of a file."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(?:python|properties)\n(# (\w+\.\w+)\n.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return {name: content for content, name in blocks}


def _run(folder: Path, cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> ConnectProcess:
    """The page's command; the broker and the REST interface have other ports."""
    monkeypatch.chdir(folder)
    port = free_port()
    overrides = (f"bootstrap.servers={cluster.bootstrap_servers}", f"rest.port={port}", "offset.flush.interval.ms=100")
    options = [argument for each in overrides for argument in ("--override", each)]
    files = ["worker.properties", "countdown.properties"]
    return ConnectProcess([*KAFKA_LITE, "connect-standalone", *files, *options], port, folder / "worker.log")


@pytest.mark.soak
@pytest.mark.parametrize("page", ["connect.md", "connect.zh.md"])
def test_the_files_of_the_page_are_a_connector(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = _files_of(page)
    assert files.keys() == FILES
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    with Cluster() as cluster:
        worker = _run(tmp_path, cluster, monkeypatch)
        with worker:
            consumer = [*KAFKA_LITE, "console-consumer", "--bootstrap-server", cluster.bootstrap_servers]
            arguments = ["--topic", "numbers", "--from-beginning", "--max-messages", "4"]
            eventually(lambda: "numbers" in cluster.topics)
            printed = subprocess.run([*consumer, *arguments], capture_output=True, text=True, check=True).stdout
            assert printed.splitlines() == ["3", "2", "1", "0"]
            assert "connectors countdown" in worker.log()
        with worker:
            eventually(lambda: "finished initialization and start" in worker.log(), worker.end_of_log)
            time.sleep(IT_WOULD_COUNT_S)
        assert cluster.values("numbers") == [b"3", b"2", b"1", b"0"], "it continued where it was"


def test_both_pages_have_the_same_files() -> None:
    assert _files_of("connect.md") == _files_of("connect.zh.md")
