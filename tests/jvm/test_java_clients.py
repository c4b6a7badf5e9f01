"""Apache's own Java clients: admin, producer with every codec, consumer by assignment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_lite.testing.cluster import Cluster
from tests.support.jvm import classpath, compile_java, run_java

SLF4J = "org.slf4j:slf4j-nop:1.7.36"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster() as running:
        yield running


@pytest.mark.jvm
@pytest.mark.parametrize("version", ["3.9.1", "4.1.0"])
def test_java_client_works_with_our_broker(cluster: Cluster, version: str) -> None:
    jars = classpath(f"org.apache.kafka:kafka-clients:{version}", SLF4J)
    classes = compile_java(Path(__file__).with_name("JavaClient.java"), jars)
    done = run_java("JavaClient", cluster.bootstrap_servers, f"java-{version}", classpath=[classes, *jars])
    assert done.stdout.splitlines()[-1] == "OK", done.stdout + done.stderr
    fetches: list[Any] = [seen.body for seen in cluster.requests.of("Fetch")]
    assert any(body.session_id and body.session_epoch > 0 for body in fetches), "it has fetch sessions"


@pytest.mark.jvm
def test_no_fetch_response_consists_of_part_of_a_batch_only(cluster: Cluster) -> None:
    """Java's consumer raises if a response has only part of a batch for a partition."""
    jars = classpath("org.apache.kafka:kafka-clients:3.9.1", SLF4J)
    classes = compile_java(Path(__file__).with_name("JavaSmallFetches.java"), jars)
    done = run_java("JavaSmallFetches", cluster.bootstrap_servers, "small-fetches", classpath=[classes, *jars])
    assert done.stdout.splitlines()[-1] == "OK", done.stdout + done.stderr


@pytest.mark.jvm
@pytest.mark.parametrize("version", ["3.9.1", "4.1.0"])
def test_javas_transactional_producer_works_with_our_broker(cluster: Cluster, version: str) -> None:
    jars = classpath(f"org.apache.kafka:kafka-clients:{version}", SLF4J)
    classes = compile_java(Path(__file__).with_name("JavaTransactions.java"), jars)
    topic, source = f"transactions-{version}", f"source-{version}"
    cluster.create_topic(topic, partitions=3)
    cluster.create_topic(source)
    cluster.requests.clear()
    done = run_java("JavaTransactions", cluster.bootstrap_servers, topic, source, classpath=[classes, *jars])
    assert done.stdout.splitlines()[-1] == "OK", done.stdout + done.stderr
    bumps = version == "4.1.0"  # its producer uses the second version of transactions
    assert {seen.version for seen in cluster.requests.of("EndTxn")} == ({5} if bumps else {4})
    assert bool(cluster.requests.of("AddPartitionsToTxn")) is not bumps
    assert bool(cluster.requests.of("AddOffsetsToTxn")) is not bumps
