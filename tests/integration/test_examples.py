"""The applications of ``examples`` run beside a broker, as their pages say."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from examples.kafka_examples.topologies import FILE_INPUT, PIPE_OUTPUT
from examples.word_count.test_topology import test_each_word_gets_its_new_count as test_each_word_gets_its_new_count
from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s

ROOT = Path(__file__).parents[2]


def counted(cluster: Cluster, tmp_path: Path, text: str) -> list[str]:
    command = [sys.executable, "-m", "examples.word_count", "--bootstrap-server", cluster.bootstrap_servers]
    command += ["--state-dir", str(tmp_path)]
    done = subprocess.run(
        command, input=text, cwd=ROOT, capture_output=True, text=True, timeout=patient_s(100), check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_word_count_goes_on_from_its_last_run(tmp_path: Path) -> None:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as cluster:
        assert counted(cluster, tmp_path, "to be or not to be\n") == ["to 1", "be 1", "or 1", "not 1", "to 2", "be 2"]
        assert counted(cluster, tmp_path, "to be\n") == ["to 3", "be 3"]


def start(example: str, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", *f"examples.{example}".split(), *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT, text=True)


def refusal(started: subprocess.Popen[str]) -> str:
    with started:
        try:
            _, err = started.communicate("to be\n", timeout=patient_s(100))
        except BaseException:
            started.kill()
            raise
    assert started.returncode == 1
    assert "Traceback" not in err
    return err


@pytest.mark.soak
def test_without_a_broker_each_example_says_so() -> None:
    """All at once, for each of them waits for ten seconds."""
    with socket.socket() as bound:  # and not listening
        bound.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{bound.getsockname()[1]}"
        examples = ("word_count", "interactive_queries", "kafka_examples pipe")
        started = {example: start(example, "--bootstrap-server", address) for example in examples}
        said = {example: refusal(process) for example, process in started.items()}
    assert [example for example in examples if f"Is a broker running at {address}?" not in said[example]] == []


def test_an_example_says_that_its_port_is_in_use(tmp_path: Path) -> None:
    with Cluster() as cluster:
        port = cluster.bootstrap_servers.rpartition(":")[2]
        where = ["--bootstrap-server", cluster.bootstrap_servers, "--state-dir", str(tmp_path)]
        assert f"Cannot listen on port {port}: Address already in use" in refusal(
            start("interactive_queries", "--port", port, *where)
        )


def test_kafka_s_examples_run_until_ctrl_c(tmp_path: Path) -> None:
    with Cluster({"group.initial.rebalance.delay.ms": 0}) as cluster:
        command = [sys.executable, "-m", "examples.kafka_examples", "pipe", "--state-dir", str(tmp_path)]
        command += ["--bootstrap-server", cluster.bootstrap_servers]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == f"{FILE_INPUT} → {PIPE_OUTPUT}\n"
            cluster.produce(FILE_INPUT, "a line")
            cluster.wait_for_records(PIPE_OUTPUT, 1, timeout_s=100)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=patient_s(100))
        assert (process.returncode, err) == (0, "")
        assert cluster.values(PIPE_OUTPUT) == [b"a line"]
