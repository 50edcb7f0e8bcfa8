"""Found by Python at its start where PYTHONPATH leads here: jobs that tests have launched use an engine of the tests.

TESTS_ENGINE names it, as module:class. It runs outside of the sandbox, which shows no tests.
"""

import os
import sys
from pathlib import Path

if (location := os.environ.get("TESTS_ENGINE")) and "evaluator" in sys.orig_argv:
    sys.path.insert(0, str(Path(__file__).parents[3]))
    from evaluator.engines.registry import ENGINES
    from evaluator.job import process

    for name in ("chat", "extractive"):
        ENGINES[name] = ENGINES[name]._replace(location=location)
    vars(process)["sandbox_command"] = lambda command, policy: command
