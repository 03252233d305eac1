"""From a configuration to a running task: its plan, its feed or micro-batches, its commits."""
