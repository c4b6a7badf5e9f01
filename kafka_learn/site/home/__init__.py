"""The first page of the site: a picture of Kafka, made from the book's data."""
