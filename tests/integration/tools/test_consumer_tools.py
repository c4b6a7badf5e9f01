"""consumer-perf-test and verifiable-consumer as processes: their lines and exit codes."""

import json
import signal
import subprocess
import sys

import pytest
from confluent_kafka import Producer

from kafka_lite.testing.cluster import Cluster
from tests.support.patience import patient_s

COUNT = 3000


@pytest.fixture(scope="module")
def cluster():
    with Cluster() as cluster:
        cluster.create_topic("flights", partitions=2)
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
        for number in range(COUNT):
            producer.produce("flights", f"{number:>100}", partition=number % 2)
        assert producer.flush(patient_s(30)) == 0
        yield cluster


def command(*arguments):
    return [sys.executable, "-m", "kafka_lite.tools.main", *arguments]


def run(*arguments):
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=patient_s(120), check=False)


def events_of(text):
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("consumer", ["new", "old"])
def test_consumer_perf_test_prints_its_figures(cluster, consumer):
    where = ["--bootstrap-server", cluster.bootstrap_servers]
    if consumer == "old":
        where = ["--zookeeper", cluster.zookeeper_connect, "--threads", "2"]
    done = run("consumer-perf-test", *where, "--topic", "flights", "--messages", str(COUNT))
    assert (done.returncode, done.stderr) == (0, "")
    columns, figures = (line.split(", ") for line in done.stdout.splitlines())
    named = dict(zip(columns, figures, strict=True))
    assert int(named["data.consumed.in.nMsg"]) == COUNT
    assert float(named["data.consumed.in.MB"]) == pytest.approx(COUNT * 100 / 2**20, abs=1e-4)
    assert ("rebalance.time.ms" in named) == (consumer == "new")


def test_consumer_perf_test_warns_of_too_few_records(cluster):
    done = run(
        "consumer-perf-test", "--bootstrap-server", cluster.bootstrap_servers, "--topic", "flights",
        "--messages", str(2 * COUNT), "--timeout", "3000", "--hide-header", "--print-metrics",
    )  # fmt: skip
    assert done.returncode == 1
    assert f"{COUNT} of {2 * COUNT} arrived, then none for 3000 ms" in done.stderr
    assert "consumer-fetch-manager-metrics:records-consumed-rate:{client-id=perf-consumer-client}" in done.stdout


def test_a_verifiable_consumer_reads_the_given_number_of_records(cluster):
    done = run(
        "verifiable-consumer", "--bootstrap-server", cluster.bootstrap_servers, "--topic", "flights",
        "--group-id", "so-many", "--max-messages", "700", "--verbose",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    events = events_of(done.stdout)
    names = [event["name"] for event in events]
    assert names[0] == "startup_complete"
    assert names[-1] == "shutdown_complete"
    assert names.count("record_data") == 700
    both = [{"topic": "flights", "partition": number} for number in (0, 1)]
    assert next(event["partitions"] for event in events if event["name"] == "partitions_assigned") == both
    consumed = [each for event in events if event["name"] == "records_consumed" for each in event["partitions"]]
    assert sum(each["count"] for each in consumed) == 700
    last = {each["partition"]: each["maxOffset"] + 1 for each in consumed}
    commits = [event for event in events if event["name"] == "offsets_committed"]
    assert all(event["success"] for event in commits)
    assert {each["partition"]: each["offset"] for event in commits for each in event["offsets"]} == last


def test_a_verifiable_consumer_stops_on_a_signal(cluster):
    arguments = ["--bootstrap-server", cluster.bootstrap_servers, "--topic", "flights", "--group-id", "stopped"]
    with subprocess.Popen(command("verifiable-consumer", *arguments), stdout=subprocess.PIPE, text=True) as process:
        events, consumed = [], 0
        for line in process.stdout:
            events.append(json.loads(line))
            consumed += events[-1].get("count", 0)
            if consumed == COUNT:
                process.send_signal(signal.SIGTERM)
                break
        events += events_of(process.stdout.read())
        assert process.wait(patient_s(60)) == 0
    assert events[-1]["name"] == "shutdown_complete"
    assert "partitions_revoked" in [event["name"] for event in events]
    committed = {p["partition"]: p["offset"] for e in events if e["name"] == "offsets_committed" for p in e["offsets"]}
    assert committed == {0: COUNT // 2, 1: COUNT // 2}


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_console_consumer_that_is_stopped_leaves_its_group(cluster, number, code):
    where = ["--bootstrap-server", cluster.bootstrap_servers]
    arguments = [*where, "--topic", "flights", "--from-beginning", "--group", f"console-{code}"]
    process = subprocess.Popen(
        command("console-consumer", *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for _ in range(COUNT):
        assert process.stdout.readline()
    process.send_signal(number)
    _, error = process.communicate(timeout=patient_s(60))
    assert (process.returncode, error) == (code, f"Processed a total of {COUNT} messages\n")
    described = run("consumer-groups", *where, "--describe", "--group", f"console-{code}")
    assert "has no active members" in described.stderr
    assert sum(int(line.split()[3]) for line in described.stdout.splitlines()[1:]) == COUNT
