"""Apache's own Java clients: admin, producer with every codec, consumer by assignment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

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
def test_java_client(cluster: Cluster, version: str) -> None:
    jars = classpath(f"org.apache.kafka:kafka-clients:{version}", SLF4J)
    classes = compile_java(Path(__file__).with_name("JavaClient.java"), jars)
    done = run_java("JavaClient", cluster.bootstrap_servers, f"java-{version}", classpath=[classes, *jars])
    assert done.stdout.splitlines()[-1] == "OK", done.stdout + done.stderr


@pytest.mark.jvm
def test_the_room_of_an_answer_ends_within_a_batch(cluster: Cluster) -> None:
    """Java's consumer throws at an answer that has nothing but a part of a batch for a partition."""
    jars = classpath("org.apache.kafka:kafka-clients:3.9.1", SLF4J)
    classes = compile_java(Path(__file__).with_name("JavaSmallFetches.java"), jars)
    done = run_java("JavaSmallFetches", cluster.bootstrap_servers, "small-fetches", classpath=[classes, *jars])
    assert done.stdout.splitlines()[-1] == "OK", done.stdout + done.stderr
