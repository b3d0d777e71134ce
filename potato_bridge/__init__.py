"""potato-bridge: human judgement of coding agents, from the annotation tool a team runs to data that trains."""

__version__ = "0.1.0"
