"""`python -m repro_runner` is `graphbreak`."""

import sys

from repro_runner.cli import main

sys.exit(main())
