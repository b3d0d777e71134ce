"""Data sets that train, from traces and records: one module per target."""
