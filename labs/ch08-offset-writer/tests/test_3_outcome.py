"""Task 3: the outcome of a flush."""

import pytest

A = {"file": "a"}


@pytest.mark.points(10, task=3)
def test_success_and_error_of_the_current_flush(writer):
    """Flush 0 fails, flush 1 succeeds"""
    writer.offset(A, {"row": 5})
    writer.begin_flush()
    assert writer._finish(0, OSError("full")) is True, "flush 0 is the current one: its outcome counts"
    assert writer._to_flush is None, "the flush has ended"
    assert writer.begin_flush() is True, "the write has failed: row 5 must be there for the next flush"
    assert writer._finish(1, None) is True, "after an error the number is used up: this is flush 1"
    assert writer._to_flush is None, "after a success the next flush may begin: self._to_flush is None"
    assert writer.begin_flush() is False, "row 5 is stored: there is nothing more to store"
    assert writer._flush_id == 2, (
        "a success uses the number up as well: flush 1 is over, and the next one is 2, not "
        f"{writer._flush_id}, or an outcome that comes twice ends the wrong one"
    )


@pytest.mark.points(10, task=3)
def test_the_outcome_of_an_old_flush(writer):
    """Flush 0 is given up, flush 1 begins, then 0 ends"""
    for error in (None, OSError("full")):
        number = writer._flush_id
        writer.offset(A, {"row": 5})
        writer.begin_flush()
        writer.cancel_flush()
        writer.begin_flush()
        counted = writer._finish(number, error)
        assert counted is False, f"flush {number} belongs to a flush that was given up: return False"
        assert writer._to_flush, f"the outcome {error!r} belongs to a flush that was given up: the current one goes on"
        writer._finish(writer._flush_id, None)
