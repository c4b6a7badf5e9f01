"""The part of a lab's page in which one writes and checks it."""
