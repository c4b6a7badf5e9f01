"""The data pipeline on PySpark: flights and weather through the broker, and what comes out of them."""
