"""``python -m kafka_learn.site``: see ``docs_site``."""

from kafka_learn.site.docs_site import main

raise SystemExit(main())
