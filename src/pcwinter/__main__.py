"""`python -m pcwinter`: the command line."""

import sys

from pcwinter.cli.main import main

sys.exit(main())
