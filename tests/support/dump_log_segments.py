"""Kafka's own DumpLogSegments on our files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tests.support.jvm import classpath, run_java

SLF4J = "org.slf4j:slf4j-nop:1.7.36"
TOOLS = {
    # message format → the Kafka version whose tool reads it. 0.10.2's needs a class that Java no longer has.
    "0.10.2": ("org.apache.kafka:kafka_2.11:0.10.2.2", "javax.xml.bind:jaxb-api:2.3.1"),
    "3.0": ("org.apache.kafka:kafka_2.13:3.9.1", SLF4J),
}
COMPLAINTS = ("mismatch", "non-consecutive", "corrupt", "not found", "error", "exception", "invalid", "isvalid: false")


def segment_files(directory: Path) -> list[Path]:
    """Every ``.log`` of a partition, each followed by its two indexes."""
    return [
        file.with_suffix(kind) for file in sorted(directory.glob("*.log")) for kind in (".log", ".index", ".timeindex")
    ]


def dump_log_segments(files: Sequence[Path], message_format: str, *options: str, holes: bool = False) -> str:
    """Run the tool on some files; returns its output. Any error that it reports fails the test.

    ``holes``: the log has been compacted, so offsets may be missing.
    """
    done = run_java(
        "kafka.tools.DumpLogSegments", "--files", ",".join(map(str, files)), *options,
        classpath=classpath(*TOOLS[message_format]),
    )  # fmt: skip
    words = [word for word in COMPLAINTS if not (holes and word == "non-consecutive")]
    complaint = re.compile("|".join(words), re.IGNORECASE)
    # Line by line: there may be hundreds of thousands.
    assert [line for line in (done.stdout + done.stderr).splitlines() if complaint.search(line)] == []
    return done.stdout
