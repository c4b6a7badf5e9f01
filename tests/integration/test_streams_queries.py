"""Two instances of the example ``interactive_queries``: each answers for all words, by a redirect if it has to."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from examples.interactive_queries.query_server import QueryServer
from examples.word_count.topology import TEXT, WORD_COUNTS, five_lines
from kafka_lite.server.broker_process import free_port
from kafka_lite.streams.kafka_streams import KafkaStreams
from kafka_lite.testing.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.patience import patient_s

LINE = "to be or not to be that is the question"
COUNTS = {word: LINE.split().count(word) for word in LINE.split()}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster({"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}) as running:
        running.create_topic(TEXT, 2)
        running.create_topic(WORD_COUNTS, 2)
        yield running


def asked(port: int, *path: str) -> tuple[int, Any]:
    """Status and body; redirects are followed."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{'/'.join(path)}", timeout=patient_s(30)) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_each_instance_answers_for_every_key(cluster: Cluster, tmp_path: Path) -> None:
    cluster.produce(TEXT, LINE)
    ports = [free_port(), free_port()]
    with ExitStack() as stack:
        for port in ports:
            configs = {
                "application.id": "word-count",
                "application.server": f"127.0.0.1:{port}",
                "bootstrap.servers": cluster.bootstrap_servers,
                "state.dir": str(tmp_path / str(port)),
                "commit.interval.ms": 100,
                "internal.leave.group.on.close": True,
            }
            streams = stack.enter_context(KafkaStreams(five_lines(), configs))
            stack.enter_context(QueryServer(streams, "127.0.0.1", port))
            streams.start()

        def both_know_both() -> bool:
            instances = [asked(port, "instances") for port in ports]
            return all(
                status == 200 and [each["port"] for each in found] == sorted(ports) for status, found in instances
            )

        def all_counts() -> dict[str, int]:
            parts = [asked(port, "Counts") for port in ports]
            return {word: count for status, part in parts if status == 200 for word, count in part.items()}

        eventually(both_know_both)

        def each_answers_for_every_word() -> bool:
            return all(
                asked(port, "Counts", word) == (200, {"key": word, "value": count})
                for port in ports
                for word, count in COUNTS.items()
            )

        eventually(each_answers_for_every_word)
        eventually(lambda: all_counts() == COUNTS, "the parts of the instances are the whole")
        eventually(lambda: asked(ports[0], "Counts", "absent")[0] == 404)
        assert asked(ports[0], "Sums", "to")[0] == 404
        assert asked(ports[0], "Sums")[0] == 503
