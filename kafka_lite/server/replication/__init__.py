"""What brokers say to each other: followers fetch, leaders change the ISR, the controller gives orders."""
