"""`python -m pcwinter`: the command line."""

import sys

from pcwinter.cli import main

sys.exit(main())
