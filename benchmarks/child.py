"""A measurement by name, in this process: what `in_fresh_process` starts. Prints JSON."""

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
    "peer": "peer",
}


def main() -> int:
    """Print the result; or the reason why there is none, with status 1 and the traceback on stderr."""
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
