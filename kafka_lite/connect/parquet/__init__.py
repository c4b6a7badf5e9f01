"""A sink that writes Parquet files, each record exactly once, on pyarrow: the extra ``kafka-lite[connect]``.

The configuration keys are those of the widely used sinks for object stores · book 8.3.2
"""
