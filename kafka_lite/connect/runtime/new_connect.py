"""Makes a worker with all that belongs to it from its properties.

Kafka 0.10.2: connect/runtime/.../connect/cli/ConnectStandalone.java, ConnectDistributed.java (main) · book 8.3.3
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from kafka_lite.common.errors import KafkaError
from kafka_lite.common.time import SYSTEM_TIME, Time
from kafka_lite.connect.api.errors import ConnectError
from kafka_lite.connect.runtime.connect import Connect
from kafka_lite.connect.runtime.connect_clients import ConnectClients
from kafka_lite.connect.runtime.distributed.distributed_config import DistributedConfig
from kafka_lite.connect.runtime.distributed.distributed_herder import DistributedHerder
from kafka_lite.connect.runtime.distributed.worker_group_member import WorkerGroupMember
from kafka_lite.connect.runtime.distributed.worker_rebalance_listener import WorkerRebalanceListener
from kafka_lite.connect.runtime.plugin_discovery import add_plugin_path
from kafka_lite.connect.runtime.rest.rest_server import RestServer
from kafka_lite.connect.runtime.standalone.standalone_config import StandaloneConfig
from kafka_lite.connect.runtime.standalone.standalone_herder import StandaloneHerder
from kafka_lite.connect.runtime.storage.file_offset_backing_store import FileOffsetBackingStore
from kafka_lite.connect.runtime.storage.kafka_based_log import KafkaBasedLog
from kafka_lite.connect.runtime.storage.kafka_config_backing_store import KafkaConfigBackingStore
from kafka_lite.connect.runtime.storage.kafka_offset_backing_store import KafkaOffsetBackingStore, NewLog
from kafka_lite.connect.runtime.storage.kafka_status_backing_store import KafkaStatusBackingStore
from kafka_lite.connect.runtime.worker import Worker
from kafka_lite.connect.runtime.worker_config import METRICS_HTTP_OFF, PLUGIN_PATH, WorkerConfig
from kafka_lite.metrics.metrics_http_server import MetricsHttpServer
from kafka_lite.security.ssl.https_sockets import HttpsSockets


def new_standalone_connect(props: Mapping[str, str]) -> Connect:
    """A worker by itself. Raises ConfigError, ConnectError."""
    add_plugin_path(props.get(PLUGIN_PATH, ""))  # first: the worker's keys may name classes, too
    config = StandaloneConfig(props)
    rest = RestServer(config)
    with _released_on_error(rest.stop):
        worker = Worker(rest.worker_id, config, FileOffsetBackingStore(config["offset.storage.file.filename"]))
        server = _metrics_server(config, worker)
    return Connect(StandaloneHerder(worker), rest, server)


def new_distributed_connect(
    props: Mapping[str, str], *, clients: ConnectClients | None = None, time: Time = SYSTEM_TIME
) -> Connect:
    """A worker of a group. Raises ConfigError, ConnectError. Nothing is asked of a broker before it is started."""
    add_plugin_path(props.get(PLUGIN_PATH, ""))
    config = DistributedConfig(props)
    clients = clients or ConnectClients(time)
    rest = RestServer(config)
    with _released_on_error(rest.stop):
        herder, worker = _new_distributed_herder(config, rest, clients, time)
        with _released_on_error(herder.stop):
            server = _metrics_server(config, worker)
    return Connect(herder, rest, server)


def _metrics_server(config: WorkerConfig, worker: Worker) -> MetricsHttpServer | None:
    """Raises ConnectError if the port is taken, or its TLS is not complete."""
    if config["metrics.http.port"] == METRICS_HTTP_OFF:
        return None
    try:
        is_secure = config["metrics.http.security.protocol"] == "SSL"
        secure = HttpsSockets(config.originals, "metrics.http.").wrap if is_secure else None
        return MetricsHttpServer(worker.metrics.beans, config["metrics.http.host"], config["metrics.http.port"], secure)
    except KafkaError as error:
        raise ConnectError(str(error)) from error


def _new_distributed_herder(
    config: DistributedConfig, rest: RestServer, clients: ConnectClients, time: Time
) -> tuple[DistributedHerder, Worker]:
    def log(kind: str, producer: Mapping[str, object]) -> NewLog:
        topic = config.internal_topic(kind)
        return lambda consumed: KafkaBasedLog(
            topic.name, producer, config.internal_consumer(), consumed, clients=clients, time=time,
            prepare=lambda: topic.create_or_check(clients.topic_admin(config.internal_admin())),
        )  # fmt: skip

    producer = config.internal_producer()
    offsets = KafkaOffsetBackingStore(log("offset", producer))
    worker = Worker(rest.worker_id, config, offsets, clients=clients, time=time)
    converter = worker.internal_value_converter
    configs = KafkaConfigBackingStore(config["config.storage.topic"], converter, log("config", producer))
    # The status store repeats a write itself, unless a newer status has been written.
    statuses = KafkaStatusBackingStore(
        config["status.storage.topic"], converter, log("status", config.internal_producer(retries=0))
    )

    def new_member(listener: WorkerRebalanceListener) -> WorkerGroupMember:
        member = WorkerGroupMember(config, rest.advertised_url, configs, listener, time=time)
        worker.metrics.beans.add_source(member.beans)
        return member

    return DistributedHerder(config, worker, statuses, configs, new_member, time=time), worker


@contextmanager
def _released_on_error(release: Callable[[], None]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        release()
        raise
