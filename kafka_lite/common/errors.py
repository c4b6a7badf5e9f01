"""Every error of the protocol, in one table.

Kafka 0.10.2: clients/.../common/protocol/Errors.java; names and later codes as in Kafka 4.1 · book 2.3.5
"""

from __future__ import annotations

from enum import Enum


class Errors(Enum):
    """One row per error: its code on the wire, whether it is retriable, and what it means.

    The names are Kafka's current ones; a comment gives the name in 0.10.2 if it was different.
    """

    code: int
    retriable: bool
    message: str

    def __init__(self, code: int, retriable: bool, message: str) -> None:
        self.code = code
        self.retriable = retriable
        self.message = message

    UNKNOWN_SERVER_ERROR = (-1, False, "The broker failed with an unexpected error.")  # 0.10.2: UNKNOWN
    NONE = (0, False, "No error.")
    OFFSET_OUT_OF_RANGE = (1, False, "The offset is before the start or after the end of the log.")
    CORRUPT_MESSAGE = (2, True, "A record fails its checksum, or lacks the key that compaction needs.")
    UNKNOWN_TOPIC_OR_PARTITION = (3, True, "This broker knows no such topic or partition.")
    INVALID_FETCH_SIZE = (4, False, "The number of bytes to fetch is invalid.")
    LEADER_NOT_AVAILABLE = (5, True, "The partition has no leader at the moment.")
    # 0.10.2: NOT_LEADER_FOR_PARTITION
    NOT_LEADER_OR_FOLLOWER = (6, True, "This broker is not the leader of the partition, or holds no replica of it.")
    REQUEST_TIMED_OUT = (7, True, "The request was not completed within its timeout.")
    BROKER_NOT_AVAILABLE = (8, False, "The broker is not available.")
    REPLICA_NOT_AVAILABLE = (9, True, "The replica is not available, or not yet.")  # 0.10.2: not retriable
    MESSAGE_TOO_LARGE = (10, False, "A record or batch is larger than message.max.bytes allows.")
    STALE_CONTROLLER_EPOCH = (11, False, "The request comes from a controller that has been replaced.")
    OFFSET_METADATA_TOO_LARGE = (12, False, "The metadata is above offset.metadata.max.bytes.")
    NETWORK_EXCEPTION = (13, True, "The connection broke before the response arrived.")
    # 0.10.2: GROUP_LOAD_IN_PROGRESS
    COORDINATOR_LOAD_IN_PROGRESS = (14, True, "The coordinator is still reading its state from the log.")
    # 0.10.2: GROUP_COORDINATOR_NOT_AVAILABLE
    COORDINATOR_NOT_AVAILABLE = (15, True, "There is no coordinator at the moment.")
    # 0.10.2: NOT_COORDINATOR_FOR_GROUP
    NOT_COORDINATOR = (16, True, "Another broker coordinates this group or transactional id.")
    INVALID_TOPIC_EXCEPTION = (17, False, "The topic has an invalid name, or must not be written to.")
    RECORD_LIST_TOO_LARGE = (18, False, "The batch is larger than a log segment.")
    NOT_ENOUGH_REPLICAS = (19, True, "Fewer replicas are in sync than min.insync.replicas.")
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = (20, True, "Written, but to fewer than min.insync.replicas.")
    INVALID_REQUIRED_ACKS = (21, False, "acks must be 0, 1 or -1.")
    ILLEGAL_GENERATION = (22, False, "The generation is not the group's current one.")
    INCONSISTENT_GROUP_PROTOCOL = (23, False, "The member offers no protocol that all others support.")
    INVALID_GROUP_ID = (24, False, "The group id is not allowed.")
    UNKNOWN_MEMBER_ID = (25, False, "The group has no such member.")
    INVALID_SESSION_TIMEOUT = (26, False, "The session timeout is outside of the limits of the broker.")
    REBALANCE_IN_PROGRESS = (27, False, "The group is rebalancing: join again.")
    INVALID_COMMIT_OFFSET_SIZE = (28, False, "The offset to commit takes more bytes than a record may have.")
    TOPIC_AUTHORIZATION_FAILED = (29, False, "The user may not do this to the topic.")
    GROUP_AUTHORIZATION_FAILED = (30, False, "The user may not do this to the group.")
    CLUSTER_AUTHORIZATION_FAILED = (31, False, "The user may not do this to the cluster.")
    INVALID_TIMESTAMP = (32, False, "The record's timestamp is too far from the broker's clock.")
    UNSUPPORTED_SASL_MECHANISM = (33, False, "The broker does not offer this SASL mechanism.")
    ILLEGAL_SASL_STATE = (34, False, "The request does not belong at this point of a SASL authentication.")
    UNSUPPORTED_VERSION = (35, False, "The broker does not know this version of the API.")
    TOPIC_ALREADY_EXISTS = (36, False, "A topic with this name already exists.")
    INVALID_PARTITIONS = (37, False, "The number of partitions is invalid.")
    INVALID_REPLICATION_FACTOR = (38, False, "The replication factor is below 1 or above the number of live brokers.")
    INVALID_REPLICA_ASSIGNMENT = (39, False, "The assignment of replicas to brokers is invalid.")
    INVALID_CONFIG = (40, False, "A configuration key or value is not valid.")
    NOT_CONTROLLER = (41, True, "Another broker is the controller.")
    INVALID_REQUEST = (42, False, "The request contradicts itself or is not meant for this broker.")
    UNSUPPORTED_FOR_MESSAGE_FORMAT = (43, False, "The message format of the log does not support this.")
    POLICY_VIOLATION = (44, False, "A policy of the broker forbids this.")  # the last one of 0.10.2
    OUT_OF_ORDER_SEQUENCE_NUMBER = (45, False, "A batch of the producer before this one is missing.")
    DUPLICATE_SEQUENCE_NUMBER = (46, False, "The log already has this batch of the producer.")
    INVALID_PRODUCER_EPOCH = (47, False, "The producer's epoch is older than the one the log knows.")
    INVALID_TXN_STATE = (48, False, "The state of the transaction does not allow this.")
    INVALID_PRODUCER_ID_MAPPING = (49, False, "The producer id does not belong to this transactional id.")
    INVALID_TRANSACTION_TIMEOUT = (50, False, "The transaction timeout is above transaction.max.timeout.ms.")
    CONCURRENT_TRANSACTIONS = (51, True, "The transactional id is busy with another operation.")
    TRANSACTION_COORDINATOR_FENCED = (52, False, "The transaction coordinator has been replaced.")
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = (53, False, "The user may not use this transactional id.")
    SECURITY_DISABLED = (54, False, "The broker has no authorizer.")
    OPERATION_NOT_ATTEMPTED = (55, False, "This was not attempted, because something else in the same request failed.")
    KAFKA_STORAGE_ERROR = (56, True, "The broker's disk failed under the log.")
    LOG_DIR_NOT_FOUND = (57, False, "The broker has no such log directory.")
    SASL_AUTHENTICATION_FAILED = (58, False, "The credentials were not accepted.")
    UNKNOWN_PRODUCER_ID = (59, False, "The log has no state for this producer id.")
    REASSIGNMENT_IN_PROGRESS = (60, False, "The partition is being reassigned.")
    DELEGATION_TOKEN_AUTH_DISABLED = (61, False, "The broker does not issue delegation tokens.")
    DELEGATION_TOKEN_NOT_FOUND = (62, False, "There is no such delegation token.")
    DELEGATION_TOKEN_OWNER_MISMATCH = (63, False, "The user neither owns this delegation token nor may renew it.")
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = (64, False, "This connection may not ask for delegation tokens.")
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = (65, False, "The user may not do this to the delegation token.")
    DELEGATION_TOKEN_EXPIRED = (66, False, "The delegation token has expired.")
    INVALID_PRINCIPAL_TYPE = (67, False, "Principals of this type are not supported.")
    NON_EMPTY_GROUP = (68, False, "The group still has members.")
    GROUP_ID_NOT_FOUND = (69, False, "There is no such group.")
    FETCH_SESSION_ID_NOT_FOUND = (70, True, "The broker has forgotten this fetch session.")
    INVALID_FETCH_SESSION_EPOCH = (71, True, "The fetch session is at another epoch.")
    LISTENER_NOT_FOUND = (72, True, "The leader has no listener with the name of the one that received this request.")
    TOPIC_DELETION_DISABLED = (73, False, "delete.topic.enable is false.")
    FENCED_LEADER_EPOCH = (74, True, "The request has an older leader epoch than the broker.")
    UNKNOWN_LEADER_EPOCH = (75, True, "The request has a newer leader epoch than the broker.")
    UNSUPPORTED_COMPRESSION_TYPE = (76, False, "This version of fetch does not support the compression type.")
    STALE_BROKER_EPOCH = (77, False, "The broker has registered again since then.")
    OFFSET_NOT_AVAILABLE = (78, True, "The new leader does not know yet how far the log is committed.")
    MEMBER_ID_REQUIRED = (79, False, "The group member must join again with the member id in the response.")
    PREFERRED_LEADER_NOT_AVAILABLE = (80, True, "The preferred leader is not alive or not in sync.")
    GROUP_MAX_SIZE_REACHED = (81, False, "The group has as many members as group.max.size allows.")
    FENCED_INSTANCE_ID = (82, False, "Another member has taken over this group.instance.id.")
    ELIGIBLE_LEADERS_NOT_AVAILABLE = (83, True, "No replica can become leader.")
    ELECTION_NOT_NEEDED = (84, True, "The partition already has the right leader.")
    NO_REASSIGNMENT_IN_PROGRESS = (85, False, "The partition is not being reassigned.")
    GROUP_SUBSCRIBED_TO_TOPIC = (86, False, "The group is subscribed to the topic, so its offsets must stay.")
    INVALID_RECORD = (87, False, "A record failed the broker's validation.")
    UNSTABLE_OFFSET_COMMIT = (88, True, "The offset belongs to a transaction that is not finished.")
    THROTTLING_QUOTA_EXCEEDED = (89, True, "The quota for changes to topics is used up: wait and try again.")
    PRODUCER_FENCED = (90, False, "A newer producer with the same transactional id has taken over.")
    RESOURCE_NOT_FOUND = (91, False, "There is no such resource.")
    DUPLICATE_RESOURCE = (92, False, "The request names the same resource twice.")
    UNACCEPTABLE_CREDENTIAL = (93, False, "The credential does not meet the requirements.")
    INCONSISTENT_VOTER_SET = (94, False, "Sender or receiver is not among the voters of the quorum.")
    INVALID_UPDATE_VERSION = (95, False, "The version of the update is not valid.")
    FEATURE_UPDATE_FAILED = (96, False, "The features could not be updated.")
    PRINCIPAL_DESERIALIZATION_FAILURE = (97, False, "The principal in a forwarded request could not be read.")
    SNAPSHOT_NOT_FOUND = (98, False, "There is no such snapshot.")
    POSITION_OUT_OF_RANGE = (99, False, "The position lies outside of the snapshot.")
    UNKNOWN_TOPIC_ID = (100, True, "This broker knows no topic with this id.")
    DUPLICATE_BROKER_REGISTRATION = (101, False, "A live broker already has this id.")
    BROKER_ID_NOT_REGISTERED = (102, False, "No broker is registered under this id.")
    INCONSISTENT_TOPIC_ID = (103, True, "The log belongs to another topic id.")
    INCONSISTENT_CLUSTER_ID = (104, False, "The request is meant for another cluster.")
    TRANSACTIONAL_ID_NOT_FOUND = (105, False, "There is no such transactional id.")
    FETCH_SESSION_TOPIC_ID_ERROR = (106, True, "The fetch session mixes topic names and topic ids.")
    INELIGIBLE_REPLICA = (107, False, "A replica of the new ISR is not eligible for it.")
    NEW_LEADER_ELECTED = (108, False, "The partition was changed, and has another leader now.")
    OFFSET_MOVED_TO_TIERED_STORAGE = (109, False, "The records at this offset are in remote storage only.")
    FENCED_MEMBER_EPOCH = (110, False, "The member's epoch is over: it must give up its partitions and join again.")
    UNRELEASED_INSTANCE_ID = (111, False, "Another member still uses this instance id.")
    UNSUPPORTED_ASSIGNOR = (112, False, "The group does not support this assignor.")
    STALE_MEMBER_EPOCH = (113, False, "The member has been given a newer epoch, which it must learn first.")
    MISMATCHED_ENDPOINT_TYPE = (114, False, "The request was sent to the wrong kind of endpoint.")
    UNSUPPORTED_ENDPOINT_TYPE = (115, False, "This kind of endpoint is not supported.")
    UNKNOWN_CONTROLLER_ID = (116, False, "No controller has this id.")
    UNKNOWN_SUBSCRIPTION_ID = (117, False, "The telemetry subscription is not valid, or not any more.")
    TELEMETRY_TOO_LARGE = (118, False, "The telemetry is larger than the broker accepts.")
    INVALID_REGISTRATION = (119, False, "The controller refuses this registration.")
    TRANSACTION_ABORTABLE = (120, False, "The transaction has failed. Abort it to continue with the transactional id.")
    INVALID_RECORD_STATE = (121, False, "The record is in a state in which it cannot be acknowledged.")
    SHARE_SESSION_NOT_FOUND = (122, True, "The broker has forgotten this share session.")
    INVALID_SHARE_SESSION_EPOCH = (123, True, "The share session is at another epoch.")
    FENCED_STATE_EPOCH = (124, False, "The state of the share group is at another epoch.")
    INVALID_VOTER_KEY = (125, False, "The voter's key is not that of the replica it was sent to.")
    DUPLICATE_VOTER = (126, False, "The replica is already a voter.")
    VOTER_NOT_FOUND = (127, False, "The replica is not a voter.")
    INVALID_REGULAR_EXPRESSION = (128, False, "The regular expression is invalid.")
    REBOOTSTRAP_REQUIRED = (129, False, "The client's metadata is too old: start again from the bootstrap servers.")
    STREAMS_INVALID_TOPOLOGY = (130, False, "The topology is not valid.")
    STREAMS_INVALID_TOPOLOGY_EPOCH = (131, False, "The topology's epoch is not valid.")
    STREAMS_TOPOLOGY_FENCED = (132, False, "A newer topology has taken over.")
    SHARE_SESSION_LIMIT_REACHED = (133, True, "The broker has as many share sessions as it allows.")

    @staticmethod
    def for_code(code: int) -> Errors:
        """The row of a code; UNKNOWN_SERVER_ERROR for an unknown code, as in Kafka's clients."""
        return _BY_CODE.get(code, Errors.UNKNOWN_SERVER_ERROR)

    def exception(self, message: str | None = None) -> ApiError:
        """An ApiError for this error."""
        return ApiError(self, message)


_BY_CODE = {error.code: error for error in Errors}


MAX_MESSAGE_CHARS = 4_096
"""The longest error message: it may quote what a client sent, and a string in a response is limited to 32 KB."""
_END_CHARS = 1_000


def shorten_message(text: str) -> str:
    """Shorten a long text to its beginning and end: the actual error often follows a long quotation."""
    if len(text) <= MAX_MESSAGE_CHARS:
        return text
    return f"{text[: MAX_MESSAGE_CHARS - _END_CHARS - 1]}…{text[-_END_CHARS:]}"


class KafkaError(Exception):
    """The base class of all errors that kafka_lite raises on purpose."""


class ApiError(KafkaError):
    """An error with a protocol error code: raised by a request handler, sent in the response."""

    def __init__(self, error: Errors, message: str | None = None) -> None:
        super().__init__(shorten_message(message or error.message))
        self.error = error

    @property
    def retriable(self) -> bool:
        """Whether the request may succeed if it is sent again."""
        return self.error.retriable
