"""Task 4: what is in a data directory."""

import pytest

from pipeline.tables.log_files import segment_files


@pytest.mark.points(4, task=4)
def test_names_of_folders_and_files(log_folder):
    """Topics, partitions, base offsets"""
    folder = log_folder({"flights-0": {0: [], 1834: []}, "flights-11": {7: []}})
    got = [row[:3] for row in segment_files(folder)]
    want = [("flights", 0, 0), ("flights", 0, 1834), ("flights", 11, 7)]
    assert got == want, f"the segments are {want}; you have {got}"
    path = segment_files(folder)[0][3]
    assert isinstance(path, str), (
        f"the path is a string, which Spark can send to its workers, not {type(path).__name__}"
    )
    assert path.endswith("flights-0/00000000000000000000.log"), f"the path of the .log file, not {path}"


@pytest.mark.points(3, task=4)
def test_a_topic_with_a_dash(log_folder):
    """departure-delays-by-hour-3"""
    got = [row[:2] for row in segment_files(log_folder({"departure-delays-by-hour-3": {0: []}}))]
    assert got == [("departure-delays-by-hour", 3)], f"partition 3 of departure-delays-by-hour; you have {got}"


@pytest.mark.points(3, task=4)
def test_other_folders_and_files_are_ignored(log_folder):
    """What else is in a data directory"""
    folder = log_folder({"flights-0": {0: []}, "lost+found": {0: []}, "gone-1.a1b2-delete": {0: []}})
    (folder / "flights-0" / "00000000000000000900.log.deleted").touch()
    (folder / "flights-0" / "00000000000000000000.index").touch()
    (folder / "meta.properties").touch()
    try:
        got = [row[:3] for row in segment_files(folder)]
    except ValueError as error:
        pytest.fail(f"a data directory has other folders, too, such as lost+found: ignore them ({error})")
    assert got == [("flights", 0, 0)], f"only flights-0 is a partition, and only its .log a segment; you have {got}"
