"""SCRAM credentials of users, for ``kafka-lite configs``: ``SCRAM-SHA-256=[iterations=8192,password=secret]``.

Kafka 0.10.2: core/.../admin/ConfigCommand.scala (preProcessScramCredentials); through brokers: Kafka 2.7 · book 10.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_lite.admin.user_scram_credentials import Deletion, Upsertion, alter
from kafka_lite.common.errors import Errors
from kafka_lite.protocol.messages import api_50_describe_user_scram_credentials as describe_scram
from kafka_lite.protocol.messages import api_51_alter_user_scram_credentials as alter_scram
from kafka_lite.security.scram.scram_formatter import ScramFormatter, secure_random_string
from kafka_lite.security.scram.scram_mechanism import SCRAM_MECHANISM_NAMES, ScramMechanism
from kafka_lite.tools.admin.admin_channel import AdminChannel, check_error
from kafka_lite.tools.common.tool_errors import ToolError
from kafka_lite.zookeeper.kafka_zk_client import KafkaZkClient

DEFAULT_ITERATIONS = 4096


def has_credentials(keys: Sequence[str]) -> bool:
    """Whether the keys are those of credentials. Raises ToolError if they are mixed with quotas."""
    found = [key for key in keys if key in SCRAM_MECHANISM_NAMES]
    if found and len(found) < len(keys):
        raise ToolError("change credentials and quotas in two calls: each has a request of its own")
    return bool(found)


def credential_changes(
    user: str, added: Mapping[str, str], deleted: Sequence[str]
) -> tuple[list[Deletion], list[Upsertion]]:
    """The changes of one user's credentials. The password is salted here and never sent. Raises ToolError."""
    if not user:
        raise ToolError("credentials need --entity-name: there are no default credentials")
    deletions = [Deletion(user, _mechanism(name).type) for name in deleted]
    return deletions, [_upsertion(user, _mechanism(name), text) for name, text in added.items()]


def _mechanism(name: str) -> ScramMechanism:
    mechanism = ScramMechanism.for_mechanism_name(name)
    if mechanism is None:
        raise ToolError(f"{name} is no mechanism of SCRAM; valid: {', '.join(SCRAM_MECHANISM_NAMES)}")
    return mechanism


def _upsertion(user: str, mechanism: ScramMechanism, text: str) -> Upsertion:
    fields = dict(part.strip().partition("=")[::2] for part in text.split(","))
    if "password" not in fields or not fields.keys() <= {"password", "iterations"}:
        raise ToolError(f"{mechanism.mechanism_name}: write [iterations=8192,password=…]; iterations may be left out")
    iterations = fields.get("iterations", str(DEFAULT_ITERATIONS))
    if not iterations.isdecimal() or int(iterations) < mechanism.min_iterations:
        raise ToolError(
            f"Iterations {iterations} is less than the minimum {mechanism.min_iterations} required for "
            f"{mechanism.mechanism_name}"
        )
    salt = secure_random_string().encode()
    salted = ScramFormatter(mechanism).salted_password(fields["password"], salt, int(iterations))
    return Upsertion(user, mechanism.type, int(iterations), salt, salted)


def alter_credentials(channel: AdminChannel, user: str, added: Mapping[str, str], deleted: Sequence[str]) -> None:
    """Change one user's credentials through the controller. Raises ToolError and ApiError."""
    deletions, upsertions = credential_changes(user, added, deleted)
    request = alter_scram.AlterUserScramCredentialsRequest(
        deletions=[alter_scram.ScramCredentialDeletion(name=user, mechanism=each.mechanism) for each in deletions],
        upsertions=[
            alter_scram.ScramCredentialUpsertion(
                name=user,
                mechanism=each.mechanism,
                iterations=each.iterations,
                salt=each.salt,
                salted_password=each.salted_password,
            )
            for each in upsertions
        ],
    )
    response = channel.send_to_controller(request, alter_scram.AlterUserScramCredentialsResponse, "results")
    for result in response.results:
        if result.error_code:
            raise Errors.for_code(result.error_code).exception(result.error_message)
    print(f"Completed updating config for user {user}.")


def alter_credentials_in_zookeeper(
    zk_client: KafkaZkClient, user: str, added: Mapping[str, str], deleted: Sequence[str]
) -> None:
    """The same in ZooKeeper: this is how the first users are made, before any broker runs. Raises as above."""
    error = alter(zk_client, *credential_changes(user, added, deleted))[user]
    if error is not None:
        raise error
    print(f"Completed Updating config for entity: user-principal '{user}'.")


def describe_credentials(channel: AdminChannel, user: str | None) -> None:
    """Print mechanisms and iterations of a user who has credentials, or (None) of all such users."""
    users = None if user is None else [describe_scram.UserName(name=user)]
    request = describe_scram.DescribeUserScramCredentialsRequest(users=users)
    response = channel.send(request, describe_scram.DescribeUserScramCredentialsResponse)
    check_error(response.error_code, response.error_message)
    for result in response.results:
        if result.error_code == Errors.RESOURCE_NOT_FOUND.code:
            continue
        check_error(result.error_code, result.error_message)
        names = {mechanism.type: mechanism.mechanism_name for mechanism in ScramMechanism}
        shown = ", ".join(
            f"{names.get(info.mechanism, info.mechanism)}=iterations={info.iterations}"
            for info in result.credential_infos
        )
        print(f"SCRAM credential configs for user-principal '{result.user}' are {shown}")
