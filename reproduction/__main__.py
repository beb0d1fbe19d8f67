"""`python -m reproduction STUDIES`: update reproduction/results, docs/reproduction.md and docs/figures."""

import sys
from pathlib import Path

from reproduction.page import publish

if len(sys.argv) != 2:
    sys.exit("usage: python -m reproduction STUDIES, such as runs/reproduce")
try:
    print(f"Written: {publish(Path(sys.argv[1]))}")
except (OSError, ValueError) as error:
    sys.exit(str(error))
