"""The workshop for learners: recorded runs and their drawings, notebooks, labs and the docs site.

It imports ``kafka_lite`` and is not imported by it. An installed package comes without it.
"""
