"""Potato: configs, items and annotation output."""
