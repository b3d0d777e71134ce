"""Traces of coding agents: readers, one module for each format, and writers."""
