"""The broker's configuration: ``server.properties``, validated and typed.

Kafka 0.10.2: core/.../server/KafkaConfig.scala · book 2.3.4
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_lite.common.api_version import ApiVersion, InvalidVersionError
from kafka_lite.common.config_def import ConfigDef, ConfigError
from kafka_lite.common.process.file_names import file_name_of
from kafka_lite.common.properties import load_properties
from kafka_lite.log.cleaning.cleaner_config import CleanerConfig
from kafka_lite.log.log_config import LOG_CONFIG_DEF
from kafka_lite.network.channel_builder import ClientChannelBuilder
from kafka_lite.network.socket_server import SocketServerConfig
from kafka_lite.security.sasl_channel_builder import SaslServices
from kafka_lite.server.config.connection_rate_config import connection_rate_config
from kafka_lite.server.config.group_coordinator_configs import GROUP_COORDINATOR_CONFIGS, consumer_group_config
from kafka_lite.server.config.listener_configs import is_listener_key
from kafka_lite.server.config.listeners import Listeners, pairs_of
from kafka_lite.server.config.not_yet_applied import part_to_come, require_served
from kafka_lite.server.config.quota_configs import QUOTA_CONFIGS
from kafka_lite.server.config.replica_fetch_config import ReplicaFetchConfig
from kafka_lite.server.config.replication_configs import REPLICATION_CONFIGS
from kafka_lite.server.config.security_configs import SECURITY_CONFIGS
from kafka_lite.server.config.server_configs import SERVER_CONFIGS
from kafka_lite.server.config.server_log_configs import SERVER_LOG_CONFIGS
from kafka_lite.server.config.server_topic_config_synonyms import TOPIC_CONFIG_SYNONYMS, effective, log_config_map
from kafka_lite.server.config.share_coordinator_configs import share_configs
from kafka_lite.server.config.socket_server_configs import SOCKET_SERVER_CONFIGS
from kafka_lite.server.config.zk_configs import ZK_CONFIGS

logger = logging.getLogger(__name__)

CONFIG_GROUPS: dict[str, ConfigDef] = {
    "Broker": SERVER_CONFIGS,
    "ZooKeeper": ZK_CONFIGS,
    "Listeners and connections": SOCKET_SERVER_CONFIGS,
    "Log": SERVER_LOG_CONFIGS,
    "Replication and controller": REPLICATION_CONFIGS,
    "Groups, offsets and transactions": GROUP_COORDINATOR_CONFIGS,
    "Quotas and metrics": QUOTA_CONFIGS,
    "Security": SECURITY_CONFIGS,
}

EMBEDDED = "embedded"
"""The value of ``zookeeper.connect`` that starts a ZooKeeper server inside the broker."""

KAFKA_CONFIG_DEF = ConfigDef()
for _group in CONFIG_GROUPS.values():
    KAFKA_CONFIG_DEF.include(_group)

DEVIATIONS: dict[str, tuple[str, str]] = {
    "num.network.threads": (
        "3",
        "because of the GIL, three threads need a third more CPU time than one for the same requests",
    ),
    "listeners": ("null", "a new broker accepts connections only from its own machine"),
    "log.dir": (
        "/tmp/kafka-logs",
        "the user's data directory, so that a reboot does not delete the topics",
    ),
    "ssl.enabled.protocols": (
        "[TLSv1.2, TLSv1.1, TLSv1]",
        "TLS 1.0 and 1.1 are broken; as in Kafka since 2.6",
    ),
    "message.max.bytes": (
        "1000012",
        "as in Kafka since 2.5: larger than a producer's `max.request.size` (KAFKA-4203)",
    ),
    "delete.topic.enable": ("false", "as in Kafka since 1.0: today's clients expect DeleteTopics to delete"),
    "inter.broker.protocol.version": (
        "0.10.2-IV0",
        "the newest version that is implemented; set 0.10.2 to join a cluster of 0.10.2",
    ),
    "log.message.format.version": (
        "0.10.2-IV0",
        "record batches (v2), so that today's clients need no conversion",
    ),
}
"""Keys whose default differs from that of 0.10.2: the default there, and the reason for ours."""


class KafkaConfig:
    """All keys as typed attributes; ``values`` has the parsed value of each key by name.

    Raises ConfigError for an invalid value; the message has the key, the value and the valid values. Unknown keys only
    log a warning. ``original`` has the given values and shows whether a key was set at all.
    """

    def __init__(self, original: Mapping[str, object], *, do_log: bool = True) -> None:
        """``do_log``: whether to log warnings; False for a variant of a configuration that has already logged them."""
        self.original = dict(original)
        if do_log:
            self._warn_of_unknown_keys()
        self.values: dict[str, Any] = KAFKA_CONFIG_DEF.parse(original)
        if do_log:
            self._warn_of_keys_without_effect()
        self._read_server()
        self._read_zookeeper()
        self._read_socket_server()
        self._read_log()
        self._read_replication()
        self._read_groups()
        self._read_quotas()
        self._validate()

    def _warn_of_unknown_keys(self) -> None:
        for name in KAFKA_CONFIG_DEF.unused(self.original):
            if is_listener_key(name):
                continue
            meant = KAFKA_CONFIG_DEF.meant_by(name)
            logger.warning("The configuration '%s' was supplied but isn't a known config.%s", name, meant)

    def _warn_of_keys_without_effect(self) -> None:
        for key in KAFKA_CONFIG_DEF:
            part = part_to_come(key.name)
            if part is not None and key.name in self.original and self.values[key.name] != key.default:
                logger.warning("The configuration '%s' has no effect yet: %s is still to come.", key.name, part)

    @staticmethod
    def from_file(path: Path | str, overrides: Mapping[str, object] | None = None) -> KafkaConfig:
        """Read a ``.properties`` file; ``overrides`` take precedence. Also raises OSError and PropertiesError."""
        return KafkaConfig({**load_properties(Path(path)), **(overrides or {})})

    def log_config_map(self) -> dict[str, Any]:
        """Topic key -> default value on this broker."""
        return log_config_map(self.values)

    def replica_fetch_config(self) -> ReplicaFetchConfig:
        """The configuration of a follower; the broker id must be known."""
        return ReplicaFetchConfig(
            self.broker_id,
            self.inter_broker_protocol_version,
            self.replica_fetch_wait_max_ms,
            self.replica_fetch_min_bytes,
            self.replica_fetch_max_bytes,
            self.replica_fetch_response_max_bytes,
            self.replica_fetch_backoff_ms,
            self.replica_socket_timeout_ms,
            self.replica_socket_receive_buffer_bytes,
            self.inter_broker_security(),
        )

    def inter_broker_security(self) -> ClientChannelBuilder | None:
        """How this broker's connections to others are protected; None for PLAINTEXT. Raises ConfigError."""
        return self._listeners.inter_broker_security(f"broker-{self.broker_id}")

    def cleaner_config(self) -> CleanerConfig:
        """The configuration of the log cleaner."""
        return CleanerConfig(
            num_threads=self.log_cleaner_threads,
            dedupe_buffer_size=self.log_cleaner_dedupe_buffer_size,
            dedupe_buffer_load_factor=self.log_cleaner_dedupe_buffer_load_factor,
            io_buffer_size=self.log_cleaner_io_buffer_size,
            max_io_bytes_per_second=self.log_cleaner_io_max_bytes_per_second,
            backoff_ms=self.log_cleaner_backoff_ms,
            enable_cleaner=self.log_cleaner_enable,
        )

    def socket_server_config(self, sasl: SaslServices | None = None) -> SocketServerConfig:
        """The configuration of the socket server; the broker id must be known. ``sasl``: for listeners with SASL.

        Raises ConfigError for keys and certificates that cannot be loaded.
        """
        return SocketServerConfig(
            listeners=self._listeners.protected(sasl),
            broker_id=self.broker_id,
            num_network_threads=self.num_network_threads,
            queued_max_requests=self.queued_max_requests,
            queued_max_request_bytes=self.queued_max_request_bytes,
            socket_send_buffer_bytes=self.socket_send_buffer_bytes,
            socket_receive_buffer_bytes=self.socket_receive_buffer_bytes,
            socket_request_max_bytes=self.socket_request_max_bytes,
            max_connections_per_ip=self.max_connections_per_ip,
            max_connections_per_ip_overrides=self.max_connections_per_ip_overrides,
            connections_max_idle_ms=self.connections_max_idle_ms,
            failed_authentication_delay_ms=self.failed_authentication_delay_ms,
            connection_rates=connection_rate_config(
                self.values, self.original, self.listeners, self.inter_broker_listener_name
            ),
        )

    # ------------------------------------------------------------------------------------------ groups of attributes

    def _read_server(self) -> None:
        v = self.values
        self.broker_id: int = v["broker.id"]  # KafkaServer replaces -1 by the generated id
        self.broker_id_generation_enable: bool = v["broker.id.generation.enable"]
        self.max_reserved_broker_id: int = v["reserved.broker.max.id"]
        self.rack: str | None = v["broker.rack"]
        self.num_network_threads: int = v["num.network.threads"]
        self.num_io_threads: int = v["num.io.threads"]
        self.inline_quick_requests: bool = v["inline.quick.requests"]
        self.background_threads: int = v["background.threads"]
        self.queued_max_requests: int = v["queued.max.requests"]
        self.queued_max_request_bytes: int = v["queued.max.request.bytes"]
        self.request_timeout_ms: int = v["request.timeout.ms"]
        self.message_max_bytes: int = v["message.max.bytes"]
        self.fetch_max_bytes: int = v["fetch.max.bytes"]
        self.max_incremental_fetch_session_cache_slots: int = v["max.incremental.fetch.session.cache.slots"]
        self.auto_create_topics_enable: bool = v["auto.create.topics.enable"]
        self.delete_topic_enable: bool = v["delete.topic.enable"]
        self.num_partitions: int = v["num.partitions"]
        self.default_replication_factor: int = v["default.replication.factor"]
        self.compression_type: str = v["compression.type"]
        self.controlled_shutdown_enable: bool = v["controlled.shutdown.enable"]
        self.controlled_shutdown_max_retries: int = v["controlled.shutdown.max.retries"]
        self.controlled_shutdown_retry_backoff_ms: int = v["controlled.shutdown.retry.backoff.ms"]

    def _read_zookeeper(self) -> None:
        v = self.values
        self.zk_connect: str = v["zookeeper.connect"]
        self.zk_session_timeout_ms: int = v["zookeeper.session.timeout.ms"]
        self.zk_connection_timeout_ms: int = self._first(
            "zookeeper.connection.timeout.ms", "zookeeper.session.timeout.ms"
        )
        self.zk_sync_time_ms: int = v["zookeeper.sync.time.ms"]
        self.zk_embedded_port: int = v["zookeeper.embedded.port"]
        embedded_dir: str | None = v["zookeeper.embedded.dir"]
        self.zk_embedded_dir = None if embedded_dir is None else file_name_of(embedded_dir)

    def _read_socket_server(self) -> None:
        v = self.values
        self._listeners = listeners = Listeners(v, self.original)
        self.listener_security_protocol_map = listeners.security_protocol_map
        self.listeners = listeners.listeners
        self.advertised_listeners = listeners.advertised
        self.inter_broker_listener_name = listeners.inter_broker_name
        self.socket_send_buffer_bytes: int = v["socket.send.buffer.bytes"]
        self.socket_receive_buffer_bytes: int = v["socket.receive.buffer.bytes"]
        self.socket_request_max_bytes: int = v["socket.request.max.bytes"]
        self.max_connections_per_ip: int = v["max.connections.per.ip"]
        self.max_connections_per_ip_overrides = self._connection_overrides()
        self.max_connection_creation_rate: int = v["max.connection.creation.rate"]
        self.connections_max_idle_ms: int = v["connections.max.idle.ms"]
        self.failed_authentication_delay_ms: int = v["connection.failed.authentication.delay.ms"]

    def _read_log(self) -> None:
        v = self.values
        self.log_dirs: list[str] = [
            file_name_of(entry.strip()) for entry in self._first("log.dirs", "log.dir").split(",")
        ]
        self.log_segment_bytes: int = v["log.segment.bytes"]
        self.log_roll_ms: int = effective("segment.ms", v.get)
        self.log_roll_jitter_ms: int = effective("segment.jitter.ms", v.get)
        self.log_retention_ms: int = effective("retention.ms", v.get)
        self.log_retention_bytes: int = v["log.retention.bytes"]
        self.log_retention_check_interval_ms: int = v["log.retention.check.interval.ms"]
        self.log_cleanup_policy: list[str] = v["log.cleanup.policy"]
        self.log_cleaner_enable: bool = v["log.cleaner.enable"]
        self.log_cleaner_threads: int = v["log.cleaner.threads"]
        self.log_cleaner_io_max_bytes_per_second: float = v["log.cleaner.io.max.bytes.per.second"]
        self.log_cleaner_dedupe_buffer_size: int = v["log.cleaner.dedupe.buffer.size"]
        self.log_cleaner_io_buffer_size: int = v["log.cleaner.io.buffer.size"]
        self.log_cleaner_dedupe_buffer_load_factor: float = v["log.cleaner.io.buffer.load.factor"]
        self.log_cleaner_backoff_ms: int = v["log.cleaner.backoff.ms"]
        self.log_flush_scheduler_interval_ms: int = v["log.flush.scheduler.interval.ms"]
        self.log_flush_offset_checkpoint_interval_ms: int = v["log.flush.offset.checkpoint.interval.ms"]
        self.log_flush_start_offset_checkpoint_interval_ms: int = v["log.flush.start.offset.checkpoint.interval.ms"]
        self.num_recovery_threads_per_data_dir: int = v["num.recovery.threads.per.data.dir"]
        self.min_insync_replicas: int = v["min.insync.replicas"]
        self.log_message_format_version = self._version("log.message.format.version")
        self.producer_id_expiration_ms: int = v["producer.id.expiration.ms"]
        self.transaction_partition_verification_enable: bool = v["transaction.partition.verification.enable"]
        self.producer_id_expiration_check_interval_ms: int = v["producer.id.expiration.check.interval.ms"]

    def _read_replication(self) -> None:
        v = self.values
        self.inter_broker_protocol_version = self._version("inter.broker.protocol.version")
        self.unclean_leader_election_enable: bool = v["unclean.leader.election.enable"]
        self.replica_lag_time_max_ms: int = v["replica.lag.time.max.ms"]
        self.replica_socket_timeout_ms: int = v["replica.socket.timeout.ms"]
        self.replica_socket_receive_buffer_bytes: int = v["replica.socket.receive.buffer.bytes"]
        self.replica_fetch_max_bytes: int = v["replica.fetch.max.bytes"]
        self.replica_fetch_wait_max_ms: int = v["replica.fetch.wait.max.ms"]
        self.replica_fetch_backoff_ms: int = v["replica.fetch.backoff.ms"]
        self.replica_fetch_min_bytes: int = v["replica.fetch.min.bytes"]
        self.replica_fetch_response_max_bytes: int = v["replica.fetch.response.max.bytes"]
        self.num_replica_fetchers: int = v["num.replica.fetchers"]
        self.replica_high_watermark_checkpoint_interval_ms: int = v["replica.high.watermark.checkpoint.interval.ms"]
        self.fetch_purgatory_purge_interval_requests: int = v["fetch.purgatory.purge.interval.requests"]
        self.producer_purgatory_purge_interval_requests: int = v["producer.purgatory.purge.interval.requests"]
        self.controller_socket_timeout_ms: int = v["controller.socket.timeout.ms"]
        self.auto_leader_rebalance_enable: bool = v["auto.leader.rebalance.enable"]
        self.leader_imbalance_per_broker_percentage: int = v["leader.imbalance.per.broker.percentage"]
        self.leader_imbalance_check_interval_seconds: int = v["leader.imbalance.check.interval.seconds"]

    def _read_groups(self) -> None:
        v = self.values
        self.group_min_session_timeout_ms: int = v["group.min.session.timeout.ms"]
        self.group_max_session_timeout_ms: int = v["group.max.session.timeout.ms"]
        self.group_initial_rebalance_delay_ms: int = v["group.initial.rebalance.delay.ms"]
        self.group_max_size: int = v["group.max.size"]
        self.consumer_groups, (self.share_groups, self.share_coordinator) = consumer_group_config(v), share_configs(v)
        self.offset_metadata_max_bytes: int = v["offset.metadata.max.bytes"]
        self.offsets_load_buffer_size: int = v["offsets.load.buffer.size"]
        self.offsets_topic_num_partitions: int = v["offsets.topic.num.partitions"]
        self.offsets_topic_replication_factor: int = v["offsets.topic.replication.factor"]
        self.offsets_topic_segment_bytes: int = v["offsets.topic.segment.bytes"]
        self.offsets_topic_compression_codec: int = v["offsets.topic.compression.codec"]
        self.offsets_retention_minutes: int = v["offsets.retention.minutes"]
        self.offsets_retention_check_interval_ms: int = v["offsets.retention.check.interval.ms"]
        self.offsets_commit_timeout_ms: int = v["offsets.commit.timeout.ms"]
        self.offsets_commit_required_acks: int = v["offsets.commit.required.acks"]
        self.transactional_id_expiration_ms: int = v["transactional.id.expiration.ms"]
        self.transaction_max_timeout_ms: int = v["transaction.max.timeout.ms"]
        self.transaction_topic_min_isr: int = v["transaction.state.log.min.isr"]
        self.transaction_topic_num_partitions: int = v["transaction.state.log.num.partitions"]
        self.transaction_topic_replication_factor: int = v["transaction.state.log.replication.factor"]
        self.transaction_topic_segment_bytes: int = v["transaction.state.log.segment.bytes"]
        self.transactions_load_buffer_size: int = v["transaction.state.log.load.buffer.size"]
        abort_timed_out = "transaction.abort.timed.out.transaction.cleanup.interval.ms"
        self.transaction_abort_timed_out_interval_ms: int = v[abort_timed_out]
        remove_expired = "transaction.remove.expired.transaction.cleanup.interval.ms"
        self.transaction_remove_expired_interval_ms: int = v[remove_expired]

    def _read_quotas(self) -> None:
        v = self.values
        self.quota_producer_default: int = v["quota.producer.default"]
        self.quota_consumer_default: int = v["quota.consumer.default"]
        self.num_quota_samples: int = v["quota.window.num"]
        self.quota_window_size_seconds: int = v["quota.window.size.seconds"]
        self.num_controller_quota_samples: int = v["controller.quota.window.num"]
        self.controller_quota_window_size_seconds: int = v["controller.quota.window.size.seconds"]
        self.num_replication_quota_samples: int = v["replication.quota.window.num"]
        self.replication_quota_window_size_seconds: int = v["replication.quota.window.size.seconds"]
        self.num_alter_log_dirs_replication_quota_samples: int = v["alter.log.dirs.replication.quota.window.num"]
        self.alter_log_dirs_replication_quota_window_size_seconds: int = v[
            "alter.log.dirs.replication.quota.window.size.seconds"
        ]
        self.metrics_num_samples: int = v["metrics.num.samples"]
        self.metrics_sample_window_ms: int = v["metrics.sample.window.ms"]
        self.metrics_recording_level: str = v["metrics.recording.level"]
        self.metric_reporters: list[str] = v["metric.reporters"]
        self.kafka_metrics_reporters: list[str] = v["kafka.metrics.reporters"]
        self.metrics_http_port: int = v["metrics.http.port"]
        self.metrics_http_host: str = v["metrics.http.host"]

    # ------------------------------------------------------------------------------------------------ derived values

    def _first(self, *names: str) -> Any:
        """The value of the first of these keys that is set; the last one has a default."""
        return next((self.values[name] for name in names if self.values[name] is not None), None)

    def _version(self, name: str) -> ApiVersion:
        try:
            return ApiVersion.parse(self.values[name])
        except InvalidVersionError as error:
            raise ConfigError(name, self.values[name], str(error)) from None

    def _connection_overrides(self) -> dict[str, int]:
        """Address -> maximum number of connections. Raises ConfigError if a limit is not a number."""
        name = "max.connections.per.ip.overrides"
        pairs, limit = pairs_of(name, self.values), KAFKA_CONFIG_DEF.keys["max.connections.per.ip"]
        try:
            return {host: limit.parse(number) for host, number in pairs}
        except ConfigError:
            raise ConfigError(name, self.values[name], "must be a list of host:number, separated by commas") from None

    # ----------------------------------------------------------------------------------------------------- validation

    def _validate(self) -> None:
        """Check the rules between keys, as Kafka does."""
        self._validate_broker_id()
        self._validate_log()
        self._validate_topic_defaults()
        self._validate_replication()
        require_served(self.values)

    def _require(self, condition: bool, name: str, message: str) -> None:
        if not condition:
            raise ConfigError(name, self.values[name], message)

    def _validate_broker_id(self) -> None:
        if self.broker_id_generation_enable:
            self._require(
                -1 <= self.broker_id <= self.max_reserved_broker_id,
                "broker.id",
                f"must be between -1 and reserved.broker.max.id ({self.max_reserved_broker_id})",
            )
        else:
            self._require(self.broker_id >= 0, "broker.id", "must be 0 or more if broker.id.generation.enable is false")

    def _validate_log(self) -> None:
        self._require(
            all(self.log_dirs),
            "log.dirs" if self.values["log.dirs"] else "log.dir",
            "must not contain an empty directory name",
        )
        self._require(self.log_roll_ms >= 1, "log.roll.ms", "must be equal or greater than 1")
        self._require(self.log_roll_jitter_ms >= 0, "log.roll.jitter.ms", "must be equal or greater than 0")
        retention = self.log_retention_ms
        self._require(
            retention >= 1 or retention == -1, "log.retention.ms", "must be unlimited (-1) or equal or greater than 1"
        )
        self._require(
            self.log_cleaner_threads == 0
            or self.log_cleaner_dedupe_buffer_size // self.log_cleaner_threads > 1024 * 1024,
            "log.cleaner.dedupe.buffer.size",
            "must be more than 1 MiB per cleaner thread",
        )
        self._require(
            0.001 <= self.log_cleaner_dedupe_buffer_load_factor <= 1,
            "log.cleaner.io.buffer.load.factor",
            "must be between 0.001 (which leaves room for a key) and 1",
        )
        self._require(
            self.inter_broker_protocol_version >= self.log_message_format_version,
            "log.message.format.version",
            f"conflicts with inter.broker.protocol.version={self.values['inter.broker.protocol.version']}: "
            "the message format must not be newer than the protocol between brokers",
        )

    def _validate_topic_defaults(self) -> None:
        """Check that the defaults are valid for a topic without overrides."""
        for topic_key, value in self.log_config_map().items():
            validator = LOG_CONFIG_DEF.keys[topic_key].validator
            given_by = next(key.name for key in TOPIC_CONFIG_SYNONYMS[topic_key] if self.values[key.name] is not None)
            if validator is not None:
                validator.ensure_valid(given_by, value)
        minimum, maximum = "log.cleaner.min.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms"
        self._require(
            self.values[minimum] <= self.values[maximum],
            minimum,
            f"conflicts with {maximum} = {self.values[maximum]}: it must not be greater",
        )

    def _validate_replication(self) -> None:
        wait = self.replica_fetch_wait_max_ms
        self._require(
            wait <= self.replica_socket_timeout_ms,
            "replica.socket.timeout.ms",
            f"must be at least replica.fetch.wait.max.ms ({wait}); otherwise idle fetches time out",
        )
        self._require(
            wait <= self.replica_lag_time_max_ms,
            "replica.lag.time.max.ms",
            f"must be at least replica.fetch.wait.max.ms ({wait}); otherwise idle followers leave the ISR",
        )
        self._require(
            -1 <= self.offsets_commit_required_acks <= self.offsets_topic_replication_factor,
            "offsets.commit.required.acks",
            f"must be between -1 and offsets.topic.replication.factor ({self.offsets_topic_replication_factor})",
        )
