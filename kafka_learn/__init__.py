"""What readers learn with: recorded runs and their drawings, notebooks, labs and the docs site.

It knows ``kafka_lite``; ``kafka_lite`` does not know it, and an installed package comes without it.
"""
