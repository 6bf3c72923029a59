"""``python -m barrier_lab``."""

import sys

from barrier_lab.cli import package_main

sys.exit(package_main())
