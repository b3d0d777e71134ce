"""Data sets that train, from traces and records: one module per target, and a row in `targets.py`.

`dataset.export` is the way in. Importing this package imports neither pyarrow nor datasets: they load when files are
written.
"""
