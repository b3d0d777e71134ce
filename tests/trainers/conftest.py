"""Collected where the environment of the trainers is named, which `make test-trainers` does."""

import os

collect_ignore = [] if os.environ.get("POTATO_BRIDGE_TEST_TRAINERS") else ["test_trainers.py"]
