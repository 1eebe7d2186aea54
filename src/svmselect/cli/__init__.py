"""The command line: what is typed (``commands``), what it does, and errors as sentences.

Exit codes: 0 done; 1 a defect of the program; 2 the command or the data cannot be used; 130
interrupted (what was found so far is kept where there is anything).
"""

from svmselect.cli.main import main

__all__ = ["main"]
