"""The broker: configuration, request handlers, replica manager, and what starts and stops them."""
