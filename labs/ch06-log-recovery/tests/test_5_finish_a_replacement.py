"""Task 5: the names of files show how far a replacement has come."""

import pytest


def touch(folder, *files):
    for name in files:
        offset, _, rest = name.partition(".")
        (folder / f"{int(offset):020d}.{rest}").touch()


def left(folder):
    """``(base offset, suffixes)`` of each existing file."""
    return sorted(f"{int(file.name[:20])}{file.name[20:]}" for file in folder.iterdir() if file.name[:20].isdigit())


@pytest.mark.points(2, task=5)
def test_incomplete_and_deleted_files_are_removed(folder, swap_files):
    """.cleaned and .deleted"""
    touch(folder, "20.log", "20.index", "20.log.deleted", "32.timeindex.deleted", "44.log.cleaned", "44.index.cleaned")
    for name in ("notes.txt", "notes.swap"):
        (folder / name).touch()
    try:
        swap_files.remove_temporary_files()
    except TypeError as error:
        pytest.fail(f"notes.swap has no base offset, so it cannot be compared with one: ignore it ({error})")
    assert left(folder) == ["20.index", "20.log"], f"only the plain files of segment 20 stay, not {left(folder)}"
    for name in ("notes.txt", "notes.swap"):
        assert (folder / name).exists(), f"{name} is no file of the log: ignore it"


@pytest.mark.points(3, task=5)
def test_a_complete_swap_stays(folder, swap_files):
    """.swap without .cleaned"""
    touch(folder, "20.log.swap", "20.index.swap", "20.timeindex.swap", "32.log")
    swap_files.remove_temporary_files()
    want = ["20.index.swap", "20.log.swap", "20.timeindex.swap", "32.log"]
    assert left(folder) == want, (
        f"a .swap without any .cleaned is a complete compaction: it stays; left: {left(folder)}"
    )


@pytest.mark.points(4, task=5)
def test_half_of_the_renames(folder, swap_files):
    """.swap beside .cleaned of the same segment, or of an earlier one"""
    touch(folder, "20.log.swap", "32.log.swap", "32.index.cleaned", "44.log.swap", "32.log")
    swap_files.remove_temporary_files()
    got = left(folder)
    assert "32.log.swap" not in got, (
        "32.index is still .cleaned: not all of 32 was renamed, and its sources still exist"
    )
    assert "44.log.swap" not in got, (
        "segments are renamed from the last to the first: 44 belongs to an incomplete replacement"
    )
    assert got == ["20.log.swap", "32.log"], f"20.log.swap comes before and is independent: it stays; left: {got}"


@pytest.mark.points(2, task=5)
def test_several_cleaned_segments(folder, swap_files):
    """The first one decides, also if it begins at 0"""
    touch(folder, "20.log.swap", "20.index.cleaned", "32.log.swap", "44.index.cleaned")
    swap_files.remove_temporary_files()
    got = left(folder)
    assert got == [], f"from the first .cleaned on, 20, every .swap is incomplete, so nothing stays; left: {got}"
    touch(folder, "0.log.swap", "0.index.cleaned", "32.log.swap")
    swap_files.remove_temporary_files()
    got = left(folder)
    assert got == [], f"the first .cleaned is that of 0, an offset like any other: nothing stays; left: {got}"


@pytest.mark.points(5, task=5)
def test_a_swap_replaces_its_sources(folder, swap_files, write_segment):
    """Sources 20 and 32 were cleaned into one segment"""
    for base_offset in (20, 32, 44):
        write_segment(base_offset)
    swap = write_segment(20, 2, suffix=".swap", offsets=[20, 41])
    content = swap.read_bytes()
    swap_files.complete_swaps()
    got = [name for name in left(folder) if ".log" in name]
    assert "32.log" in got or got == ["20.log", "44.log"], f"20 and 44 should be left, you have {got}"
    assert "32.log" not in got, (
        "the .swap file covers 20 to 43: source 32 is one of its sources, and would be there twice"
    )
    assert got == ["20.log", "44.log"], f"44 comes after the last offset of the .swap file, so it stays; left: {got}"
    assert (folder / f"{20:020d}.log").read_bytes() == content, "20.log must be the cleaned file, not the source"
    assert "20.index" in left(folder), "the indexes of a .swap file are renamed, too"
    assert not [name for name in left(folder) if name.endswith(".swap")], "no .swap is left in the end"


@pytest.mark.points(2, task=5)
def test_two_swaps(folder, swap_files, write_segment):
    """Two replacements at once, one of which has already lost its sources"""
    write_segment(44)
    write_segment(20, 2, suffix=".swap")
    write_segment(56)
    write_segment(44, 2, suffix=".swap", offsets=[47, 60])
    (folder / "notes.log.swap").touch()
    try:
        swap_files.complete_swaps()
    except TypeError as error:
        pytest.fail(f"notes.log.swap has no base offset, so it replaces no segment: ignore it ({error})")
    got = [name for name in left(folder) if ".log" in name]
    assert got == ["20.log", "44.log"], (
        f"both replace their sources, 56 is one of 44's: 20.log and 44.log are left, not {got}"
    )


@pytest.mark.points(2, task=5)
def test_other_files_in_the_range(folder, swap_files):
    """_delete_files_between"""
    touch(folder, "20.log", "20.log.swap", "26.index", "31.timeindex", "32.log")
    (folder / "leader-epoch-checkpoint").touch()
    swap_files._delete_files_between(20, 32)
    got = left(folder)
    assert "20.log.swap" in got, "the .swap file itself is in the range: it must not delete itself"
    assert "32.log" in got, "the end 32 is not included"
    assert got == ["20.log.swap", "32.log"], f"20.log, 26.index and 31.timeindex are deleted; left: {got}"
    assert (folder / "leader-epoch-checkpoint").exists(), "leader-epoch-checkpoint has no base offset: ignore it"
