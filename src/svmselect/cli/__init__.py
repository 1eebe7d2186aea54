"""The command line: one command a file, and the entry point that turns errors into sentences.

Exit codes: 0 done; 1 a defect of the program; 2 the command or the data cannot be used; 130
interrupted (what was found so far is kept where there is anything).
"""

from svmselect.cli.main import main

__all__ = ["main"]
