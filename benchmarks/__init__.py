"""What the course costs, against goals.

    python -m benchmarks                all of them
    python -m benchmarks imports        one
    python -m benchmarks --smoke        all at tiny sizes: whether they run, and nothing about speed

A missed goal makes the exit status 1, except with --smoke.
"""

missed: list[str] = []  # the goals that were not met, by name


def report(name: str, value: float, unit: str, goal: float) -> None:
    """One line: what was measured, the goal, and whether it is met."""
    met = value < goal
    print(f"{name:<56} {value:7.2f} {unit:<2}  goal < {goal:g} {unit:<2}  {'met' if met else 'MISSED'}", flush=True)
    if not met:
        missed.append(name)
