"""What the course costs, against goals.

    python -m benchmarks                all of them, and at the end the table that README may quote
    python -m benchmarks imports        one
    python -m benchmarks --smoke        all at tiny sizes: whether they run, and nothing about speed

A missed goal makes the exit status 1, except with --smoke.
"""

missed: list[str] = []  # the goals that were not met, by name
table: list[tuple[str, str, str, str]] = []  # what, now, goal, beside which peer


def report(name: str, value: float, unit: str, goal: float, *, at_least: bool = False, peer: str | None = None) -> None:
    """One line: what was measured, the goal, and whether it is met. With a peer it is a row of the table, too.

    at_least: the goal is a lower bound. peer: what it is measured beside, "" for nothing.
    """
    met, sign = (value >= goal, "≥") if at_least else (value < goal, "<")
    verdict = "met" if met else "MISSED"
    print(f"{name:<56} {value:7.2f} {unit:<2}  goal {sign} {goal:g} {unit:<2}  {verdict}", flush=True)
    if not met:
        missed.append(name)
    if peer is not None:
        table.append((name, f"{value:.4g} {unit}", f"{sign} {goal:g} {unit}, {verdict}", peer))


def not_measured(name: str, why: str) -> None:
    """A row of the table without numbers."""
    print(f"{name}: not measured: {why}", flush=True)
    table.append((name, "not measured", "", why))


def print_table(processor: str) -> None:
    """The rows in Markdown, as README may quote them."""
    rows = [(f"on {processor}", "now", "goal", "beside"), *table]
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows.insert(1, tuple("-" * width for width in widths))
    for row in rows:
        print("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |", flush=True)
