"""The numbers of the APIs: 0.10.2's, those with codecs, and later ones that only have a name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_lite.protocol.api_key import LATER_APIS, ApiKey

DATA = Path(__file__).parents[2] / "data"

# ApiKeys.java of 0.10.2, under today's names.
KEYS_OF_0_10_2 = [
    "PRODUCE",
    "FETCH",
    "LIST_OFFSETS",
    "METADATA",
    "LEADER_AND_ISR",
    "STOP_REPLICA",
    "UPDATE_METADATA",
    "CONTROLLED_SHUTDOWN",
    "OFFSET_COMMIT",
    "OFFSET_FETCH",
    "FIND_COORDINATOR",
    "JOIN_GROUP",
    "HEARTBEAT",
    "LEAVE_GROUP",
    "SYNC_GROUP",
    "DESCRIBE_GROUPS",
    "LIST_GROUPS",
    "SASL_HANDSHAKE",
    "API_VERSIONS",
    "CREATE_TOPICS",
    "DELETE_TOPICS",
]


def test_the_first_keys_are_those_of_0_10_2() -> None:
    assert [key.name for key in list(ApiKey)[: len(KEYS_OF_0_10_2)]] == KEYS_OF_0_10_2
    assert [int(key) for key in list(ApiKey)[: len(KEYS_OF_0_10_2)]] == list(range(21))


@pytest.mark.parametrize(
    ("key", "number"),
    [
        (ApiKey.DELETE_RECORDS, 21),
        (ApiKey.INIT_PRODUCER_ID, 22),
        (ApiKey.TXN_OFFSET_COMMIT, 28),
        (ApiKey.DESCRIBE_CONFIGS, 32),
        (ApiKey.SASL_AUTHENTICATE, 36),
        (ApiKey.DELETE_GROUPS, 42),
        (ApiKey.INCREMENTAL_ALTER_CONFIGS, 44),
        (ApiKey.OFFSET_DELETE, 47),
        (ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 51),
        (ApiKey.DESCRIBE_CLUSTER, 60),
        (ApiKey.LIST_TRANSACTIONS, 66),
    ],
)
def test_later_keys_have_the_numbers_of_their_proposals(key: ApiKey, number: int) -> None:
    assert key == number
    assert ApiKey(number) is key


def test_every_number_up_to_the_last_has_either_a_codec_or_a_name() -> None:
    codecs = {int(key) for key in ApiKey}
    assert not codecs & set(LATER_APIS)
    assert sorted(codecs | set(LATER_APIS)) == list(range(93))


def test_names_of_later_apis_are_unique_and_in_kafkas_spelling() -> None:
    names = [*LATER_APIS.values(), *(key.name.replace("_", "").title() for key in ApiKey)]
    assert len({name.lower() for name in names}) == len(names)
    assert all(name[0].isupper() and name.isalpha() for name in LATER_APIS.values())


@pytest.mark.parametrize("number", [-1, 52, 70, 93, 0x7FFF])
def test_a_number_without_codec_is_no_api_key(number: int) -> None:
    with pytest.raises(ValueError, match=f"{number} is not a valid ApiKey"):
        ApiKey(number)


@pytest.mark.parametrize("file", ["client-golden-0.10.2.json", "inter-broker-0.10.2.json"])
def test_frames_of_0_10_2_begin_with_one_of_its_keys(file: str) -> None:
    for entry in json.loads((DATA / file).read_text()):
        number = int.from_bytes(bytes.fromhex(entry["request_hex"])[:2], "big")
        assert number == entry["api_key"]
        assert ApiKey(number) <= ApiKey.DELETE_TOPICS
