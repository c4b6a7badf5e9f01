"""InitProducerId: an idempotent producer gets its identity.

Kafka 0.11: core/.../server/KafkaApis.scala (handleInitProducerIdRequest) · book 10.3
"""

from __future__ import annotations

from kafka_lite.common.errors import ApiError, Errors
from kafka_lite.coordinator.transaction.producer_id_manager import ProducerIdManager
from kafka_lite.network.request_channel import Request
from kafka_lite.protocol.messages.api_22_init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kafka_lite.record.record import NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from kafka_lite.server.apis.data_apis import Respond

FIRST_EPOCH = 0


class ProducerIdApis:
    """Gives every producer without a transactional id a new producer id, with epoch 0."""

    def __init__(self, producer_ids: ProducerIdManager) -> None:
        self._producer_ids = producer_ids

    def handle_init_producer_id(self, _request: Request, body: InitProducerIdRequest, respond: Respond) -> None:
        """Answer with an id, or with an error; an id that the producer had before (v3+) does not matter."""
        try:
            self._check(body)
            producer_id = self._producer_ids.generate_producer_id()
        except ApiError as failure:
            respond(InitProducerIdResponse(error_code=failure.error.code, producer_epoch=NO_PRODUCER_EPOCH))
        else:
            respond(InitProducerIdResponse(producer_id=producer_id, producer_epoch=FIRST_EPOCH))

    @staticmethod
    def _check(body: InitProducerIdRequest) -> None:
        if (body.producer_id == NO_PRODUCER_ID) != (body.producer_epoch == NO_PRODUCER_EPOCH):
            raise Errors.INVALID_REQUEST.exception("an id without an epoch, or an epoch without an id")
        if body.transactional_id == "":
            raise Errors.INVALID_REQUEST.exception("the transactional id is empty")
        if body.transactional_id is not None:
            # Transactions are not served. Java's clients give up at any error that they do not expect here, librdkafka
            # at this one: it would try again for ever after most others.
            raise Errors.UNSUPPORTED_VERSION.exception("this broker has no transactions")
