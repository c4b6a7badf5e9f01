"""Programs of the live cluster's clients, and what is known of them from outside."""
