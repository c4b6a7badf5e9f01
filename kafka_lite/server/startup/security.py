"""The parts of a broker that decide who may connect and what they may do; listeners need them from the start.

Kafka 0.10.2: core/.../server/KafkaServer.scala (credentialProvider, authorizer) · book 2.3.4
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from kafka_lite.cluster.finalized_features import FinalizedFeatures
from kafka_lite.common.time import Time
from kafka_lite.security.authorizer.authorizer import Authorizer
from kafka_lite.security.authorizer.custom_authorizer import CustomAuthorizer
from kafka_lite.security.delegation_token.delegation_token_cache import DelegationTokenCache
from kafka_lite.security.sasl_channel_builder import SaslServices
from kafka_lite.security.scram.credential_provider import CredentialProvider
from kafka_lite.server.admin.delegation_token_manager import DelegationTokenConfig, DelegationTokenManager
from kafka_lite.server.admin.zk_delegation_tokens import ZkDelegationTokenStore, token_changes
from kafka_lite.server.apis.api_version_manager import ApiVersionManager
from kafka_lite.server.apis.share.share_group_switch import ShareGroupSwitch
from kafka_lite.server.auth.authorizer_loading import load_authorizer
from kafka_lite.server.auth.consumer_group_switch import ConsumerGroupSwitch
from kafka_lite.server.kafka_apis import served_versions
from kafka_lite.server.kafka_config import KafkaConfig
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.sanitizer import desanitize

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class BrokerSecurity:
    """The parts of security that listeners and handlers use."""

    sasl: SaslServices
    versions: ApiVersionManager
    """The versions that clients are told, before they authenticate and after."""
    consumer_groups: ConsumerGroupSwitch
    share_groups: ShareGroupSwitch
    authorizer: Authorizer | None
    tokens: DelegationTokenManager

    def close(self) -> None:
        """Tell an authorizer of the user that the broker has stopped."""
        if isinstance(self.authorizer, CustomAuthorizer):
            self.authorizer.close()


def broker_security(
    config: KafkaConfig, zk_client: KafkaZkClient, time: Time, features: FinalizedFeatures
) -> BrokerSecurity:
    """Read users, delegation tokens and access control lists from ZooKeeper. Raises ConfigError.

    ``features``: what clients are told of besides versions.
    """
    protocol = config.inter_broker_protocol_version
    authorizer = load_authorizer(config.values, config.original, protocol, zk_client, time)
    served = served_versions(consumer_groups=config.consumer_groups.is_enabled)
    consumer_groups = ConsumerGroupSwitch(config.consumer_groups.is_enabled, features)
    share_groups = ShareGroupSwitch(config.share_groups, features)
    versions = ApiVersionManager(served, lambda: False, features, lambda: share_groups.is_on)
    sasl = sasl_services(zk_client, time, versions)
    tokens = token_manager(DelegationTokenConfig.of(config.values), zk_client, sasl.tokens, time)
    return BrokerSecurity(sasl, versions, consumer_groups, share_groups, authorizer, tokens)


def token_manager(
    config: DelegationTokenConfig, zk_client: KafkaZkClient, cache: DelegationTokenCache, time: Time
) -> DelegationTokenManager:
    """The manager of delegation tokens, which follows their changes from now on if the broker has a key for them."""
    store = ZkDelegationTokenStore(zk_client)
    manager = DelegationTokenManager(config, store, cache, time)
    if manager.enabled:
        store.create_paths()
        changes = token_changes(zk_client, manager.changed, time)
        manager.load()
        changes.startup()  # begins with the announcements that are there: one since the load is among them
    return manager


def sasl_services(zk_client: KafkaZkClient, time: Time, versions: ApiVersionManager) -> SaslServices:
    """The credentials that ZooKeeper has now, and the versions that the broker serves.

    Later changes of credentials come with those of other configurations, which the broker follows once it is up; by
    then its listeners are open, and nobody should be refused for that.
    """
    credentials = CredentialProvider()
    for name in zk_client.get_entities("users"):
        try:
            credentials.update_credentials(desanitize(name), zk_client.get_entity_config(f"users/{name}"))
        except ValueError as error:
            logger.error("A credential of the user %s cannot be read: %s", name, error)
    return SaslServices(credentials, DelegationTokenCache(), versions.response, versions.unsupported, time)
