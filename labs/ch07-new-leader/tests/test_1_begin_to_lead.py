"""Task 1: a follower becomes the leader."""

import pytest


@pytest.mark.points(8, task=1)
def test_the_epoch_begins_at_the_end(replicated):
    """Broker 1 has 4 records of epoch 1 when it begins to lead epoch 2"""
    replicated.follow(2, epoch=1)
    replicated.append(4, epoch=1)
    is_new = replicated.lead(epoch=2)
    partition = replicated.partition
    assert partition.leader_id == 1, f"broker 1 leads now, not {partition.leader_id}"
    assert partition.leader_epoch == 2, f"the state of the request applies: epoch 2, not {partition.leader_epoch}"
    assert replicated.isr == [1, 2, 3], f"and so does its ISR, [1, 2, 3]; yours is {replicated.isr}"
    assert is_new is True, "broker 2 led before: return True"
    assert replicated.log.latest_epoch == 2, (
        "epoch 2 begins at offset 4: the log must know that before the first record, since followers ask for it"
    )
    assert replicated.log.end_offset_for_epoch(1) == (1, 4), (
        "epoch 2 begins where the log ends, so epoch 1 ends at 4; yours ends at "
        f"{replicated.log.end_offset_for_epoch(1)[1]}"
    )


@pytest.mark.points(8, task=1)
def test_the_start_is_where_the_log_ended(replicated):
    """Its high watermark is 2: the last fetch before broker 2 died said so"""
    replicated.follow(2, epoch=1)
    replicated.append(4, epoch=1)
    replicated.high_watermark = 2
    replicated.lead(epoch=2, isr=(1, 2))
    assert replicated.partition._epoch_start_offset == 4, (
        "broker 1 has 4 records, and its predecessor may have committed all 4, though the high watermark is 2: the "
        f"epoch starts at 4, not {replicated.partition._epoch_start_offset}"
    )
    replicated.append(2, epoch=2)
    assert replicated.partition._epoch_start_offset == 4, "records that it appends as leader do not move the start"


@pytest.mark.points(7, task=1)
def test_a_leader_is_told_again(replicated):
    """The controller sends a newer epoch to the broker that leads"""
    replicated.lead(epoch=0)
    replicated.append(3, epoch=0)
    is_new = replicated.lead(epoch=1, isr=(1, 2))
    assert is_new is False, "it led before, under an older epoch: return False"
    found = replicated.partition.leader_epoch
    assert found == 1, f"the state of the request applies: epoch 1, not {found}"
    assert replicated.partition._epoch_start_offset == 3, "the newer epoch begins where the log ends now"
    assert replicated.log.latest_epoch == 1, (
        f"the log must note epoch 1 as well, though broker 1 led before; its last is {replicated.log.latest_epoch}"
    )


@pytest.mark.points(7, task=1)
def test_alone_in_the_isr(replicated):
    """Both others are dead"""
    replicated.follow(2, epoch=1)
    replicated.append(4, epoch=1)
    replicated.lead(epoch=2, isr=(1,))
    assert replicated.high_watermark == 4, (
        "broker 1 is alone in the ISR, so everything in its log is committed at once: HW 4, not "
        f"{replicated.high_watermark}"
    )
