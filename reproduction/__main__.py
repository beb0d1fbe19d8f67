"""Update reproduction/results, docs/reproduction.md and docs/figures from the results of `pcwinter reproduce`."""

import argparse
import sys
from pathlib import Path

from reproduction.page import publish

parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
parser.add_argument("studies", type=Path, metavar="STUDIES", help="folder of the studies, such as runs/reproduce")
options = parser.parse_args()
try:
    print(f"Written: {publish(options.studies)}")
except (OSError, ValueError) as error:
    sys.exit(str(error))
