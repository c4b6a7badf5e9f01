"""The parts of a broker that its SASL listeners need before their first connection.

Kafka 0.10.2: core/.../server/KafkaServer.scala (credentialProvider) · book 2.3.4
"""

from __future__ import annotations

import logging

from kafka_lite.common.time import Time
from kafka_lite.security.sasl_channel_builder import SaslServices
from kafka_lite.security.scram.credential_provider import CredentialProvider
from kafka_lite.server.apis.api_version_manager import ApiVersionManager
from kafka_lite.server.kafka_apis import SERVED_VERSIONS
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.sanitizer import desanitize

logger = logging.getLogger(__name__)


def sasl_services(zk_client: KafkaZkClient, time: Time) -> SaslServices:
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
    versions = ApiVersionManager(SERVED_VERSIONS)
    return SaslServices(credentials, versions.response, versions.unsupported, time)
