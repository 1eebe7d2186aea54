"""Which kernel?

Five forms of kernel are searched and compared by ABIC, which charges one unit of log evidence for
each hyperparameter. The problem is five bent clouds in the plane.
"""

import matplotlib.pyplot as plt
import numpy as np

from svmselect import select
from svmselect.datasets.toys import five_gaussians
from svmselect.kernels import RBF, Matern, Polynomial

X, y = five_gaussians(200, random_state=0)
X_test, y_test = five_gaussians(4000, random_state=1)
forms = {
    "cubic": Polynomial(3, scale=0.1),
    "Gaussian": RBF(1.0),
    "Gaussian, two scales": RBF([1.0, 1.0]),
    "Matern 1/2": Matern(1.0, nu=0.5),
    "Matern 5/2": Matern(1.0, nu=2.5),
}
found = {}
for name, kernel in forms.items():
    chosen = select(X, y, "abic", search="lbfgs", kernel=kernel, loss="logistic", random_state=0)
    error = (chosen.predict(X_test) != y_test).mean()
    found[name] = (chosen.value, error)
    print(f"{name:22} ABIC {chosen.value:7.1f}   error on new rows {error:.3f}   {chosen.kernel}")

figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
value, error = np.array(list(found.values())).T
ax.scatter(value, error, zorder=2)
for name, (x, e) in found.items():
    ax.annotate(name, (x, e), xytext=(6, 4), textcoords="offset points")
ax.margins(0.15)
ax.set(xlabel="ABIC (smaller is better)", ylabel="error on new rows", title="Five forms of kernel")
plt.show()
