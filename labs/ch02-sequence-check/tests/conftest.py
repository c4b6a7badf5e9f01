"""Helpers that the tests of this lab share."""

import pytest

from kafka_lite.common.errors import ApiError
from kafka_lite.common.topic_partition import TopicPartition
from kafka_lite.log.append_origin import AppendOrigin
from kafka_lite.log.producers.producer_append_info import ProducerAppendInfo
from kafka_lite.log.producers.producer_state_entry import BatchMetadata, ProducerStateEntry


def metadata(first_seq, last_seq, offset=0):
    """A batch with these numbers (which do not wrap)."""
    delta = last_seq - first_seq
    return BatchMetadata(last_seq, offset + delta, delta, timestamp=1000)


@pytest.fixture
def batch():
    """``batch(first_seq, last_seq, offset=0)``: the remembered metadata of a batch."""
    return metadata


@pytest.fixture
def entry_with():
    """``entry_with(*numbers, epoch=3)``: a producer whose batches had these (first, last) numbers."""

    def make(*numbers, epoch=3):
        entry = ProducerStateEntry(7, epoch)
        entry.batch_metadata.extend(metadata(*each) for each in numbers)
        return entry

    return make


@pytest.fixture
def appending():
    """``appending(entry, origin=CLIENT)``: an append of this producer to the partition t-0."""

    def make(entry, origin=AppendOrigin.CLIENT):
        return ProducerAppendInfo(TopicPartition("t", 0), entry, origin)

    return make


@pytest.fixture
def error_of():
    """``error_of(work)``: the protocol error that it raises, or None."""

    def of(work):
        try:
            work()
        except ApiError as error:
            return error.error
        return None

    return of
