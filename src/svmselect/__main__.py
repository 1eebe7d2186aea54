"""``python -m svmselect`` is the command ``svmselect``."""

from svmselect.cli import main

if __name__ == "__main__":
    main()
