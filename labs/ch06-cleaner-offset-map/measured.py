"""What is measured: a cleaning's way through the map."""

from kafka_lite.log.cleaning.skimpy_offset_map import SkimpyOffsetMap

SHOWN = "put 1,500 records of 900 keys into a map of 1,000 slots, get 900 keys and 100 others, and clear it"
SHOWN_ZH = "把 900 个键的 1,500 条记录放进 1,000 个槽的映射，取出这 900 个键和另外 100 个键，再清空"
ROUNDS = 40


def prepare(_folder):
    offset_map = SkimpyOffsetMap(24 * 1000)
    keys = [b"key %d" % number for number in range(1000)]

    def one_round(_number):
        for offset in range(1500):
            offset_map.put(keys[offset % 900], offset)
        size, latest = offset_map.size, offset_map.latest_offset
        found = [offset_map.get(key) for key in keys]
        offset_map.clear()
        return size, latest, sum(found), found[598:602], found[899:902], offset_map.size

    return one_round
