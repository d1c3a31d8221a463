"""What the course costs, against goals: `python -m benchmarks` runs all, `python -m benchmarks imports` one."""


def report(name: str, value: float, unit: str, goal: float) -> None:
    """One line: what was measured, the goal, and whether it is met."""
    print(
        f"{name:<56} {value:7.2f} {unit:<2}  goal < {goal:g} {unit:<2}  {'met' if value < goal else 'MISSED'}",
        flush=True,
    )
