"""The stages of the controller's pipeline: one pure function each, from what the stages before it found out."""
