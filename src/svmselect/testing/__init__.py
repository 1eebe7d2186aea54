"""A conformance kit: walk a criterion or a kernel, ours or yours, through what all must do.

    from svmselect.testing import check_criterion
    check_criterion(MyCriterion())

or, one test for each check,

    @pytest.mark.parametrize(("name", "check"), criterion_checks(MyCriterion()))
    def test_conformance(name, check):
        check()
"""

from svmselect.testing.cases import KERNELS, REGIMES, Case, Folds, make_case, twinned, weighted
from svmselect.testing.criteria import check_criterion, criterion_checks
from svmselect.testing.differences import Comparison, compare
from svmselect.testing.kernels import Untouchable, check_kernel, kernel_checks
from svmselect.testing.searches import check_search, search_checks

__all__ = [
    "KERNELS",
    "REGIMES",
    "Case",
    "Comparison",
    "Folds",
    "Untouchable",
    "check_criterion",
    "check_kernel",
    "check_search",
    "compare",
    "criterion_checks",
    "kernel_checks",
    "make_case",
    "search_checks",
    "twinned",
    "weighted",
]
