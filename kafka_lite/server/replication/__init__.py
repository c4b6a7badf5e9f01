"""Requests between brokers: followers fetch, leaders change the ISR, the controller gives orders."""
