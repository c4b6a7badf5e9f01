"""Trials of Connect. ``python -m kafka_learn.labs.own.connect_trials TRIAL BOOTSTRAP_SERVERS FOLDER`` runs one of them
in a process that has a learner's modules, and prints what it has found.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any, cast

from kafka_learn.labs.own.trial_program import LIMIT_S, create_topics, main_of
from kafka_lite.testing.any_cluster import AnyCluster
from kafka_lite.testing.connect.connect_cluster import ConnectCluster

LINES = 1_000
POLL_S = 0.05
STRING = "org.apache.kafka.connect.storage.StringConverter"
TRANSFORMS = "org.apache.kafka.connect.transforms"
FILE_SOURCE = {"connector.class": "FileStreamSource", "value.converter": STRING, "key.converter": STRING}
FILE_SINK = {"connector.class": "FileStreamSink", "value.converter": STRING, "key.converter": STRING}


class _RunningBroker:
    """A broker that somebody else has started."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers


def workers_of(bootstrap_servers: str, count: int) -> ConnectCluster:
    """Workers in this process."""
    return ConnectCluster(cast(AnyCluster[Any], _RunningBroker(bootstrap_servers)), workers=count)


def copy_a_file(bootstrap_servers: str, folder: Path) -> str:
    """A file into a topic, the topic into a file; then more lines, with the source stopped in between."""
    folder.mkdir(parents=True)
    source, target = folder / "in.txt", folder / "out.txt"
    append(source, 0, LINES)
    create_topics(bootstrap_servers, 1, "copied")
    with workers_of(bootstrap_servers, 1) as connect:
        connect.put_connector("in", {**FILE_SOURCE, "file": str(source), "topic": "copied"})
        connect.put_connector("out", {**FILE_SINK, "file": str(target), "topics": "copied"})
        await_lines(target, LINES)
        connect.pause_connector("in")
        connect.await_state("in", "PAUSED", tasks=1)
        append(source, LINES, LINES)
        connect.resume_connector("in")
        await_lines(target, 2 * LINES)
    found = target.read_text().splitlines()
    assert found == [f"line {number}" for number in range(2 * LINES)], "the lines are not those of the file, in order"
    return f"{2 * LINES:,} lines, in order, over a pause"


def lose_a_worker(bootstrap_servers: str, folder: Path) -> str:
    """One of two workers is killed: the other has its tasks, and no line is lost."""
    folder.mkdir(parents=True)
    source, target = folder / "in.txt", folder / "out.txt"
    append(source, 0, LINES)
    create_topics(bootstrap_servers, 1, "kept")
    with workers_of(bootstrap_servers, 2) as connect:
        connect.put_connector("in", {**FILE_SOURCE, "file": str(source), "topic": "kept"})
        connect.put_connector("out", {**FILE_SINK, "file": str(target), "topics": "kept"})
        await_lines(target, LINES)
        connect.workers[0].kill()
        append(source, LINES, LINES)
        await_lines(target, 2 * LINES)
    counted = Counter(target.read_text().splitlines())
    return f"{len(counted):,} lines, {counted.total() - len(counted)} of them twice, after the death of a worker"


def transform(bootstrap_servers: str, folder: Path) -> str:
    """Records lose a field, get a key of another one, and go to a topic of another name."""
    folder.mkdir(parents=True)
    target = folder / "out.txt"
    transforms = {
        "transforms": "drop,key,route",
        "transforms.drop.type": f"{TRANSFORMS}.ReplaceField$Value",
        "transforms.drop.blacklist": "secret",
        "transforms.key.type": f"{TRANSFORMS}.ValueToKey",
        "transforms.key.fields": "id",
        "transforms.route.type": f"{TRANSFORMS}.RegexRouter",
        "transforms.route.regex": "raw-(.*)",
        "transforms.route.replacement": "clean-$1",
    }
    source = folder / "in.txt"
    source.write_text("".join(f'{{"id":{number},"secret":"s"}}\n' for number in range(LINES)))
    create_topics(bootstrap_servers, 1, "raw-rows")
    json_data = {"value.converter": "org.apache.kafka.connect.json.JsonConverter",
                 "value.converter.schemas.enable": "false"}  # fmt: skip
    with workers_of(bootstrap_servers, 1) as connect:
        connect.put_connector("in", {**FILE_SOURCE, "file": str(source), "topic": "raw-rows"})
        sink = {"connector.class": "FileStreamSink", "key.converter": STRING, **json_data, **transforms}
        connect.put_connector("out", {**sink, "file": str(target), "topics": "raw-rows"})
        await_lines(target, LINES)
    wanted = {f"{{id={number}}}" for number in range(LINES)}
    found = set(target.read_text().splitlines())
    assert found == wanted, f"a row must be {min(wanted)}, and there is {min(found - wanted, default='none of some')}"
    return f"{LINES:,} rows through three transformations"


TRIALS = {"copy_a_file": copy_a_file, "lose_a_worker": lose_a_worker, "transform": transform}


def append(file: Path, first: int, count: int) -> None:
    """Append numbered lines."""
    with file.open("a", encoding="utf-8") as output:
        output.writelines(f"line {number}\n" for number in range(first, first + count))


def await_lines(file: Path, count: int) -> None:
    """Wait until a file has so many different lines. Raises AssertionError."""
    deadline = time.monotonic() + LIMIT_S
    found: set[str] = set()
    while time.monotonic() < deadline:
        found = set(file.read_text(encoding="utf-8").splitlines()) if file.exists() else set()
        if len(found) >= count:
            return
        time.sleep(POLL_S)
    raise AssertionError(f"{len(found):,} of {count:,} lines came within {LIMIT_S:g} s")


if __name__ == "__main__":
    raise SystemExit(main_of(TRIALS))
