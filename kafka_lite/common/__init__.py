"""What every part may use: time, errors, configuration, threads, schedulers. Imports nothing else of kafka_lite."""
