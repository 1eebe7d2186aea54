from svmselect import criteria as criteria
from svmselect import kernels as kernels
from svmselect import machine as machine
from svmselect import plots as plots
from svmselect import report as report
from svmselect.estimators import AutoClassifier as AutoClassifier
from svmselect.estimators import AutoKLR as AutoKLR
from svmselect.estimators import AutoSVC as AutoSVC
from svmselect.estimators.persist import load as load
from svmselect.estimators.persist import save as save
from svmselect.selection import Selection as Selection
from svmselect.selection import score as score
from svmselect.selection import select as select

__version__: str
__all__ = [
    "AutoClassifier",
    "AutoKLR",
    "AutoSVC",
    "Selection",
    "__version__",
    "criteria",
    "kernels",
    "load",
    "machine",
    "plots",
    "report",
    "save",
    "score",
    "select",
]
