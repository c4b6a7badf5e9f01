"""The errors of transactional calls.

Kafka 0.11: clients/.../common/errors/ProducerFencedException.java, TransactionAbortedException.java · book 10.3
"""

from __future__ import annotations

from kafka_lite.common.errors import ApiError, Errors, KafkaError


class IllegalTransactionStateError(RuntimeError):
    """A call that is not allowed in this state, such as ``commit_transaction`` before ``begin_transaction``.

    It has changed nothing.
    """


class ProducerFencedError(ApiError):
    """A newer producer uses the same ``transactional.id``. This one can only be closed."""

    def __init__(self, transactional_id: str, producer_id: int, producer_epoch: int) -> None:
        super().__init__(
            Errors.PRODUCER_FENCED,
            f"Producer with transactional.id '{transactional_id}', producer id {producer_id} and epoch "
            f"{producer_epoch} has been fenced by another producer with the same transactional.id",
        )


class TransactionAbortedError(KafkaError):
    """A record that was not sent, because its transaction was aborted."""

    def __init__(self) -> None:
        super().__init__("The record was not sent: its transaction was aborted")


class TransactionError(KafkaError):
    """A call after an error; ``__cause__`` is that error."""

    def __init__(self, cause: Exception, *, requires_abort: bool) -> None:
        what = "call abort_transaction" if requires_abort else "close the producer"
        super().__init__(f"Cannot execute transactional method because we are in an error state; {what}: {cause}")
        self.requires_abort = requires_abort
        """Whether ``abort_transaction`` ends the error state. Otherwise the producer can only be closed."""
        self.__cause__ = cause
