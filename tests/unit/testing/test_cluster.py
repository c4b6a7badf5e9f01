"""A broker inside a test: its life cycle, its topics and records, its clock; it leaves nothing behind."""

import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import kafka_lite.testing
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.common.time import MockTime
from kafka_lite.network.blocking_channel import BlockingChannel
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_01_fetch import FetchPartition, FetchRequest, FetchTopic
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.record.memory_records_builder import MemoryRecordsBuilder
from kafka_lite.testing.cluster import Cluster
from kafka_lite.testing.shifted_time import ShiftedTime
from tests.support.eventually import eventually
from tests.support.patience import patient_s

HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def cluster():
    with Cluster({"log.retention.ms": -1}) as running:  # some records have timestamps of 1970
        yield running


def open_files():
    return len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0


# ── life cycle ────────────────────────────────────────────────────────────────────────────────────────────────────


SECOND_START = """
import time
from kafka_lite.testing.cluster import Cluster
with Cluster():
    pass  # what is compiled at first use is not counted: a session pays that once
began = time.process_time()
with Cluster():
    print(time.process_time() - began)
"""


def test_it_starts_in_half_a_second():
    # In a process of its own: garbage collection over the objects of all earlier tests would be measured, too.
    said = subprocess.run(
        [sys.executable, "-c", SECOND_START], capture_output=True, text=True, timeout=patient_s(60), check=True
    )
    assert float(said.stdout) < 0.5


FORGOTTEN = """
from kafka_lite.testing import Cluster
cluster = Cluster().start()
cluster.produce("t", "v")
print(cluster.data_dir)
"""


def test_a_script_that_forgets_to_stop_its_cluster_ends_and_leaves_no_folder():
    said = subprocess.run(
        [sys.executable, "-c", FORGOTTEN], capture_output=True, text=True, timeout=patient_s(60), check=True
    )
    assert said.stderr == ""
    assert not Path(said.stdout.strip()).exists()


def test_nothing_is_left_after_stop():
    with Cluster() as first:
        first.produce("t", "v")
    del first
    gc.collect()
    threads, files = set(threading.enumerate()), open_files()
    with Cluster() as cluster:
        cluster.produce("t", "v")
        cluster.inject("Fetch").delay(5).always()
        cluster.time.advance(hours=1)
        directory = cluster.data_dir
        assert directory.exists()
        cluster.restart()
    assert not directory.exists()
    assert set(threading.enumerate()) <= threads
    gc.collect()  # log files close with the last reference to them, and the parts of a broker refer to each other
    assert open_files() <= files


def test_a_directory_of_the_caller_is_kept(tmp_path):
    with Cluster(data_dir=tmp_path) as cluster:
        cluster.produce("t", "v")
    with Cluster(data_dir=tmp_path) as cluster:
        assert cluster.values("t") == [b"v"]


def test_a_restart_keeps_port_data_and_clock():
    with Cluster() as cluster:
        cluster.produce("t", "before")
        cluster.time.advance(hours=1)
        before = cluster.bootstrap_servers, cluster.data_dir, cluster.server
        cluster.restart()
        assert (cluster.bootstrap_servers, cluster.data_dir) == before[:2]
        assert cluster.server is not before[2]
        cluster.produce("t", "after")
        assert cluster.values("t") == [b"before", b"after"]
        assert cluster.records("t")[1].timestamp_ms - cluster.records("t")[0].timestamp_ms >= HOUR_MS


def test_a_broker_can_be_stopped_for_a_while():
    with Cluster() as cluster:
        cluster.produce("t", "v")
        cluster.stop_broker()
        host, port = cluster.bootstrap_servers.split(":")
        with pytest.raises(ConnectionError):
            BlockingChannel(host, int(port)).connect()
        with pytest.raises(RuntimeError, match="is not running"):
            cluster.values("t")
        with pytest.raises(RuntimeError, match="is not running"):
            cluster.restart()
        cluster.start_broker()
        assert cluster.values("t") == [b"v"]


def test_use_before_start_and_start_after_start_raise():
    cluster = Cluster()
    for attribute in ("server", "data_dir", "bootstrap_servers", "topics"):
        with pytest.raises(RuntimeError, match=r"start it|start to stop"):
            getattr(cluster, attribute)
    with cluster, pytest.raises(RuntimeError, match="already running"):
        cluster.start()
    cluster.stop()


def test_a_failed_start_leaves_nothing_behind(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    threads = set(threading.enumerate())
    with pytest.raises(Exception, match=r"no\.such\.host"):
        Cluster({"listeners": "PLAINTEXT://no.such.host.invalid:0"}).start()
    assert list(tmp_path.iterdir()) == []
    assert set(threading.enumerate()) <= threads


def test_a_cluster_without_brokers_is_rejected():
    with pytest.raises(ValueError, match="brokers=0"):
        Cluster(brokers=0)


def test_a_key_that_no_broker_has_is_warned_about():
    with pytest.warns(UserWarning, match=r"'num\.partition' is no key .* Did you mean 'num\.partitions'\?") as warned:
        Cluster({"num.partition": 3}, broker_overrides={0: {"num.partition": 4}})
    assert len(warned) == 1
    assert warned[0].filename == __file__


def test_config_values_may_be_python_objects():
    with Cluster({"auto.create.topics.enable": False, "num.partitions": 2}) as cluster:
        assert not cluster.server.config.auto_create_topics_enable
        with pytest.raises(ApiError) as raised:
            cluster.produce("t", "v")
        assert raised.value.error is Errors.UNKNOWN_TOPIC_OR_PARTITION


# ── topics and records ────────────────────────────────────────────────────────────────────────────────────────────


def test_topics_are_created_and_deleted(cluster):
    cluster.create_topic("orders", partitions=3, configs={"retention.ms": 1000, "cleanup.policy": "compact"})
    assert cluster.topics["orders"] == 3
    with pytest.raises(ApiError) as raised:
        cluster.create_topic("orders")
    assert raised.value.error is Errors.TOPIC_ALREADY_EXISTS
    cluster.delete_topic("orders")
    assert "orders" not in cluster.topics
    with pytest.raises(ApiError, match="topic orders"):
        cluster.delete_topic("orders")


def test_records_are_read_as_they_were_written(cluster):
    cluster.create_topic("records", partitions=2)
    assert cluster.produce("records", "a", b"b", None, key="k", headers=[("h", b"1")], timestamp_ms=77) == 0
    assert cluster.produce("records", "c", partition=1) == 0
    assert cluster.produce("records", "d", partition=1) == 1
    first, _, tombstone, *_ = cluster.records("records")
    assert (first.partition, first.offset, first.timestamp_ms, first.key, first.value) == (0, 0, 77, b"k", b"a")
    assert [(header.key, header.value) for header in first.headers] == [("h", b"1")]
    assert tombstone.value is None
    cluster.produce("records", "e", partition=1, headers={"id": "7", "none": None})
    assert cluster.records("records", 1)[-1].headers == (("id", b"7"), ("none", None))
    assert cluster.values("records") == [b"a", b"b", None, b"c", b"d", b"e"]
    assert cluster.values("records", partition=1) == [b"c", b"d", b"e"]


def test_records_reads_more_than_one_fetch_returns(cluster, monkeypatch):
    monkeypatch.setattr("kafka_lite.testing.cluster_client.FETCH_BYTES", 2000)
    for number in range(20):
        cluster.produce("many", *[f"{number}-{i}" * 10 for i in range(10)])
    assert len(cluster.values("many")) == 200


def test_a_topic_is_created_for_the_first_record(cluster):
    cluster.produce("made", "v", partition=4)
    assert cluster.topics["made"] == 5


def test_wait_for_records(cluster):
    thread = threading.Timer(0.02, cluster.produce, ("awaited", "a", "b"))
    thread.start()
    assert [record.value for record in cluster.wait_for_records("awaited", 2)] == [b"a", b"b"]
    thread.join()
    with pytest.raises(TimeoutError, match="awaited has 2 of 3 records"):
        cluster.wait_for_records("awaited", 3, timeout_s=0.02)


def test_errors_of_topics_are_raised(cluster):
    with pytest.raises(ApiError, match="nowhere"):
        cluster.records("nowhere")
    with pytest.raises(ApiError):
        cluster.create_topic("bad name")


# ── time ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_retention_deletes_before_advance_returns():
    with Cluster() as cluster:
        cluster.create_topic("short", configs={"retention.ms": HOUR_MS})
        cluster.produce("short", "old")
        cluster.time.advance(minutes=30)
        cluster.produce("short", "newer")
        assert cluster.values("short") == [b"old", b"newer"]
        cluster.time.advance(hours=2)
        assert cluster.values("short") == []
        assert cluster.produce("short", "next") == 2


def test_producer_ids_expire():
    with Cluster({"transactional.id.expiration.ms": HOUR_MS, "producer.id.expiration.ms": HOUR_MS}) as cluster:
        cluster.create_topic("t")
        host, port = cluster.bootstrap_servers.split(":")
        builder = MemoryRecordsBuilder(producer_id=5, producer_epoch=0, base_sequence=0)
        builder.append(cluster.time.milliseconds(), None, b"v")
        data = [PartitionProduceData(index=0, records=builder.build())]
        with BlockingChannel(host, int(port)) as channel:
            channel.exchange(ProduceRequest(acks=1, topic_data=[TopicProduceData(name="t", partition_data=data)]), 7)
        (log,) = cluster.server.log_manager.all_logs()
        assert list(log.producer_state.active_producers) == [5]
        cluster.time.advance(hours=2)
        assert list(log.producer_state.active_producers) == []


def test_log_append_time_follows_the_clock():
    with Cluster() as cluster:
        cluster.create_topic("stamped", configs={"message.timestamp.type": "LogAppendTime"})
        cluster.produce("stamped", "a", timestamp_ms=1)
        cluster.time.advance(days=1)
        cluster.produce("stamped", "b", timestamp_ms=1)
        first, second = (record.timestamp_ms for record in cluster.records("stamped"))
        assert abs(first - time.time() * 1000) < 60_000
        assert 24 * HOUR_MS <= second - first < 24 * HOUR_MS + 60_000


def test_a_jump_completes_a_waiting_fetch():
    with Cluster() as cluster:
        cluster.create_topic("empty")
        host, port = cluster.bootstrap_servers.split(":")
        asked = [FetchTopic(topic="empty", partitions=[FetchPartition(partition=0, partition_max_bytes=100)])]
        with BlockingChannel(host, int(port), client_id="test", read_timeout_ms=60_000) as channel:
            channel.send(FetchRequest(max_wait_ms=HOUR_MS, min_bytes=1, max_bytes=1000, topics=asked), 11)
            cluster.requests.wait_for("Fetch")
            eventually(lambda: cluster.server.replica_manager.delayed_fetch_purgatory.delayed)
            cluster.time.advance(hours=1)
            assert not channel.receive().responses[0].partitions[0].records


def test_idle_connections_are_closed_on_request():
    with Cluster({"connections.max.idle.ms": HOUR_MS}) as cluster:
        host, port = cluster.bootstrap_servers.split(":")
        with BlockingChannel(host, int(port), read_timeout_ms=60_000) as channel:
            channel.exchange(ApiVersionsRequest(), 0)
            cluster.time.advance(hours=1, seconds=1)
            eventually(lambda: not cluster.server.socket_server.connection_count(host))
            with pytest.raises(ConnectionError):
                channel.exchange(ApiVersionsRequest(), 0)


def test_a_jump_does_not_expire_the_brokers_session():
    with Cluster({"zookeeper.session.timeout.ms": 4000}) as cluster:
        session = cluster.server.zk_client.zookeeper.session_id
        cluster.time.advance(days=30)
        cluster.create_topic("still-there")
        assert cluster.server.zk_client.zookeeper.session_id == session


def test_two_clusters_can_share_a_clock():
    clock = ShiftedTime()
    with Cluster(time=clock) as one, Cluster(time=clock) as other:
        clock.advance(hours=1)
        assert one.time is other.time
        assert one.server.time.milliseconds() - time.time() * 1000 > HOUR_MS - 60_000


def test_a_mock_clock_is_rejected():
    with pytest.raises(TypeError, match="a clock that runs by itself"):
        Cluster(time=MockTime())


# ── the package ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_package_exports_what_tests_need():
    for name in kafka_lite.testing.__all__:
        assert getattr(kafka_lite.testing, name).__name__ == name
    with pytest.raises(AttributeError, match="no_such"):
        kafka_lite.testing.no_such  # noqa: B018


def test_the_pytest_plugin_imports_nothing_of_the_broker():
    code = (
        "import sys, pytest; before = set(sys.modules); import kafka_lite.testing.pytest_plugin; "
        "print(sorted(name for name in set(sys.modules) - before if not name.startswith('kafka_lite.testing')))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['kafka_lite']"


def test_a_value_that_is_no_text_and_no_bytes_is_refused():
    with Cluster() as cluster, pytest.raises(TypeError, match="keys and values are bytes, str or None, not 3"):
        cluster.produce("orders", 3)


@pytest.mark.parametrize("header", ["id", ("id",), (b"id", b"7"), ("id", 7)])
def test_a_header_that_is_no_name_and_value_is_refused(cluster, header):
    with pytest.raises(TypeError, match=r"a header must be a name and a value|keys and values are bytes"):
        cluster.produce("orders", "one", headers=[header])
