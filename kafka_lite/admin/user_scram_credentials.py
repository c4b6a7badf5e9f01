"""The SCRAM credentials of users, as administrators see and change them: in the nodes of /config/users.

Kafka 2.7: core/.../server/ZkAdminManager.scala (describeUserScramCredentials, alterUserScramCredentials), KIP-554
· book 10.1
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass

from kafka_lite.admin.admin_utils import DEFAULT_ENTITY, AdminUtils
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.security.scram.scram_credential import ScramCredential
from kafka_lite.security.scram.scram_formatter import ScramFormatter
from kafka_lite.security.scram.scram_mechanism import SCRAM_MECHANISM_NAMES, ScramMechanism
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient
from kafka_lite.zookeeper.sanitizer import desanitize, sanitize

logger = logging.getLogger(__name__)

NO_USERNAME = "Username must not be empty"
MAX_READ_USERS = 100
"""Above so many users of one request, the nodes of all users are listed first, and only those that exist are read."""
_MECHANISMS = {mechanism.type: mechanism for mechanism in ScramMechanism}


@dataclass(frozen=True)
class Deletion:
    """A credential to remove."""

    user: str
    mechanism: int
    """Its number on the wire, which may be unknown."""

    @property
    def error(self) -> ApiError | None:
        """The reason to refuse it, whatever is stored."""
        if not self.user:
            return Errors.UNACCEPTABLE_CREDENTIAL.exception(NO_USERNAME)
        if _mechanism(self.mechanism) is None:
            return Errors.UNSUPPORTED_SASL_MECHANISM.exception("Unknown SCRAM mechanism")
        return None


@dataclass(frozen=True)
class Upsertion(Deletion):
    """A credential to set. The client has salted the password itself, so the broker never sees it."""

    iterations: int
    salt: bytes
    salted_password: bytes

    @property
    def error(self) -> ApiError | None:
        """The reason to refuse it, whatever is stored."""
        mechanism = _mechanism(self.mechanism)
        if not self.user or mechanism is None:
            return super().error
        if self.iterations > mechanism.max_iterations:
            return Errors.UNACCEPTABLE_CREDENTIAL.exception("Too many iterations")
        if self.iterations < mechanism.min_iterations:
            return Errors.UNACCEPTABLE_CREDENTIAL.exception("Too few iterations")
        return None

    def credential(self, mechanism: ScramMechanism) -> ScramCredential:
        """The credential to store."""
        return ScramFormatter(mechanism).credential_of(self.salted_password, self.salt, self.iterations)


def _mechanism(number: int) -> ScramMechanism | None:
    return _MECHANISMS.get(number)


def _existing(zk_client: KafkaZkClient, users: Collection[str]) -> Container[str]:
    """Return the users that may have a node, by one read; all of them if they are few."""
    if len(users) <= MAX_READ_USERS:
        return users
    nodes = set(zk_client.get_entities("users"))
    return {user for user in users if sanitize(user) in nodes} if nodes else ()


def described(
    zk_client: KafkaZkClient, users: Sequence[str] | None
) -> dict[str, Mapping[ScramMechanism, int] | ApiError]:
    """The iterations of each user's credentials, or an error; of all users who have some without a list of users."""
    if not users:
        return _all_described(zk_client)
    counts = Counter(users)
    existing = _existing(zk_client, counts)
    return {user: _described(zk_client, user, counts[user], user in existing) for user in counts}


def _all_described(zk_client: KafkaZkClient) -> dict[str, Mapping[ScramMechanism, int] | ApiError]:
    found: dict[str, Mapping[ScramMechanism, int] | ApiError] = {}
    for name in zk_client.get_entities("users"):
        config = {} if name == DEFAULT_ENTITY else zk_client.get_entity_config(f"users/{name}")
        if config.keys() & set(SCRAM_MECHANISM_NAMES):
            found[desanitize(name)] = _iterations(config)
    return dict(sorted(found.items()))


def _described(
    zk_client: KafkaZkClient, user: str, count: int, exists: bool
) -> Mapping[ScramMechanism, int] | ApiError:
    if not user:
        return Errors.RESOURCE_NOT_FOUND.exception(NO_USERNAME)
    if count > 1:
        message = f"Cannot describe SCRAM credentials for the same user twice in a single request: {user}"
        return Errors.DUPLICATE_RESOURCE.exception(message)
    found = _iterations(zk_client.get_entity_config(f"users/{sanitize(user)}")) if exists else {}
    if found:
        return found
    message = f"Attempt to describe a user credential that does not exist: {user}"
    return Errors.RESOURCE_NOT_FOUND.exception(message)


def _iterations(config: Mapping[str, str]) -> Mapping[ScramMechanism, int] | ApiError:
    try:
        return {
            mechanism: ScramCredential.from_string(config[mechanism.mechanism_name]).iterations
            for mechanism in ScramMechanism
            if mechanism.mechanism_name in config
        }
    except ValueError:
        return Errors.UNKNOWN_SERVER_ERROR.exception()


def alter(
    zk_client: KafkaZkClient, deletions: Sequence[Deletion], upsertions: Sequence[Upsertion]
) -> dict[str, ApiError | None]:
    """Change credentials; for each user the error, or None. A user's changes are made together, or none of them."""
    changes: Sequence[Deletion] = [*deletions, *upsertions]
    results: dict[str, ApiError | None] = {each.user: error for each in changes if (error := each.error) is not None}
    of_user: dict[str, list[Deletion]] = {}
    for each in changes:
        if each.user not in results:
            of_user.setdefault(each.user, []).append(each)
    existing = _existing(zk_client, of_user)
    for user, made in of_user.items():
        if len({each.mechanism for each in made}) < len(made):
            message = "A user credential cannot be altered twice in the same request"
            results[user] = Errors.DUPLICATE_RESOURCE.exception(message)
        else:
            results[user] = _alter_user(zk_client, user, made, user in existing)
    return results


def _alter_user(zk_client: KafkaZkClient, user: str, changes: Collection[Deletion], exists: bool) -> ApiError | None:
    path = f"users/{sanitize(user)}"
    try:
        config = dict(zk_client.get_entity_config(path)) if exists else {}
        for change in changes:
            mechanism = _mechanism(change.mechanism)
            assert mechanism is not None  # otherwise refused before
            if isinstance(change, Upsertion):
                config[mechanism.mechanism_name] = change.credential(mechanism).to_string()
            elif config.pop(mechanism.mechanism_name, None) is None:
                return Errors.RESOURCE_NOT_FOUND.exception("Attempt to delete a user credential that does not exist")
        AdminUtils(zk_client).change_entity_config(path, config)
    except Exception:
        logger.exception("Error encountered while altering the SCRAM credentials of %r", user)
        return Errors.UNKNOWN_SERVER_ERROR.exception()
    return None
