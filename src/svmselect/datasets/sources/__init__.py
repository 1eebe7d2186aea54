"""Where data sets come from: one kind of source a file, all with ``read`` and ``way``."""
