"""What is measured: requests that wait in the purgatory, most of which are cancelled."""

from kafka_lite.common.purgatory.timer import SystemTimer, TimerTask
from kafka_lite.common.time import MockTime

SHOWN = "add 500 tasks of 1 ms to 30 s, cancel 400 of them, and let the clock run until the others have run"
SHOWN_ZH = "加入 500 个 1 毫秒到 30 秒的任务，取消其中 400 个，让时钟走到其余的都运行完"
ROUNDS = 150


class Task(TimerTask):
    """Notes the time at which it runs."""

    def __init__(self, delay_ms, ran, time):
        super().__init__(delay_ms)
        self._ran, self._time = ran, time

    def run(self):
        self._ran.append((self.delay_ms, self._time.hi_res_ms()))


def prepare(_folder):
    time = MockTime()
    timer = SystemTimer(1, 20, time)

    def one_round(_number):
        ran, began = [], time.hi_res_ms()
        tasks = [Task(1 + number * 7919 % 30_000, ran, time) for number in range(500)]
        for task in tasks:
            timer.add(task)
        for number, task in enumerate(tasks):
            if number % 5:
                task.cancel()
        while timer.size:
            timer.advance_clock(200)
        late = [at - began - delay_ms for delay_ms, at in ran]
        return len(ran), max(late), sorted(delay_ms for delay_ms, _ in ran)[:5]

    return one_round
