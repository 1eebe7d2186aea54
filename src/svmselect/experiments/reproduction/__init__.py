"""What every paper's reproduction shares: tasks, the file of trials, rows, verdicts, pages."""
