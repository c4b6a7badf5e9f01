"""``python -m pipeline``, which is ``make pipeline``.

Kafka 0.10.2: core/.../Kafka.scala · book 1.4.1
"""

from __future__ import annotations

import sys

from pipeline.run.command import main

if __name__ == "__main__":
    sys.exit(main())
