"""Push, pull and status on Label Studio: what the neutral parts of `sync` need to know of it."""
