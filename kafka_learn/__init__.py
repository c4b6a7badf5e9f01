"""The workshop for learners: recorded runs and their drawings, notebooks, labs and the docs site.

It imports ``kafka_lite`` but is not imported by it, and is not part of the installed package.
"""
