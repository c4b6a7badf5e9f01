"""What every client shares."""
