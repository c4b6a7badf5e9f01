"""Task 5: the names of files say how far a replacement has come."""

import pytest


def touch(folder, *files):
    for name in files:
        offset, _, rest = name.partition(".")
        (folder / f"{int(offset):020d}.{rest}").touch()


def left(folder):
    """``(base offset, suffixes)`` of each file that is there."""
    return sorted(f"{int(file.name[:20])}{file.name[20:]}" for file in folder.iterdir() if file.name[:20].isdigit())


@pytest.mark.points(3, task=5)
def test_what_is_half_done_or_not_wanted_goes(folder, swap_files):
    """.cleaned and .deleted"""
    touch(folder, "20.log", "20.index", "20.log.deleted", "32.timeindex.deleted", "44.log.cleaned", "44.index.cleaned")
    (folder / "notes.txt").touch()
    swap_files.remove_temporary_files()
    assert left(folder) == ["20.index", "20.log"], f"only the plain files of segment 20 stay, not {left(folder)}"
    assert (folder / "notes.txt").exists(), "notes.txt is none of the log's files: leave it alone"


@pytest.mark.points(3, task=5)
def test_a_whole_swap_stays(folder, swap_files):
    """.swap without .cleaned"""
    touch(folder, "20.log.swap", "20.index.swap", "20.timeindex.swap", "32.log")
    swap_files.remove_temporary_files()
    want = ["20.index.swap", "20.log.swap", "20.timeindex.swap", "32.log"]
    assert left(folder) == want, f"a .swap without any .cleaned is a whole compaction: it stays; left: {left(folder)}"


@pytest.mark.points(4, task=5)
def test_half_of_the_renames(folder, swap_files):
    """.swap beside .cleaned of the same segment, or of an earlier one"""
    touch(folder, "20.log.swap", "32.log.swap", "32.index.cleaned", "44.log.swap", "32.log")
    swap_files.remove_temporary_files()
    got = left(folder)
    assert "32.log.swap" not in got, "32.index is .cleaned still: not all of 32 was renamed, and its sources are there"
    assert "44.log.swap" not in got, "renames go from the last part to the first: 44 is a part of what is not complete"
    assert got == ["20.log.swap", "32.log"], f"20.log.swap lies before and is another matter: it stays; left: {got}"


@pytest.mark.points(6, task=5)
def test_a_swap_takes_the_place_of_its_sources(folder, swap_files, write_segment):
    """Sources 20 and 32 were cleaned into one segment"""
    for base_offset in (20, 32, 44):
        write_segment(base_offset)
    swap = write_segment(20, 2, suffix=".swap", offsets=[20, 41])
    content = swap.read_bytes()
    swap_files.complete_swaps()
    got = [name for name in left(folder) if ".log" in name]
    assert "32.log" in got or got == ["20.log", "44.log"], f"20 and 44 should be left, you have {got}"
    assert "32.log" not in got, "the .swap file covers 20 to 43: source 32 is one of its sources, and comes twice now"
    assert got == ["20.log", "44.log"], f"44 lies behind the last offset of the .swap file, it stays; left: {got}"
    assert (folder / f"{20:020d}.log").read_bytes() == content, "20.log must be the cleaned one, not the source"
    assert "20.index" in left(folder), "the indexes of a .swap file get their names too"
    assert not [name for name in left(folder) if name.endswith(".swap")], "no .swap is left when all is done"


@pytest.mark.points(2, task=5)
def test_two_swaps(folder, swap_files, write_segment):
    """Two replacements at once, of which one has lost its sources already"""
    write_segment(44)
    write_segment(20, 2, suffix=".swap")
    write_segment(44, 1, suffix=".swap", offsets=[47])
    swap_files.complete_swaps()
    got = [name for name in left(folder) if ".log" in name]
    assert got == ["20.log", "44.log"], f"both get their names: 20.log and 44.log, not {got}"


@pytest.mark.points(2, task=5)
def test_files_of_others_in_the_range(folder, swap_files):
    """_delete_files_between"""
    touch(folder, "20.log", "20.log.swap", "26.index", "31.timeindex", "32.log")
    (folder / "leader-epoch-checkpoint").touch()
    swap_files._delete_files_between(20, 32)
    got = left(folder)
    assert "20.log.swap" in got, "the .swap file itself is in the range: it must not delete itself"
    assert "32.log" in got, "the end 32 is not included"
    assert got == ["20.log.swap", "32.log"], f"20.log, 26.index and 31.timeindex go; left: {got}"
    assert (folder / "leader-epoch-checkpoint").exists(), "leader-epoch-checkpoint has no base offset: leave it alone"
