"""Push and pull: plan, then act; exactly once."""
