"""AutoClassifier as a model of AutoGluon, and so of TabArena."""

from typing import Any

from autogluon.core.models import AbstractModel

from svmselect import AutoClassifier


class SVMSelectModel(AbstractModel):  # type: ignore[misc]
    """Categories and gaps are left to AutoClassifier, which takes the table as it is."""

    ag_key = "SVMSELECT"
    ag_name = "SVMSelect"
    seed_name = "random_state"

    def _fit(
        self,
        X: Any,
        y: Any,
        time_limit: float | None = None,
        num_cpus: int | None = None,
        sample_weight: Any = None,
        **kwargs: Any,
    ) -> None:
        X = self.preprocess(X, y=y, is_train=True)
        options: dict[str, Any] = {"n_jobs": num_cpus}
        if time_limit is not None:
            options["max_time"] = 0.8 * time_limit  # the final training comes after the search
        options |= self._get_model_params()
        self.model = AutoClassifier(**options).fit(X, y, sample_weight=sample_weight)

    @classmethod
    def supported_problem_types(cls) -> list[str]:
        """No regression."""
        return ["binary", "multiclass"]

    def _estimate_memory_usage(self, X: Any, **kwargs: Any) -> int:
        rows = min(len(X), 10_000)  # up to which there are matrices of rows by rows
        return 4 * 8 * rows**2 + 4 * 8 * len(X) * 1000
