"""Every error of the protocol, in one table.

Kafka 0.10.2: clients/.../common/protocol/Errors.java; names and later codes as in Kafka 4.1 · book 2.3.5
"""

from __future__ import annotations

from enum import Enum


class Errors(Enum):
    """One row per error: code on the wire, whether a client may try again, what it means.

    The name is today's; where 0.10.2 named the same code otherwise, the comment tells.
    """

    code: int
    retriable: bool
    message: str

    def __init__(self, code: int, retriable: bool, message: str) -> None:
        self.code = code
        self.retriable = retriable
        self.message = message

    UNKNOWN_SERVER_ERROR = (-1, False, "Unknown server error.")  # 0.10.2: UNKNOWN
    NONE = (0, False, "None.")
    OFFSET_OUT_OF_RANGE = (1, False, "Offset out of range.")
    CORRUPT_MESSAGE = (2, True, "Corrupt message.")
    UNKNOWN_TOPIC_OR_PARTITION = (3, True, "Unknown topic or partition.")
    INVALID_FETCH_SIZE = (4, False, "Invalid fetch size.")
    LEADER_NOT_AVAILABLE = (5, True, "Leader not available.")
    NOT_LEADER_OR_FOLLOWER = (6, True, "Not leader or follower.")  # 0.10.2: NOT_LEADER_FOR_PARTITION
    REQUEST_TIMED_OUT = (7, True, "Request timed out.")
    BROKER_NOT_AVAILABLE = (8, False, "Broker not available.")
    REPLICA_NOT_AVAILABLE = (9, False, "Replica not available.")
    MESSAGE_TOO_LARGE = (10, False, "Message too large.")
    STALE_CONTROLLER_EPOCH = (11, False, "Stale controller epoch.")
    OFFSET_METADATA_TOO_LARGE = (12, False, "Offset metadata too large.")
    NETWORK_EXCEPTION = (13, True, "Network exception.")
    COORDINATOR_LOAD_IN_PROGRESS = (
        14,
        True,
        "Coordinator load in progress.",
    )  # 0.10.2: GROUP_LOAD_IN_PROGRESS
    COORDINATOR_NOT_AVAILABLE = (
        15,
        True,
        "Coordinator not available.",
    )  # 0.10.2: GROUP_COORDINATOR_NOT_AVAILABLE
    NOT_COORDINATOR = (16, True, "Not coordinator.")  # 0.10.2: NOT_COORDINATOR_FOR_GROUP
    INVALID_TOPIC_EXCEPTION = (17, False, "Invalid topic exception.")
    RECORD_LIST_TOO_LARGE = (18, False, "Record list too large.")
    NOT_ENOUGH_REPLICAS = (19, True, "Not enough replicas.")
    NOT_ENOUGH_REPLICAS_AFTER_APPEND = (20, True, "Not enough replicas after append.")
    INVALID_REQUIRED_ACKS = (21, False, "Invalid required acks.")
    ILLEGAL_GENERATION = (22, False, "Illegal generation.")
    INCONSISTENT_GROUP_PROTOCOL = (23, False, "Inconsistent group protocol.")
    INVALID_GROUP_ID = (24, False, "Invalid group id.")
    UNKNOWN_MEMBER_ID = (25, False, "Unknown member id.")
    INVALID_SESSION_TIMEOUT = (26, False, "Invalid session timeout.")
    REBALANCE_IN_PROGRESS = (27, False, "Rebalance in progress.")
    INVALID_COMMIT_OFFSET_SIZE = (28, False, "Invalid commit offset size.")
    TOPIC_AUTHORIZATION_FAILED = (29, False, "Topic authorization failed.")
    GROUP_AUTHORIZATION_FAILED = (30, False, "Group authorization failed.")
    CLUSTER_AUTHORIZATION_FAILED = (31, False, "Cluster authorization failed.")
    INVALID_TIMESTAMP = (32, False, "Invalid timestamp.")
    UNSUPPORTED_SASL_MECHANISM = (33, False, "Unsupported sasl mechanism.")
    ILLEGAL_SASL_STATE = (34, False, "Illegal sasl state.")
    UNSUPPORTED_VERSION = (35, False, "Unsupported version.")
    TOPIC_ALREADY_EXISTS = (36, False, "Topic already exists.")
    INVALID_PARTITIONS = (37, False, "Invalid partitions.")
    INVALID_REPLICATION_FACTOR = (38, False, "Invalid replication factor.")
    INVALID_REPLICA_ASSIGNMENT = (39, False, "Invalid replica assignment.")
    INVALID_CONFIG = (40, False, "Invalid config.")
    NOT_CONTROLLER = (41, True, "Not controller.")
    INVALID_REQUEST = (42, False, "Invalid request.")
    UNSUPPORTED_FOR_MESSAGE_FORMAT = (43, False, "Unsupported for message format.")
    POLICY_VIOLATION = (44, False, "Policy violation.")
    OUT_OF_ORDER_SEQUENCE_NUMBER = (45, False, "Out of order sequence number.")
    DUPLICATE_SEQUENCE_NUMBER = (46, False, "Duplicate sequence number.")
    INVALID_PRODUCER_EPOCH = (47, False, "Invalid producer epoch.")
    INVALID_TXN_STATE = (48, False, "Invalid txn state.")
    INVALID_PRODUCER_ID_MAPPING = (49, False, "Invalid producer id mapping.")
    INVALID_TRANSACTION_TIMEOUT = (50, False, "Invalid transaction timeout.")
    CONCURRENT_TRANSACTIONS = (51, True, "Concurrent transactions.")
    TRANSACTION_COORDINATOR_FENCED = (52, False, "Transaction coordinator fenced.")
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED = (53, False, "Transactional id authorization failed.")
    SECURITY_DISABLED = (54, False, "Security disabled.")
    OPERATION_NOT_ATTEMPTED = (55, False, "Operation not attempted.")
    KAFKA_STORAGE_ERROR = (56, True, "Kafka storage error.")
    LOG_DIR_NOT_FOUND = (57, False, "Log dir not found.")
    SASL_AUTHENTICATION_FAILED = (58, False, "Sasl authentication failed.")
    UNKNOWN_PRODUCER_ID = (59, False, "Unknown producer id.")
    REASSIGNMENT_IN_PROGRESS = (60, False, "Reassignment in progress.")
    DELEGATION_TOKEN_AUTH_DISABLED = (61, False, "Delegation token auth disabled.")
    DELEGATION_TOKEN_NOT_FOUND = (62, False, "Delegation token not found.")
    DELEGATION_TOKEN_OWNER_MISMATCH = (63, False, "Delegation token owner mismatch.")
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED = (64, False, "Delegation token request not allowed.")
    DELEGATION_TOKEN_AUTHORIZATION_FAILED = (65, False, "Delegation token authorization failed.")
    DELEGATION_TOKEN_EXPIRED = (66, False, "Delegation token expired.")
    INVALID_PRINCIPAL_TYPE = (67, False, "Invalid principal type.")
    NON_EMPTY_GROUP = (68, False, "Non empty group.")
    GROUP_ID_NOT_FOUND = (69, False, "Group id not found.")
    FETCH_SESSION_ID_NOT_FOUND = (70, True, "Fetch session id not found.")
    INVALID_FETCH_SESSION_EPOCH = (71, True, "Invalid fetch session epoch.")
    LISTENER_NOT_FOUND = (72, True, "Listener not found.")
    TOPIC_DELETION_DISABLED = (73, False, "Topic deletion disabled.")
    FENCED_LEADER_EPOCH = (74, True, "Fenced leader epoch.")
    UNKNOWN_LEADER_EPOCH = (75, True, "Unknown leader epoch.")
    UNSUPPORTED_COMPRESSION_TYPE = (76, False, "Unsupported compression type.")
    STALE_BROKER_EPOCH = (77, False, "Stale broker epoch.")
    OFFSET_NOT_AVAILABLE = (78, True, "Offset not available.")
    MEMBER_ID_REQUIRED = (79, False, "Member id required.")
    PREFERRED_LEADER_NOT_AVAILABLE = (80, True, "Preferred leader not available.")
    GROUP_MAX_SIZE_REACHED = (81, False, "Group max size reached.")
    FENCED_INSTANCE_ID = (82, False, "Fenced instance id.")
    ELIGIBLE_LEADERS_NOT_AVAILABLE = (83, True, "Eligible leaders not available.")
    ELECTION_NOT_NEEDED = (84, True, "Election not needed.")
    NO_REASSIGNMENT_IN_PROGRESS = (85, False, "No reassignment in progress.")
    GROUP_SUBSCRIBED_TO_TOPIC = (86, False, "Group subscribed to topic.")
    INVALID_RECORD = (87, False, "Invalid record.")
    UNSTABLE_OFFSET_COMMIT = (88, True, "Unstable offset commit.")
    THROTTLING_QUOTA_EXCEEDED = (89, True, "Throttling quota exceeded.")
    PRODUCER_FENCED = (90, False, "Producer fenced.")
    RESOURCE_NOT_FOUND = (91, False, "Resource not found.")
    DUPLICATE_RESOURCE = (92, False, "Duplicate resource.")
    UNACCEPTABLE_CREDENTIAL = (93, False, "Unacceptable credential.")
    INCONSISTENT_VOTER_SET = (94, False, "Inconsistent voter set.")
    INVALID_UPDATE_VERSION = (95, False, "Invalid update version.")
    FEATURE_UPDATE_FAILED = (96, False, "Feature update failed.")
    PRINCIPAL_DESERIALIZATION_FAILURE = (97, False, "Principal deserialization failure.")
    SNAPSHOT_NOT_FOUND = (98, False, "Snapshot not found.")
    POSITION_OUT_OF_RANGE = (99, False, "Position out of range.")
    UNKNOWN_TOPIC_ID = (100, True, "Unknown topic id.")
    DUPLICATE_BROKER_REGISTRATION = (101, False, "Duplicate broker registration.")
    BROKER_ID_NOT_REGISTERED = (102, False, "Broker id not registered.")
    INCONSISTENT_TOPIC_ID = (103, True, "Inconsistent topic id.")
    INCONSISTENT_CLUSTER_ID = (104, False, "Inconsistent cluster id.")
    TRANSACTIONAL_ID_NOT_FOUND = (105, False, "Transactional id not found.")
    FETCH_SESSION_TOPIC_ID_ERROR = (106, True, "Fetch session topic id error.")
    INELIGIBLE_REPLICA = (107, False, "Ineligible replica.")
    NEW_LEADER_ELECTED = (108, False, "New leader elected.")
    OFFSET_MOVED_TO_TIERED_STORAGE = (109, False, "Offset moved to tiered storage.")
    FENCED_MEMBER_EPOCH = (110, False, "Fenced member epoch.")
    UNRELEASED_INSTANCE_ID = (111, False, "Unreleased instance id.")
    UNSUPPORTED_ASSIGNOR = (112, False, "Unsupported assignor.")
    STALE_MEMBER_EPOCH = (113, False, "Stale member epoch.")
    MISMATCHED_ENDPOINT_TYPE = (114, False, "Mismatched endpoint type.")
    UNSUPPORTED_ENDPOINT_TYPE = (115, False, "Unsupported endpoint type.")
    UNKNOWN_CONTROLLER_ID = (116, False, "Unknown controller id.")
    UNKNOWN_SUBSCRIPTION_ID = (117, False, "Unknown subscription id.")
    TELEMETRY_TOO_LARGE = (118, False, "Telemetry too large.")
    INVALID_REGISTRATION = (119, False, "Invalid registration.")
    TRANSACTION_ABORTABLE = (120, False, "Transaction abortable.")
    INVALID_RECORD_STATE = (121, False, "Invalid record state.")
    SHARE_SESSION_NOT_FOUND = (122, True, "Share session not found.")
    INVALID_SHARE_SESSION_EPOCH = (123, True, "Invalid share session epoch.")
    FENCED_STATE_EPOCH = (124, False, "Fenced state epoch.")
    INVALID_VOTER_KEY = (125, False, "Invalid voter key.")
    DUPLICATE_VOTER = (126, False, "Duplicate voter.")
    VOTER_NOT_FOUND = (127, False, "Voter not found.")
    INVALID_REGULAR_EXPRESSION = (128, False, "Invalid regular expression.")
    REBOOTSTRAP_REQUIRED = (129, False, "Rebootstrap required.")
    STREAMS_INVALID_TOPOLOGY = (130, False, "Streams invalid topology.")
    STREAMS_INVALID_TOPOLOGY_EPOCH = (131, False, "Streams invalid topology epoch.")
    STREAMS_TOPOLOGY_FENCED = (132, False, "Streams topology fenced.")
    SHARE_SESSION_LIMIT_REACHED = (133, True, "Share session limit reached.")

    @staticmethod
    def for_code(code: int) -> Errors:
        """The row of a code; UNKNOWN_SERVER_ERROR for a code from the future, as Kafka's clients do."""
        return _BY_CODE.get(code, Errors.UNKNOWN_SERVER_ERROR)

    def exception(self, message: str | None = None) -> ApiError:
        """This error as something to raise."""
        return ApiError(self, message)


_BY_CODE = {error.code: error for error in Errors}


class KafkaError(Exception):
    """The root of all errors that kafka_lite raises on purpose."""


class ApiError(KafkaError):
    """An error with a code of the protocol: what a request handler raises and the answer carries."""

    def __init__(self, error: Errors, message: str | None = None) -> None:
        super().__init__(message or error.message)
        self.error = error

    @property
    def retriable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.error.retriable
