"""Name of a measurement -> its result as JSON, measured in this process; started by `in_fresh_process`."""

import importlib
import json
import sys
import traceback

MODULES = {
    "ratios": "ratios",
    "growth": "growth",
    "memory": "costs",
    "startup": "costs",
    "converged": "costs",
    "workers": "costs",
    "families": "costs",
    "metrics": "metrics",
    "peer": "peer",
}


def main() -> int:
    """Print the result and return 0; after an error, print its message, return 1, and leave the traceback on stderr."""
    name, arguments = sys.argv[1], json.loads(sys.argv[2])
    try:
        measurement = getattr(importlib.import_module(f"benchmarks.{MODULES[name]}"), name)
        print(json.dumps(measurement(**arguments)))
    except Exception as error:
        traceback.print_exc()
        print(json.dumps(str(error) or type(error).__name__))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
