"""Machines trained exactly: support vector machines and kernel logistic regression."""

from svmselect.machine.active_system import ActiveSystem
from svmselect.machine.radius import Ball, enclosing_ball
from svmselect.machine.solution import Solution
from svmselect.machine.train import solve

__all__ = ["ActiveSystem", "Ball", "Solution", "enclosing_ball", "solve"]
