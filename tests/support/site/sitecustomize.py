"""Make jobs that tests have launched use a test engine. Python imports this module if PYTHONPATH has its folder.

TESTS_ENGINE names the engine as module:class. It runs without the sandbox, because the sandbox hides the tests.
"""

import os
import sys
from pathlib import Path

if (location := os.environ.get("TESTS_ENGINE")) and "evaluator" in sys.orig_argv:
    sys.path.insert(0, str(Path(__file__).parents[3]))
    from evaluator.engines.registry import ENGINES
    from evaluator.job import command

    for name in ("chat", "extractive"):
        ENGINES[name] = ENGINES[name]._replace(location=location)
    vars(command)["sandbox_command"] = lambda command, policy: command
