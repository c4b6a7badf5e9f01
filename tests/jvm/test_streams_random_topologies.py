"""Random topologies of the DSL send the same records in Streams 0.10.2.2 and ours, to all topics."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, note, settings

from kafka_lite.streams.errors import TopologyBuilderError
from tests.support.jvm import classpath, compile_java, java_command
from tests.support.random_topologies import Operator, Record, Sent, inputs, run, topologies

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.timeout(600)]

VERSION = "0.10.2.2"
STREAMS, CLIENTS = "org.apache.kafka:kafka-streams", "org.apache.kafka:kafka-clients"


class JavaStreams:
    """A process that builds and runs topologies, one after the other."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._input, self._output = process.stdin, process.stdout

    def run(self, operators: Sequence[Operator], records: Sequence[Record]) -> Sent:
        """Everything that Java sends. Raises TopologyBuilderError for a topology that cannot be."""
        for name, node, other in operators:
            print("op", name, node, *([other] if other >= 0 else []), file=self._input)
        for topic, key, value, timestamp in records:
            print("in", topic, key, "-" if value is None else value, timestamp, file=self._input)
        print("run", file=self._input, flush=True)
        sent: Sent = {}
        while (line := self._output.readline().strip()) != "end":
            assert line, "the process has died"
            if line.startswith("error"):
                assert self._output.readline() == "end\n"
                assert "TopologyBuilderException" in line, line
                raise TopologyBuilderError(line)
            topic, key_text, value_text, stamp = line.split(" ")
            sent.setdefault(topic, []).append((_bytes(key_text), _bytes(value_text), int(stamp)))
        return sent


def _bytes(text: str) -> bytes | None:
    return None if text == "-" else bytes.fromhex(text.removeprefix("x"))


@pytest.fixture(scope="module")
def java() -> Iterator[JavaStreams]:
    jars = classpath(
        f"{STREAMS}:{VERSION}", f"{STREAMS}:jar:test:{VERSION}", f"{CLIENTS}:jar:test:{VERSION}",
        "org.slf4j:slf4j-nop:1.7.36",
    )  # fmt: skip
    classes = compile_java(Path(__file__).parent / "RandomTopologies.java", jars)
    command = java_command("RandomTopologies", classpath=[classes, *jars])
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield JavaStreams(process)
        assert process.stdin is not None
        process.stdin.close()


@settings(max_examples=40)
@given(operators=topologies(), records=inputs())
def test_java_and_ours_send_the_same_records(
    java: JavaStreams, operators: list[Operator], records: list[Record]
) -> None:
    try:
        theirs = java.run(operators, records)
    except TopologyBuilderError as error:
        note(str(error))
        with pytest.raises(TopologyBuilderError):
            run(operators, records)
        return
    ours = run(operators, records)
    note(f"Java: {theirs}")
    note(f"ours: {ours}")
    assert ours == theirs
