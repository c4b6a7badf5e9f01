"""The PySpark data pipeline: sends flights and weather through the broker and analyses them."""
