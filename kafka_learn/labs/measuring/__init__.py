"""Faster than the reference: a learner's modules and the shipped ones do the same work, and are measured."""
