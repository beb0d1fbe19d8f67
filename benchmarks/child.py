"""A measurement by name, in this process: what `in_fresh_process` starts. Prints JSON."""

import importlib
import json
import sys

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

if __name__ == "__main__":
    name, arguments = sys.argv[1], json.loads(sys.argv[2])
    measurement = getattr(importlib.import_module(f"benchmarks.{MODULES[name]}"), name)
    print(json.dumps(measurement(**arguments)))
