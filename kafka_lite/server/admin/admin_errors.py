"""The error that a client gets for an item of an administrative request.

Kafka 0.10.2: core/.../server/AdminManager.scala (the catch clauses), clients/.../common/requests/ApiError.java
· book 7.1.3
"""

from __future__ import annotations

import logging

from kafka_lite.common.bounded_log import Log
from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.zookeeper.zk_errors import ZkConnectionError

logger = logging.getLogger(__name__)

MAX_MESSAGE_CHARACTERS = 2000
STOPPING = "this broker is shutting down"


def api_error(error: Exception, doing: str, log: Log = logger) -> ApiError:
    """The error for the client. An error that the client did not cause is logged with a traceback.

    It has none itself: it becomes one of many results, to which a frame of the traceback refers.
    ``log``: that of the whole request if it has many items. A message that repeats thousands of names is cut: it could
    not be encoded.
    """
    if isinstance(error, ApiError):
        if len(str(error)) > MAX_MESSAGE_CHARACTERS:
            error = error.error.exception(f"{str(error)[:MAX_MESSAGE_CHARACTERS]}…")
        log.log(logging.INFO, "Error %s: %s", doing, error)
        error.__traceback__ = None
        return error
    if isinstance(error, ZkConnectionError):  # of a client that is closed: else it would still be waiting
        log.log(logging.INFO, "Error %s: %s", doing, error)
        return Errors.NOT_CONTROLLER.exception(STOPPING)
    log.log(logging.ERROR, "Error %s", doing, exc_info=error)
    return Errors.UNKNOWN_SERVER_ERROR.exception()
