"""Readers and writers, one folder per outside format. Pure: no network, no clock, no environment."""
