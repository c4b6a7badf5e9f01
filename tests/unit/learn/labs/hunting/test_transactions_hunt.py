"""The promise of the last stable offset, as its hunt asks for it."""

from __future__ import annotations

import pytest

from kafka_learn.labs.hunting.transactions_hunt import LogOfTransactions, main
from kafka_lite.log.producers.open_transactions import CompletedTxn, OpenTransactions


def test_what_readers_may_not_read_yet_is_named() -> None:
    log = LogOfTransactions()
    log.append(begins=(0, 7))
    log.replicate(1)
    log.read()
    kept = log.state.transactions
    log.state.transactions = OpenTransactions()
    with pytest.raises(AssertionError, match="read up to 1, but the transaction that begins at 0 is open"):
        log.read()
    log.state.transactions = kept
    log.append(ends=CompletedTxn(7, 0, 1, is_aborted=False))
    log.read()
    log.state.transactions = OpenTransactions()
    with pytest.raises(AssertionError, match="that begins at 0 is at 1, and the high watermark at 1"):
        log.read()


def test_pythons_own_threads_keep_the_promise() -> None:
    main()
