"""
Which kernel?
=============

Five forms of kernel are searched and compared by ABIC, which charges one unit of log evidence for
each hyperparameter. The problem is five bent clouds in the plane.
"""

import matplotlib.pyplot as plt

from svmselect import select
from svmselect.datasets import five_gaussians
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

figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
names = sorted(found, key=lambda name: -found[name][0])
ax.barh(names, [found[name][0] for name in names], color="#1f7a8c", height=0.6)
for place, name in enumerate(names):
    text = f"  error on new rows {found[name][1]:.1%}"
    ax.text(found[name][0], place, text, va="center", fontsize="small")
ax.set(xlabel="ABIC (smaller is better)", xlim=(0, 1.5 * max(found[names[0]][0], 0)))
plt.show()
