"""The users and clients that a quota applies to, and which of several quotas wins.

Kafka 0.10.2: core/.../server/ClientQuotaManager.scala (QuotaId, QuotaTypes); later KafkaQuotaEntity,
clients/.../server/quota/ClientQuotaEntity.java · book 10.1
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, Flag, auto

from kafka_lite.zookeeper.sanitizer import desanitize


class Default(Enum):
    """The entity of all that have no quota of their own; not a name, since a client may be called ``<default>``."""

    ENTITY = "<default>"

    def __repr__(self) -> str:
        return self.value


DEFAULT = Default.ENTITY
EntityName = str | Default | None
"""A name, the default of all names, or None: the quota does not depend on this part."""


class QuotaTypes(Flag):
    """The parts that an entity has. A manager remembers the types for which there has ever been a quota.

    CUSTOM_QUOTAS: a callback decides, and its quotas may have any parts.
    """

    NO_QUOTAS = 0
    CLIENT_ID_QUOTA = auto()
    USER_QUOTA = auto()
    USER_CLIENT_ID_QUOTA = auto()
    CUSTOM_QUOTAS = auto()


SINGLE_TYPES = (QuotaTypes.CLIENT_ID_QUOTA, QuotaTypes.USER_QUOTA, QuotaTypes.USER_CLIENT_ID_QUOTA)


@dataclass(frozen=True)
class KafkaQuotaEntity:
    """A user, a client id, or both. The user is sanitised, as in ZooKeeper; the client id is not."""

    user: EntityName = None
    client_id: EntityName = None

    @classmethod
    def of_nodes(cls, user: str | None, client_id: str | None) -> KafkaQuotaEntity:
        """The entity of the node names under ``/config/users`` and ``clients``. Raises ValueError for a bad name."""
        return cls(
            DEFAULT if user == DEFAULT.value else user,
            DEFAULT if client_id == DEFAULT.value else None if client_id is None else desanitize(client_id),
        )

    @property
    def type(self) -> QuotaTypes:
        """The parts that it has."""
        if self.user is None:
            return QuotaTypes.NO_QUOTAS if self.client_id is None else QuotaTypes.CLIENT_ID_QUOTA
        return QuotaTypes.USER_QUOTA if self.client_id is None else QuotaTypes.USER_CLIENT_ID_QUOTA

    def __str__(self) -> str:
        named = (("user", self.user), ("client-id", self.client_id))
        parts = [f"default {part}" if name is DEFAULT else f"{part} {name}" for part, name in named if name is not None]
        return " ".join(parts)


@dataclass(frozen=True)
class QuotaTags:
    """The tags of the metrics of one sensor, hence of one quota; an empty part is shared by all."""

    user: str = ""
    client_id: str = ""

    def as_dict(self) -> dict[str, str]:
        """The tags in Kafka's order."""
        return {"user": self.user, "client-id": self.client_id}

    def __str__(self) -> str:
        return f"{self.user}:{self.client_id}"


class Part(Enum):
    """How a level of the precedence treats the user, or the client id."""

    OWN = "own"
    DEFAULT = "<default>"
    ANY = "any"

    def entity_name(self, name: str) -> EntityName:
        """The part of the entity whose quota applies at this level."""
        names: dict[Part, EntityName] = {Part.OWN: name, Part.DEFAULT: DEFAULT, Part.ANY: None}
        return names[self]


@dataclass(frozen=True)
class Level:
    """One level of the precedence."""

    user: Part
    client_id: Part

    def entity(self, user: str, client_id: str) -> KafkaQuotaEntity:
        """The entity whose quota applies to a user's client at this level."""
        return KafkaQuotaEntity(self.user.entity_name(user), self.client_id.entity_name(client_id))

    def tags(self, user: str, client_id: str) -> QuotaTags:
        """The tags of the sensor at this level. A default quota is no common pot: each name has its own sensor."""
        return QuotaTags(
            "" if self.user is Part.ANY else user,
            "" if self.client_id is Part.ANY else client_id,
        )

    def can_have_given(self, tags: QuotaTags) -> bool:
        """Whether these can be the tags of this level."""
        if (self.user is Part.ANY) != (not tags.user):
            return False
        return self.client_id is not Part.ANY or not tags.client_id


PRECEDENCE = (
    #     user          client id        the node under /config                     one sensor for each
    Level(Part.OWN,     Part.OWN),      # users/U/clients/C                         user and client id
    Level(Part.OWN,     Part.DEFAULT),  # users/U/clients/<default>                 user and client id
    Level(Part.OWN,     Part.ANY),      # users/U                                   user
    Level(Part.DEFAULT, Part.OWN),      # users/<default>/clients/C                 user and client id
    Level(Part.DEFAULT, Part.DEFAULT),  # users/<default>/clients/<default>         user and client id
    Level(Part.DEFAULT, Part.ANY),      # users/<default>                           user
    Level(Part.ANY,     Part.OWN),      # clients/C                                 client id
    Level(Part.ANY,     Part.DEFAULT),  # clients/<default>                         client id
)  # fmt: skip
"""The levels, the most specific first; the first one with a quota applies.

The ninth is ``quota.producer.default`` or ``quota.consumer.default``, for client ids, of which each has its own sensor.
"""
