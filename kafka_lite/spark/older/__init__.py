"""The reader and the writer of streams for PySpark 4.0 and 4.1, whose API has less."""
