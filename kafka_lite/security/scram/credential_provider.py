"""The SCRAM credentials of all users, as ZooKeeper has them now.

Kafka 0.10.2: core/.../security/CredentialProvider.scala, clients/.../common/security/authenticator/CredentialCache.java
· book 2.3.2
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_lite.security.scram.scram_credential import ScramCredential
from kafka_lite.security.scram.scram_mechanism import ScramMechanism


class CredentialProvider:
    """Credentials by mechanism and user. One thread changes them; network threads read them without a lock."""

    def __init__(self) -> None:
        self._credentials: dict[ScramMechanism, dict[str, ScramCredential]] = {each: {} for each in ScramMechanism}

    def credential(self, mechanism: ScramMechanism, user: str) -> ScramCredential | None:
        """A user's credential; None if the user has none for this mechanism."""
        return self._credentials[mechanism].get(user)

    def update_credentials(self, user: str, config: Mapping[str, str]) -> None:
        """Take over the credentials in ``/config/users/U``; one that is missing there is forgotten.

        Raises ValueError for one that cannot be read, which is forgotten, too: a password that was changed must not
        stay valid.
        """
        error: ValueError | None = None
        for mechanism, credentials in self._credentials.items():
            text = config.get(mechanism.mechanism_name)
            try:
                credential = ScramCredential.from_string(text) if text else None
            except ValueError as unreadable:
                credential, error = None, unreadable
            if credential is None:
                credentials.pop(user, None)
            else:
                credentials[user] = credential
        if error is not None:
            raise error
