"""The page *Limits* has the numbers of the source, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_lite.common import bounded_log
from kafka_lite.common.process import garbage
from kafka_lite.coordinator.group import member_metadata
from kafka_lite.coordinator.transaction import transaction_state_manager
from kafka_lite.log.files import converted_records
from kafka_lite.log.validation import prepared_records
from kafka_lite.metrics import metrics_http_server
from kafka_lite.network import large_requests, receive, request_parser
from kafka_lite.protocol import decoder_compiler, encoder_compiler, schema
from kafka_lite.record import compression
from kafka_lite.server import heavy_produces, quick_batches, quick_requests
from kafka_lite.server.admin import admin_manager, config_admin_manager
from kafka_lite.server.apis import group_apis, metadata_apis, partition_admin_apis
from kafka_lite.server.fetch_sessions import fetch_session_cache
from kafka_lite.server.kafka_config import KAFKA_CONFIG_DEF

PAGES = Path(__file__).parents[2] / "docs" / "reference"
MODULES = (
    bounded_log, receive, request_parser, decoder_compiler, schema, quick_requests, quick_batches, heavy_produces,
    large_requests, admin_manager, config_admin_manager, metadata_apis, compression, fetch_session_cache, group_apis,
    converted_records, garbage, metrics_http_server, encoder_compiler,
    partition_admin_apis, member_metadata, transaction_state_manager, prepared_records,
)  # fmt: skip
CONSTANT = re.compile(r"([\d,]+)[^|\d]{0,12}[（(]`([A-Z_]+)`[)）]")
"""``10,000 (`MAX_NEW_PARTITIONS`)``, also with a word between them."""
KEY = re.compile(r"`([a-z.]+)`[,，] ?([\d,]+)")


@pytest.mark.parametrize("page", ["limits.md", "limits.zh.md"])
def test_each_number_is_that_of_its_constant_or_key(page: str) -> None:
    text = (PAGES / page).read_text()
    constants = {name: getattr(module, name) for module in MODULES for name in vars(module) if name.isupper()}
    told = {name: int(number.replace(",", "")) for number, name in CONSTANT.findall(text)}
    assert told == {name: constants[name] for name in told}
    assert len(told) >= 12
    keys = {name: int(number.replace(",", "")) for name, number in KEY.findall(text)}
    assert keys == {name: KAFKA_CONFIG_DEF.keys[name].default for name in keys}
    assert len(keys) == 4
