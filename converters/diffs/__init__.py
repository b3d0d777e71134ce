"""Patches, in every form that agents and version-control tools write them."""
