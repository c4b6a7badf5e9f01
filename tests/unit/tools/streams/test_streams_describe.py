"""``kafka-lite streams-describe``: topologies as text and drawings."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from kafka_lite.tools.main import main

WORD_COUNT = "examples.word_count.topology:node_by_node"


def described(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["streams-describe", *arguments]) == 0
    return capsys.readouterr().out


def test_the_text_is_that_of_the_builder(capsys: pytest.CaptureFixture[str]) -> None:
    text = described(capsys, WORD_COUNT)
    assert text.startswith("Topologies:\n   Sub-topology: 0\n    Source: lines (topics: [text])\n      --> split\n")
    assert "    Processor: count (stores: [counts])\n      --> counted\n      <-- words\n" in text


def test_a_drawing_has_each_node_topic_and_store_once(capsys: pytest.CaptureFixture[str]) -> None:
    drawing = ET.fromstring(described(capsys, WORD_COUNT, "--format", "svg"))
    words = sorted(text.text or "" for text in drawing.iter() if text.tag.endswith("text"))
    nodes = ["lines", "split", "to-words", "words", "count", "counted"]
    assert words == sorted(["0", "1", "text", "words", "word-counts", "counts", *nodes])


def test_the_source_for_graphviz_has_an_edge_for_each_arrow(capsys: pytest.CaptureFixture[str]) -> None:
    source = described(capsys, WORD_COUNT, "--format", "dot")
    assert re.findall(r"(\S+ ?\S*\") -> ", source)
    edges = [line.strip() for line in source.splitlines() if "->" in line]
    assert len(edges) == 9
    assert '"Sink to-words" -> "Topic words";' in edges
    assert '"Processor count" -> "Store counts" [dir=none, style=dashed];' in edges


def test_a_builder_in_the_current_folder_is_found(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_streams_app.py").write_text(
        "from kafka_lite.streams.kstream.kstream_builder import KStreamBuilder\n"
        "builder = KStreamBuilder()\nbuilder.stream('a').to('b')\n"
    )
    monkeypatch.chdir(tmp_path)
    assert "Sink: KSTREAM-SINK-0000000001 (topic: b)" in described(capsys, "my_streams_app:builder")


@pytest.mark.parametrize(
    ("builder", "message"),
    [
        ("no_colon", "'no_colon' is not of the form MODULE:NAME"),
        ("no_such_module:builder", "cannot import no_such_module: ModuleNotFoundError"),
        ("examples.word_count.topology:nothing", "examples.word_count.topology has no nothing"),
        ("examples.word_count.topology:TEXT", "topology:TEXT is a str, not a TopologyBuilder"),
    ],
)
def test_errors_are_one_line(capsys: pytest.CaptureFixture[str], builder: str, message: str) -> None:
    assert main(["streams-describe", builder]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1
