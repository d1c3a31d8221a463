"""The tree of a beam search: hypotheses that were kept, those dropped, and those in the beam now."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lessons.decoding import BeamStep


@dataclass
class Node:
    """One token in the tree of a beam search.

    parent: the index of its node in the list, or −1 for the first token. state: "kept", it is in the beam now;
    "way", one of its continuations is; "left", it was in the beam once; "dropped", it never was.
    rank: its place in the beam now, from 1, or 0.
    """

    word: int
    parent: int
    level: int
    log_prob: float
    score: float
    finished: bool
    state: str
    rank: int = 0


def grow(steps: Sequence[BeamStep]) -> list[dict[str, Any]]:
    """The tree of a search: each node after its parent; of one parent's, the kept ones first."""
    nodes: list[Node] = []
    places = [-1]  # the node of each place in the beam
    for step in steps:
        before, places = places, []
        for hypothesis in [*step.kept, *step.dropped]:
            place, kept = before[hypothesis.parent], len(places) < len(step.kept)
            if place < 0 or not nodes[place].finished:  # a finished one adds no token
                state = "left" if kept else "dropped"
                level = len(hypothesis.ids) - 1
                numbers = (hypothesis.log_prob, hypothesis.score, hypothesis.finished)
                nodes.append(Node(hypothesis.ids[-1], place, level, *numbers, state))
                place = len(nodes) - 1
            if kept:
                places.append(place)
    for rank, place in enumerate(places if steps else [], start=1):
        nodes[place].state, nodes[place].rank = "kept", rank
        above = nodes[place].parent
        while above >= 0:
            nodes[above].state, above = "way", nodes[above].parent
    return [asdict(node) for node in nodes]
