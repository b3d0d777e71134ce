"""The demo: the whole way from an example config to a data set, on a Label Studio of its own."""
