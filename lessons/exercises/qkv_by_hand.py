"""Exercises of 01_qkv_by_hand: the five matrix products."""

import math

import torch
from torch import Tensor

from lessons.exercises.engine import Case, Exercise, Mistake, numbers, small_numbers


def project(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Products one to three. x (T, D), w_q and w_k (D, d), w_v (D, d_v) -> q (T, d), k (T, d), v (T, d_v)."""
    return x @ w_q, x @ w_k, x @ w_v


def scores(q: Tensor, k: Tensor) -> Tensor:
    """Product four. q (Q, d), k (K, d) -> (Q, K): entry [i, j] is query i times key j, feature by feature, summed."""
    return q @ k.T


def mix_values(weights: Tensor, v: Tensor) -> Tensor:
    """Product five. weights (Q, K), v (K, d_v) -> (Q, d_v): row i is the mixture of values that query i asks for."""
    return weights @ v


def attention(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Tensor:
    """All five. x (T, D), w_q and w_k (D, d), w_v (D, d_v) -> output (T, d_v)."""
    q, k, v = project(x, w_q, w_k, w_v)
    weights = (scores(q, k) / math.sqrt(q.size(-1))).softmax(dim=-1)
    return mix_values(weights, v)


def _projection_inputs(draw, generator, tokens: int, features: int, d: int, d_v: int) -> dict[str, Tensor]:
    return {
        "x": draw(generator, tokens, features),
        "w_q": draw(generator, features, d),
        "w_k": draw(generator, features, d),
        "w_v": draw(generator, features, d_v),
    }


def _projection_cases(generator) -> list[Case]:
    sizes = [(small_numbers, 2, 3, 4, 5), (small_numbers, 4, 3, 3, 3), (numbers, 7, 5, 6, 2)]
    return [Case(_projection_inputs(draw, generator, *size)) for draw, *size in sizes]


projections = Exercise(
    name="my_projections",
    reference=project,
    cases=_projection_cases,
    outputs=("q", "k", "v"),
    mistakes=[
        Mistake(
            lambda x, w_q, w_k, w_v: (x @ w_q.T, x @ w_k.T, x @ w_v.T),
            "Your weight matrices are transposed. A token is a row of x, and x stands on the left: x @ w. "
            "(nn.Linear does store its weight transposed; here there is no nn.Linear.)",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_q, x @ w_v),
            "Your keys are your queries: k was made with w_q. Each of the three has a matrix of its own.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_v, x @ w_k),
            "Your keys and values are swapped. k comes from w_k and v from w_v; return them in the order q, k, v.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (x @ w_k, x @ w_q, x @ w_v),
            "Your queries and keys are swapped. q comes from w_q and k from w_k.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (x @ w_k, x @ w_k, x @ w_v),
            "Your queries are your keys: q was made with w_k. Each of the three has a matrix of its own.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_k, x @ w_k),
            "Your values are your keys: v was made with w_k. Each of the three has a matrix of its own.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (w_q @ x, w_k @ x, w_v @ x),
            "x belongs on the left: x @ w. Its rows are the tokens, and its D features meet the D rows of w.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: ((x @ w_q).T, (x @ w_k).T, (x @ w_v).T),
            "Your results are transposed: the tokens should go down the rows, as they do in x.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: (x @ w_q, x @ w_q @ w_k, x @ w_q @ w_k @ w_v),
            "k was made from q instead of from x. All three are projections of the same tokens, x.",
        ),
    ],
    hints=[
        "One token is a row of x with D numbers; it must become a row with d numbers. Which product does that?",
        "The same product for all tokens at once is one matrix product, x @ w. Three matrices make three of them.",
    ],
)


def _pair_cases(first: str, second: str, sizes) -> list:
    """Cases of two matrices, given as (draw, shape of the first, shape of the second)."""

    def cases(generator) -> list[Case]:
        return [Case({first: draw(generator, *a), second: draw(generator, *b)}) for draw, a, b in sizes]

    return cases


score_table = Exercise(
    name="my_scores",
    reference=scores,
    cases=_pair_cases(
        "q",
        "k",
        [(small_numbers, (2, 3), (4, 3)), (small_numbers, (3, 3), (3, 3)), (numbers, (5, 7), (6, 7))],
    ),
    mistakes=[
        Mistake(
            lambda q, k: k @ q.T,
            "Your table is transposed: entry [i, j] is key i against query j. Queries go down the rows, keys "
            "across the columns.",
        ),
        Mistake(
            lambda q, k: q * k,
            "You multiplied entry by entry. A score is one number for a pair of tokens: multiply feature by "
            "feature, and then sum over the features.",
        ),
        Mistake(
            lambda q, k: q @ k,
            "k is not transposed: you summed over the wrong axis of k. The features of a query meet the features "
            "of a key; both lie along the last axis.",
        ),
        Mistake(
            lambda q, k: q.T @ k,
            "You summed over the tokens, so the result is features by features. Sum over the features: the result "
            "is queries by keys.",
        ),
        Mistake(
            lambda q, k: (q @ k.T) / math.sqrt(q.size(-1)),
            "These are the scores divided by √d. That step comes later; here the plain products are asked for.",
        ),
        Mistake(
            lambda q, k: (q @ k.T) / (q.norm(dim=-1)[:, None] * k.norm(dim=-1)),
            "You divided by the lengths of the vectors: that is the cosine. The dot product alone is asked for; in it "
            "the lengths count, too.",
        ),
        Mistake(
            lambda q, k: (q * k).sum(dim=-1),
            "You multiplied query i with key i alone. Every query meets every key: the result is a table, (Q, K).",
        ),
        Mistake(
            lambda q, k: q @ k.reshape(k.size(1), k.size(0)),
            "reshape and view fill the numbers of k, in their old order, into another shape. That is no transpose: "
            "k.T turns the rows into columns.",
        ),
        Mistake(
            lambda q, k: (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1),
            "These are the weights already. The scores are asked for: plain products, with no softmax.",
            also=(lambda q, k: (q @ k.T).softmax(dim=-1),),
        ),
    ],
    hints=[
        "How many scores are there for Q queries and K keys? That is the shape of the result.",
        "Write one entry first: sum(q[i] * k[j]). Which matrix product computes all of them?",
        "In a matrix product the inner sizes must agree: (Q, d) times (d, K).",
    ],
)


mixtures = Exercise(
    name="my_output",
    reference=mix_values,
    cases=lambda generator: [
        Case({"weights": numbers(generator, q, k).softmax(-1), "v": draw(generator, k, d_v)})
        for draw, q, k, d_v in [(small_numbers, 2, 3, 4), (small_numbers, 3, 3, 3), (numbers, 5, 7, 6)]
    ],
    mistakes=[
        Mistake(
            lambda weights, v: weights.T @ v,
            "You mixed along the columns: row i of your result uses what all queries give to key i. A query's "
            "weights are its row.",
        ),
        Mistake(
            lambda weights, v: weights @ v.T,
            "v is transposed, so that you mixed over the features. The weights run over the keys, and the rows of "
            "v are the keys' values.",
        ),
        Mistake(
            lambda weights, v: v[weights.argmax(dim=-1)],
            "You took the value of the best key alone. Attention is a soft look-up: every value counts, each by "
            "its weight.",
        ),
        Mistake(
            lambda weights, v: v.mean(dim=0).expand(weights.size(0), -1),
            "You took the plain average of the values, the same for every query. Each query has weights of its own.",
        ),
        Mistake(
            lambda weights, v: weights[:, -1:] * v[-1],
            "Only the last key counts in your result. A loop that writes output[i] = … replaces what was there; "
            "output[i] += … adds to it.",
        ),
        Mistake(
            lambda weights, v: v @ weights,
            "The other way round: the weights stand on the left, so that their K columns meet the K rows of v.",
        ),
        Mistake(
            lambda weights, v: weights * v,
            "You multiplied entry by entry. A row of the output is a sum: each value times its weight, added up over "
            "the keys.",
        ),
        Mistake(
            lambda weights, v: weights.softmax(dim=-1) @ v,
            "The weights are weights already, and their rows sum to 1: another softmax makes them nearly alike.",
        ),
    ],
    hints=[
        "Row i of the output is weights[i, 0] * v[0] + weights[i, 1] * v[1] + …",
        "A row of weights times a matrix of values: all rows at once are one matrix product.",
    ],
)


def _one_number(candidate):
    """Accept 9, 9.0, a tensor with one entry, and what x5 @ w_q @ k[3] gives for x5 as a row."""
    answer = torch.as_tensor(candidate())
    return answer.reshape(()) if answer.numel() == 1 else answer


paper_score = Exercise(
    name="my_score",
    reference=lambda: 9.0,
    cases=lambda generator: [Case({})],
    call=_one_number,
    mistakes=[
        Mistake(
            lambda: 13.0,
            "13 comes out when the rows and columns of w_q are mixed up (x5 times the transposed w_q). Entry j of the "
            "query is x5 times column j of w_q.",
        ),
        Mistake(lambda: 3.0, "3 comes out when x5 goes through w_k. It asks, so it must go through w_q."),
        Mistake(
            lambda: 5.0, "5 is the score against the key of *cat*. The key of *down* is asked for, the last row of k."
        ),
        Mistake(lambda: 7.0, "7 comes out when x5 itself is multiplied with the key. First make its query, with w_q."),
        Mistake(
            lambda: 9 / math.sqrt(3),
            "That is the score divided by √3. Here the plain product is asked for.",
            also=(lambda: 5.196, lambda: 5.2),
        ),
        Mistake(
            lambda: torch.tensor([3.0, 0.0, 1.0]),
            "That is the query of the new token, three numbers. The score is one number: the query times the key.",
        ),
    ],
    hints=[
        "First the query: multiply x5 = (2, 0, 1) by each column of w_q. You get three numbers.",
        "Then the key of *down*: it stands in the last row of k above. Multiply number by number, and add up.",
        "The query is (3, 0, 1), the key is (2, 0, 3).",
    ],
    solution=("query = x5 @ w_q = (3, 0, 1)\nkey of down = (2, 0, 3)\nscore = 3·2 + 0·0 + 1·3 = 9",),
)


def _keys_from_w_q(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_q, x @ w_v
    return (q @ k.T / math.sqrt(q.size(-1))).softmax(dim=-1) @ v


bug_hunt = Exercise(
    name="mended_attention",
    reference=attention,
    cases=lambda generator: [
        Case(_projection_inputs(numbers, generator, *size)) for size in [(2, 3, 4, 5), (4, 3, 3, 3), (7, 5, 6, 2)]
    ],
    mistakes=[
        Mistake(
            _keys_from_w_q,
            "The bug is still there. A symptom: put any other matrix in the place of w_k, and the result stays.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: ((x @ w_k) @ (x @ w_k).T / math.sqrt(w_k.size(-1))).softmax(dim=-1) @ (x @ w_v),
            "Now the queries are keys as well: both are made with w_k. The queries need w_q.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: ((x @ w_q) @ (x @ w_v).T / math.sqrt(w_q.size(-1))).softmax(dim=-1) @ (x @ w_v),
            "Now the keys are made with w_v. They need w_k.",
        ),
        Mistake(
            lambda x, w_q, w_k, w_v: ((x @ w_k) @ (x @ w_q).T / math.sqrt(w_k.size(-1))).softmax(dim=-1) @ (x @ w_v),
            "Now queries and keys are swapped: q needs w_q, and k needs w_k.",
        ),
    ],
    hints=[
        "Print q and k for some x. What do you notice?",
        "Read the three projections aloud: which matrix makes which?",
    ],
)
