"""The error response to a request, for every API and version."""

import pytest

from kafka_lite.common.errors import Errors
from kafka_lite.common.ids.uuids import ZERO_UUID
from kafka_lite.protocol.api_key import ApiKey
from kafka_lite.protocol.api_keys import API_SPECS
from kafka_lite.protocol.error_responses import error_response, mark_metadata, merge_responses
from kafka_lite.protocol.messages import api_00_produce as produce
from kafka_lite.protocol.messages import api_01_fetch as fetch
from kafka_lite.protocol.messages import api_02_list_offsets as list_offsets
from kafka_lite.protocol.messages import api_03_metadata as metadata
from kafka_lite.protocol.messages import api_09_offset_fetch as offset_fetch
from kafka_lite.protocol.messages import api_10_find_coordinator as find_coordinator
from kafka_lite.protocol.messages import api_20_delete_topics as delete_topics
from kafka_lite.protocol.messages import api_34_alter_replica_log_dirs as alter_replica_log_dirs
from kafka_lite.protocol.messages import api_35_describe_log_dirs as describe_log_dirs
from kafka_lite.protocol.wire_types import Array, Primitive, StructType

ERROR = Errors.NOT_COORDINATOR
SAMPLES = {"bool": True, "float64": 1.5, "uuid": ZERO_UUID, "string": "x", "bytes": b"b", "records": b"r"}


def sample(cls, version):
    """A message with one element in every array."""
    message = cls()
    for field in cls.FIELDS:
        if version in field.versions:
            setattr(message, field.name, sample_value(field.type, version))
    return message


def sample_value(kind, version):
    if isinstance(kind, StructType):
        return sample(kind.cls, version)
    if isinstance(kind, Array):
        return [sample_value(kind.element, version)]
    return SAMPLES.get(kind.name, 7 if isinstance(kind, Primitive) else None)


def errors_in(struct):
    """All error codes of a response that are not zero, at any depth."""
    found = []
    for field in type(struct).FIELDS:
        value = getattr(struct, field.name)
        if field.name in ("error_code", "partition_error_code") and value:
            found.append(value)
        elif isinstance(field.type, Array) and isinstance(field.type.element, StructType):
            for element in value or ():
                found += errors_in(element)
    return found


def error_response_to(request, version, error=ERROR, selects=None):
    split = error_response(request, version, error, selects)
    assert split.response is not None
    return type(split.response).decode(split.response.encode(version), version)


@pytest.mark.parametrize("spec", API_SPECS.values(), ids=lambda spec: spec.key.name)
def test_every_api_has_an_error_response_in_every_version(spec):
    for version in range(spec.min_version, spec.max_version + 1):
        split = error_response(sample(spec.request, version), version, ERROR)
        assert split.rest is None
        decoded = spec.response.decode(split.response.encode(version), version)
        codes = errors_in(decoded)
        # AlterUserScramCredentials has two arrays of items, the others have one, or a top-level error.
        assert codes == [ERROR.code] * (2 if spec.key is ApiKey.ALTER_USER_SCRAM_CREDENTIALS else 1), version


def produce_request():
    data = produce.PartitionProduceData
    return produce.ProduceRequest(
        acks=-1,
        topic_data=[
            produce.TopicProduceData(
                name="a", partition_data=[data(index=0, records=b"0"), data(index=1, records=b"1")]
            ),
            produce.TopicProduceData(name="b", partition_data=[data(index=0, records=b"2")]),
        ],
    )


def places(response):
    """(topic, partition) -> error code."""
    return {
        (topic.name, partition.index): partition.error_code
        for topic in response.responses
        for partition in topic.partition_responses
    }


def test_a_produce_request_fails_partition_by_partition():
    response = error_response_to(produce_request(), 8)
    assert places(response) == {("a", 0): 16, ("a", 1): 16, ("b", 0): 16}
    partition = response.responses[0].partition_responses[0]
    assert (partition.base_offset, partition.log_append_time_ms) == (-1, -1)
    assert partition.error_message == "injected by a test"


def test_only_the_selected_part_of_a_request_fails():
    split = error_response(produce_request(), 8, ERROR, lambda topic, partition: (topic, partition) == ("a", 1))
    assert places(split.response) == {("a", 1): 16}
    left = [(t.name, p.index, p.records) for t in split.rest.topic_data for p in t.partition_data]
    assert left == [("a", 0, b"0"), ("b", 0, b"2")]


def test_the_response_to_the_rest_is_completed():
    request = produce_request()
    split = error_response(request, 8, ERROR, lambda topic, partition: (topic, partition) in [("a", 1), ("b", 0)])
    real = produce.ProduceResponse(
        responses=[
            produce.TopicProduceResponse(
                name="a", partition_responses=[produce.PartitionProduceResponse(index=0, base_offset=5)]
            )
        ]
    )
    merge_responses(split.response, real, 8)
    assert places(real) == {("a", 0): 0, ("a", 1): 16, ("b", 0): 16}
    assert real.responses[0].partition_responses[0].base_offset == 5


def test_without_a_selected_part_nothing_fails():
    request = produce_request()
    split = error_response(request, 8, ERROR, lambda topic, _partition: topic == "c")
    assert split.response is None
    assert split.rest == request


def test_the_request_is_not_modified():
    request = produce_request()
    error_response(request, 8, ERROR, lambda topic, _partition: topic == "a")
    assert request == produce_request()


def fetch_request():
    return fetch.FetchRequest(
        max_wait_ms=500,
        topics=[fetch.FetchTopic(topic="a", partitions=[fetch.FetchPartition(partition=3, fetch_offset=9)])],
        forgotten_topics_data=[fetch.ForgottenTopic(topic="f", partitions=[1])],
    )


def test_a_fetch_fails_at_its_partitions():
    response = error_response_to(fetch_request(), 11, Errors.NOT_LEADER_OR_FOLLOWER)
    assert response.error_code == 0
    ((topic,),) = ([*response.responses],)
    assert (topic.topic, [(p.partition_index, p.error_code, p.high_watermark) for p in topic.partitions]) == (
        "a",
        [(3, 6, -1)],
    )
    assert topic.partitions[0].records == b""


def test_a_session_error_of_a_fetch_is_at_the_top_level():
    response = error_response_to(fetch_request(), 11, Errors.FETCH_SESSION_ID_NOT_FOUND)
    assert (response.error_code, response.responses) == (70, [])


def test_a_fetch_without_partitions_fails_at_the_top_level():
    assert error_response_to(fetch.FetchRequest(session_id=5), 11).error_code == ERROR.code


def test_a_partly_failed_fetch_does_not_wait():
    request = fetch_request()
    request.topics.append(fetch.FetchTopic(topic="b", partitions=[fetch.FetchPartition(partition=0)]))
    split = error_response(request, 11, ERROR, lambda topic, _partition: topic == "b")
    assert split.rest.max_wait_ms == 0
    assert request.max_wait_ms == 500


def test_offsets_of_a_failed_partition_are_minus_one():
    request = list_offsets.ListOffsetsRequest(
        topics=[
            list_offsets.ListOffsetsTopic(
                name="a", partitions=[list_offsets.ListOffsetsPartition(partition_index=2, timestamp=99)]
            )
        ]
    )
    partition = error_response_to(request, 5).topics[0].partitions[0]
    assert (partition.partition_index, partition.timestamp, partition.offset, partition.leader_epoch) == (2, -1, -1, -1)


def test_names_and_partitions_of_a_request_become_items_of_the_response():
    request = delete_topics.DeleteTopicsRequest(topic_names=["a", "b"])
    assert [(r.name, r.error_code) for r in error_response_to(request, 5).responses] == [("a", 16), ("b", 16)]
    request = find_coordinator.FindCoordinatorRequest(coordinator_keys=["g1", "g2"])
    assert [(c.key, c.error_code) for c in error_response_to(request, 4).coordinators] == [("g1", 16), ("g2", 16)]
    request = offset_fetch.OffsetFetchRequest(
        group_id="g", topics=[offset_fetch.OffsetFetchRequestTopic(name="a", partition_indexes=[4])]
    )
    (topic,) = error_response_to(request, 1).topics
    assert [(p.partition_index, p.committed_offset, p.error_code) for p in topic.partitions] == [(4, -1, 16)]


def test_a_request_wide_error_is_at_the_top_level_if_the_version_has_one():
    request = offset_fetch.OffsetFetchRequest(
        group_id="g", topics=[offset_fetch.OffsetFetchRequestTopic(name="a", partition_indexes=[4])]
    )
    response = error_response_to(request, 5)
    assert (response.error_code, response.topics) == (16, [])
    response = error_response_to(request, 5, selects=lambda topic, _partition: topic == "a")
    assert (response.error_code, response.topics[0].partitions[0].error_code) == (0, 16)


def test_replica_log_dirs_fail_topic_by_topic():
    topics = [alter_replica_log_dirs.AlterReplicaLogDirTopic(name="a", partitions=[0, 1])]
    folders = [alter_replica_log_dirs.AlterReplicaLogDir(path="/d", topics=topics)]
    (result,) = error_response_to(alter_replica_log_dirs.AlterReplicaLogDirsRequest(dirs=folders), 1).results
    assert (result.topic_name, [p.partition_index for p in result.partitions]) == ("a", [0, 1])


def test_log_dirs_fail_though_the_request_names_none():
    request = describe_log_dirs.DescribeLogDirsRequest(topics=None)
    assert [result.error_code for result in error_response_to(request, 1).results] == [16]
    assert error_response_to(request, 4).error_code == 16


def metadata_response():
    partition = metadata.MetadataResponsePartition
    return metadata.MetadataResponse(
        brokers=[metadata.MetadataResponseBroker(node_id=0, host="h", port=9)],
        topics=[
            metadata.MetadataResponseTopic(
                name=name, partitions=[partition(partition_index=0), partition(partition_index=1)]
            )
            for name in ("a", "b")
        ],
    )


def test_metadata_keeps_its_brokers_if_a_topic_fails():
    response = metadata_response()
    marked = mark_metadata(response, Errors.LEADER_NOT_AVAILABLE, lambda topic, _partition: topic == "a")
    assert marked == 1
    assert [(t.name, t.error_code, len(t.partitions)) for t in response.topics] == [("a", 5, 0), ("b", 0, 2)]
    assert response.brokers[0].host == "h"


def test_one_partition_of_metadata_can_fail():
    response = metadata_response()
    mark_metadata(response, Errors.LEADER_NOT_AVAILABLE, lambda topic, partition: (topic, partition) == ("b", 1))
    assert [[p.error_code for p in t.partitions] for t in response.topics] == [[0, 0], [0, 5]]
    assert response.topics[1].partitions[1].leader_id == -1
