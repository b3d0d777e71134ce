"""Argilla: settings, records and responses, in two layouts; pure, and without Argilla's SDK."""
