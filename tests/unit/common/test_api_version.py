import pytest

from kafka_lite.common.api_version import LATEST, RELEASES, ApiVersion, InvalidVersionError


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("0.8.2", ApiVersion.KAFKA_0_8_2),
        ("0.8.2.1", ApiVersion.KAFKA_0_8_2),
        ("0.10.2", ApiVersion.KAFKA_0_10_2_IV0),
        ("0.10.0", ApiVersion.KAFKA_0_10_0_IV1),
        ("0.10.0-IV0", ApiVersion.KAFKA_0_10_0_IV0),
        ("3.0", ApiVersion.KAFKA_3_0_IV1),
        ("3.0.1", ApiVersion.KAFKA_3_0_IV1),
        ("3.0-IV0", ApiVersion.KAFKA_3_0_IV0),
        ("3.9", ApiVersion.KAFKA_3_9_IV0),
    ],
)
def test_names_of_versions_are_parsed(text, row):
    assert ApiVersion.parse(text) is row


@pytest.mark.parametrize("text", ["", "0.12", "4.1", "0.10", "banana", "3.0-IV9"])
def test_unknown_names_are_rejected(text):
    with pytest.raises(InvalidVersionError, match=r"0\.10\.2"):
        ApiVersion.parse(text)


def test_versions_are_ordered_and_have_a_message_format():
    rows = list(ApiVersion)
    assert sorted(rows, key=lambda row: row) == rows
    assert ApiVersion.KAFKA_0_9_0 < ApiVersion.KAFKA_0_10_0_IV0 < ApiVersion.KAFKA_1_0_IV0 <= LATEST
    assert [row.magic for row in rows] == sorted(row.magic for row in rows)
    assert {ApiVersion.parse(release).magic for release in RELEASES if release.startswith("0.10")} == {1}
    assert str(ApiVersion.KAFKA_0_8_0) == "0.8.0"
