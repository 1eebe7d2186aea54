"""Data sets: generators, and the papers' toys."""
