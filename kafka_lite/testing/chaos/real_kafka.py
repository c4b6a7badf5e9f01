"""Apache Kafka's own brokers, with ZooKeeper, beside ours in a run.

Kafka 0.10.2: tests/kafkatest/services/kafka/kafka.py, tests/kafkatest/version.py · book 1.4.2
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Final

from kafka_lite.testing import maven

SETTINGS: Final = {
    "inter.broker.protocol.version": "2.6",  # the newest version that our brokers speak
    "log.message.format.version": "2.6",
    "log.cleaner.dedupe.buffer.size": "10485760",
    "zookeeper.connection.timeout.ms": "60000",
}
"""Settings of all brokers of a cluster that has both kinds."""
MAY_END_WITH: Final = (
    "ZooKeeperClientTimeoutException",
    "ZooKeeperClientExpiredException",
    "NodeExistsException",
    "SessionExpiredException",
)
"""Errors that may end one of Kafka's brokers when it starts: see ``chaos_cluster.NO_ZOOKEEPER``."""
NEEDS_RESTART: Final = {
    # The task asks ZooKeeper for the number of partitions, and ends with the exception. The partition stays in
    # TransactionStateManager.loadingPartitions: its producers get COORDINATOR_LOAD_IN_PROGRESS, even if the broker is
    # elected and has loaded again.
    r"Uncaught exception in scheduled task 'load-txns-for-partition": "would load transactions forever",
    # It asks for the configuration of a topic. Those partitions whose leader epoch it has noted already get neither a
    # log nor a fetcher: when the controller sends the request again, it ignores them.
    r"Error while processing LeaderAndIsr request[^\n]*\n[^\n]*SessionExpired": "left out what its controller told it",
}
"""Log lines of a broker whose session expired at the wrong moment -> the reason why it needs a restart."""
STOPPED: Final = 128 + signal.SIGTERM
"""The exit code after a clean stop."""
_LOG4J = """log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.org.apache.zookeeper=WARN
"""
_OPTIONS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


def start_command(version: str, folder: Path) -> list[str]:
    """The command that starts a broker of a version; the properties file follows. Raises JvmUnavailableError."""
    jars = maven.classpath(f"org.apache.kafka:kafka_2.13:{version}", "org.slf4j:slf4j-reload4j:1.7.36")
    log4j = folder / "log4j.properties"
    log4j.write_text(_LOG4J, encoding="utf-8")
    return ["java", *_OPTIONS, f"-Dlog4j.configuration=file:{log4j}", "-cp", maven.join(jars), "kafka.Kafka"]
