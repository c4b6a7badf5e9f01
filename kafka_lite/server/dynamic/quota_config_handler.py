"""Applies quotas that have changed in ZooKeeper.

Kafka 0.10.2: core/.../server/ConfigHandler.scala (ClientIdConfigHandler, UserConfigHandler); since 2.7 IpConfigHandler
· book 10.1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_lite.admin.admin_utils import DEFAULT_ENTITY
from kafka_lite.common.config_def import ConfigError
from kafka_lite.network.connection_quotas import addresses_of
from kafka_lite.security.scram.credential_provider import CredentialProvider
from kafka_lite.server.quotas.client_quota_entity import KafkaQuotaEntity
from kafka_lite.server.quotas.client_quota_managers import ClientQuotaManagers
from kafka_lite.zookeeper.sanitizer import desanitize

CONNECTION_CREATION_RATE = "connection_creation_rate"


class ClientIdConfigHandler:
    """Applies ``/config/clients/C``."""

    def __init__(self, quotas: ClientQuotaManagers) -> None:
        self._quotas = quotas

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """Apply the quotas of a client id, or of ``<default>``."""
        self._quotas.update_quotas(KafkaQuotaEntity.of_nodes(None, entity_name), config)


class UserConfigHandler:
    """Applies ``/config/users/U`` and ``/config/users/U/clients/C``. A user's credentials are in the same node."""

    def __init__(self, quotas: ClientQuotaManagers, credentials: CredentialProvider) -> None:
        self._quotas = quotas
        self._credentials = credentials

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """Apply the quotas of a user, or of a user's client, then the user's credentials.

        Raises ValueError for any other path, and for a credential that cannot be read.
        """
        match entity_name.split("/"):
            case [user]:
                entity = KafkaQuotaEntity.of_nodes(user, None)
            case [user, "clients", client_id]:
                entity = KafkaQuotaEntity.of_nodes(user, client_id)
            case _:
                raise ValueError(f"Invalid quota entity path: {entity_name}")
        self._quotas.update_quotas(entity, config)
        if "/" not in entity_name and entity_name != DEFAULT_ENTITY:
            self._credentials.update_credentials(desanitize(entity_name), config)


class IpConfigHandler:
    """Applies ``/config/ips/A``."""

    def __init__(self, update_ip_connection_rate: Callable[[str | None, int | None], None]) -> None:
        """The callback gets an address (None: all without a rate of their own) and connections per second, or None."""
        self._update = update_ip_connection_rate

    def process_config_changes(self, entity_name: str, config: Mapping[str, str]) -> None:
        """Apply the rate of an address, of a host's addresses, or of ``<default>``. Raises ConfigError."""
        text = config.get(CONNECTION_CREATION_RATE)
        if text is not None and not text.strip().isdecimal():
            raise ConfigError(CONNECTION_CREATION_RATE, text, "Not a number of at least 0")
        rate = None if text is None else int(text)
        for address in [None] if entity_name == DEFAULT_ENTITY else addresses_of(desanitize(entity_name)):
            self._update(address, rate)
