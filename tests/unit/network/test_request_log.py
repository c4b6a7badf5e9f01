"""The line of a completed request in the request log."""

from __future__ import annotations

import logging
import re

import pytest

from kafka_lite.common.process.log_levels import TRACE
from kafka_lite.common.time import MockTime
from kafka_lite.network.request import Request
from kafka_lite.network.request_channel import RequestChannel, Response
from kafka_lite.network.request_log import describe, struct_text
from kafka_lite.protocol.messages.api_00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kafka_lite.protocol.messages.api_18_api_versions import ApiVersionsRequest
from kafka_lite.protocol.messages.headers import RequestHeader

LOGGER = "kafka.request.logger"


def produce_request() -> Request:
    partition = PartitionProduceData(index=3, records=memoryview(b"x" * 61))
    return Request(
        processor=0,
        connection_id="127.0.0.1:9092-127.0.0.1:40404-0",
        listener_name="INTERNAL",
        security_protocol="PLAINTEXT",
        client_address="127.0.0.1",
        header=RequestHeader(api_key=0, api_version=2, correlation_id=7, client_id="me"),
        body=ProduceRequest(
            acks=-1, timeout_ms=1500, topic_data=[TopicProduceData(name="t", partition_data=[partition])]
        ),
        size_in_bytes=100,
        start_time_ms=1,
    )


def completed(caplog: pytest.LogCaptureFixture, level: int) -> list[str]:
    time = MockTime()
    channel = RequestChannel(1, 10, time)
    request = produce_request()
    request.start_time_ms = time.hi_res_ms()
    for mark in ("request_dequeue_time_ms", "api_local_complete_time_ms", "api_remote_complete_time_ms"):
        time.sleep(10)
        setattr(request, mark, time.hi_res_ms())
    channel.send_response(Response(request))
    assert channel.receive_response(0) is not None
    time.sleep(5)
    with caplog.at_level(level, LOGGER):
        channel.request_completed(request)
    return [record.getMessage() for record in caplog.records if record.name == LOGGER]


def test_at_debug_the_line_has_the_header_and_the_phases(caplog: pytest.LogCaptureFixture) -> None:
    assert completed(caplog, logging.DEBUG) == [
        "Completed request:{api_key=0,api_version=2,correlation_id=7,client_id=me} "
        "from connection 127.0.0.1:9092-127.0.0.1:40404-0;"
        "totalTime:35.000,requestQueueTime:10.000,localTime:10.000,remoteTime:10.000,throttleTime:0.000,"
        "responseQueueTime:0.000,sendTime:5.000,securityProtocol:PLAINTEXT,principal:User:ANONYMOUS,listener:INTERNAL"
    ]


def test_at_trace_it_has_the_fields_too_and_records_by_their_size(caplog: pytest.LogCaptureFixture) -> None:
    (line,) = completed(caplog, TRACE)
    assert " -- {acks=-1,timeout_ms=1500,topic_data=[{name=t,partition_data=[{index=3,records=<61 bytes>}]}]} " in line


def test_at_info_there_is_no_line(caplog: pytest.LogCaptureFixture) -> None:
    assert completed(caplog, logging.INFO) == []


def test_only_the_fields_of_the_version_are_shown() -> None:
    assert "transactional_id" not in struct_text(ProduceRequest(acks=1, timeout_ms=1), 2)
    assert struct_text(ProduceRequest(acks=1, timeout_ms=1), 3).startswith("{transactional_id=null,acks=1")


def test_a_request_of_an_unknown_version_can_be_described() -> None:
    request = produce_request()
    request.header = RequestHeader(api_key=18, api_version=99, correlation_id=1, client_id=None)
    request.body, request.unsupported_api_version = ApiVersionsRequest(), True
    assert re.fullmatch(r"\{api_key=18,api_version=99,.*client_id=null\} -- \{\}", describe(request, details=True))
