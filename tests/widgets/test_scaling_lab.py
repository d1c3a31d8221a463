"""ScalingLab without a browser: its numbers against torch, its pictures, and what it refuses."""

import json
import math
import re

import pytest
import torch

from lessons.plots.describe import describe
from lessons.widgets import ScalingLab
from lessons.widgets.scaling_lab import scaling

SOME = [{"d": 1}, {"d": 4, "scaled": False}, {"d": 5, "num_keys": 3}, {"d": 64, "temperature": 0.5}, {"d": 1024}]
Q = [[1.0, 2.0, 3.0, -1.0, 0.5], [0.0, 1.0, 0.0, 2.0, 1.0]]
K = [[1.0, 0.0, 2.0, 1.0, 0.0], [0.5, -1.0, 1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0, 0.0]]
some_states = pytest.mark.parametrize("state", SOME, ids=str)


def test_random_features_have_mean_0_and_variance_1_and_are_independent():
    q, k = scaling.draw_vectors(0, 8)
    assert q.shape == (100, 1024) and k.shape == (100, 8, 1024)
    numbers = torch.cat([q[:, None], k], dim=1)
    assert abs(numbers.mean()) < 0.005 and abs(numbers.var() - 1) < 0.005
    assert abs((numbers.abs() < 1).double().mean() - 0.6827) < 0.002  # as of a normal distribution
    assert abs((numbers[..., 1:] * numbers[..., :-1]).mean()) < 0.005
    assert abs((numbers[:, 1:] * numbers[:, :-1]).mean()) < 0.005


def test_the_first_features_and_keys_stay_as_they_are():
    small, large = ScalingLab(4, 2).vectors(), ScalingLab(16, 5).vectors()
    torch.testing.assert_close(small[0], large[0][:, :4])
    torch.testing.assert_close(small[1], large[1][:, :2, :4])


def test_another_seed_draws_other_numbers():
    one, other = (ScalingLab(64, seed=seed).all_scores for seed in (1, 2))
    assert abs(torch.corrcoef(torch.stack([one.flatten(), other.flatten()]))[0, 1]) < 0.1


@pytest.mark.parametrize("d", [1, 16, 64, 256, 1024])
def test_scores_have_the_standard_deviation_of_the_lesson(d):
    raw, scaled = ScalingLab(d, 16, scaled=False).all_scores, ScalingLab(d, 16).all_scores
    assert abs(raw.std() / math.sqrt(d) - 1) < 0.12
    torch.testing.assert_close(scaled, raw / math.sqrt(d))


@some_states
def test_the_numbers_of_one_query_are_those_of_torch(state):
    lab = ScalingLab(query=7, **state)
    q, k = (vectors[7] for vectors in lab.vectors())
    assert q.shape == (lab.d,) and k.shape == (lab.num_keys, lab.d)
    divisor = (math.sqrt(lab.d) if lab.scaled else 1) * lab.temperature
    scores = k @ q / divisor
    weights = scores.softmax(dim=-1)
    torch.testing.assert_close(lab.scores, scores)
    torch.testing.assert_close(lab.weights, weights)
    entropy = torch.distributions.Categorical(probs=weights).entropy().item()
    assert lab.entropy == pytest.approx(entropy, abs=1e-9)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), scores)
    torch.testing.assert_close(lab.jacobian, jacobian)
    gradient = torch.autograd.functional.jacobian(lambda q: (k @ q / divisor).softmax(dim=-1), q)
    torch.testing.assert_close(lab.gradient, gradient)
    assert lab.gradient_size == pytest.approx(gradient.norm().item(), abs=1e-9)


@pytest.mark.thorough("makes hundreds of widgets")
def test_curves_gather_all_queries():
    lab = ScalingLab(16, 3, temperature=2.0)
    curves = lab.curves()
    assert lab.sizes == [2**i for i in range(11)]
    for scaled, name in ((False, "not scaled"), (True, "divided by √d")):
        for at, d in enumerate(lab.sizes):
            if d not in (1, 8, 64):
                continue
            each = [ScalingLab(d, 3, scaled=scaled, temperature=2.0, query=n) for n in range(100)]
            assert curves["entropy"][name][at] == pytest.approx(sum(one.entropy for one in each) / 100)
            assert curves["gradient"][name][at] == pytest.approx(sorted(one.gradient_size for one in each)[49])
            assert curves["stuck"][name][at] == sum(one.weights.max().item() > 0.99 for one in each) / 100


def test_what_the_lesson_says_about_the_curves():
    curves = ScalingLab().curves()
    entropy, gradient = curves["entropy"], curves["gradient"]
    assert entropy["not scaled"][0] > 1.5 and entropy["not scaled"][-1] < 0.2
    assert max(entropy["divided by √d"]) - min(entropy["divided by √d"]) < 0.2
    assert gradient["not scaled"][-1] < 0.01 < 0.2 < min(gradient["divided by √d"])
    assert max(curves["stuck"]["divided by √d"]) < 0.05 < 0.5 < curves["stuck"]["not scaled"][-1]


def test_one_hot_weights_have_entropy_0_and_not_minus_0():
    lab = ScalingLab(2, q=[1000.0, 0.0], k=[[1000.0, 1.0], [0.0, 0.0]], scaled=False)
    assert lab.weights.tolist() == [1.0, 0.0]
    assert str(lab.entropy) == "0.0" and lab.gradient_size == 0
    assert lab.jacobian.abs().sum() == 0
    assert "entropy 0.00 of 0.69 nats" in repr(lab)


def test_one_key_gets_everything():
    lab = ScalingLab(1, 1)
    assert lab.weights.tolist() == [1.0] and str(lab.entropy) == "0.0" and lab.jacobian.tolist() == [[0.0]]
    assert "entropy 0.00 of 0.00 nats" in repr(lab)


# Your own vectors


def test_own_vectors_are_used_and_shared_by_all_queries():
    lab = ScalingLab(q=Q, k=K, query=1)
    assert (lab.d, lab.num_keys, lab.sizes) == (5, 3, [1, 2, 4, 5])
    expected = torch.tensor(Q) @ torch.tensor(K).T / math.sqrt(5)
    torch.testing.assert_close(lab.all_scores.float(), expected)
    torch.testing.assert_close(lab.scores.float(), expected[1])
    lab.d, lab.num_keys = 2, 1
    torch.testing.assert_close(lab.scores.float(), (torch.tensor(Q)[1:, :2] @ torch.tensor(K)[0, :2]) / math.sqrt(2))


def test_a_size_can_be_given_with_own_vectors():
    lab = ScalingLab(2, 1, q=Q[0], k=K)
    assert (lab.d, lab.num_keys, len(lab.vectors()[0])) == (2, 1, 1)


def test_own_vectors_come_and_go():
    lab = ScalingLab(query=50)
    before = lab.scores
    lab.use(Q, K)
    assert (lab.d, lab.num_keys, lab.query) == (5, 3, 1)
    lab.use(torch.tensor(Q)[:, :2], [row[:2] for row in K])
    assert lab.d == 2
    lab.use()
    assert lab.own is None
    lab.d, lab.num_keys, lab.query = 64, 8, 50
    torch.testing.assert_close(lab.scores, before)


def test_vectors_travel_as_the_numbers_that_python_uses():
    lab = ScalingLab(q=torch.tensor([[0.1, 0.2]]), k=torch.tensor([[0.3, 1e-30]]))
    sent = json.loads(json.dumps(lab.get_state("own")["own"]))
    assert sent == [[[0.1, 0.2]], [[0.3, 1e-30]]]
    assert lab.own[0].tolist() == sent[0]
    lab.set_state({"own": [[[1.0]], [[2.0]]]})
    assert lab.scores.tolist() == [2.0]


def test_the_state_is_small():
    assert len(json.dumps(ScalingLab().get_state(["own", "d", "num_keys", "scaled", "query", "seed"]))) < 200


# What is refused

BAD = {
    "d": (lambda: ScalingLab(0), "d is 0; expected a whole number from 1 to 1024"),
    "d as text": (lambda: ScalingLab("64"), "d is '64'; expected a whole number from 1 to 1024"),
    "own d": (lambda: ScalingLab(6, q=Q, k=K), "d is 6; expected a whole number from 1 to 5"),
    "num_keys": (lambda: ScalingLab(num_keys=17), "num_keys is 17; expected a whole number from 1 to 16"),
    "scaled": (lambda: ScalingLab(scaled=1), "scaled is 1; expected True or False"),
    "temperature": (lambda: ScalingLab(temperature=0), "temperature is 0; expected a number from 0.01 to 100"),
    "nan": (lambda: ScalingLab(temperature=math.nan), "temperature is nan; expected a number from 0.01 to 100"),
    "query": (lambda: ScalingLab(query=100), "query is 100; expected a whole number from 0 to 99"),
    "own query": (lambda: ScalingLab(q=Q, k=K, query=2), "query is 2; expected a whole number from 0 to 1"),
    "seed": (lambda: ScalingLab(seed=-1), "seed is -1; expected a whole number from 0 to 2147483647"),
    "k alone": (lambda: ScalingLab(k=K), "q is None; expected a matrix of numbers"),
    "q alone": (lambda: ScalingLab(q=Q), "k is None; expected a matrix of numbers"),
    "k": (lambda: ScalingLab(q=Q, k=K[0]), "k has shape (5,); expected 1 to 16 rows of 1 to 1024 features"),
    "many keys": (lambda: ScalingLab(q=Q, k=torch.ones(17, 5)), "k has shape (17, 5); expected 1 to 16 rows"),
    "many queries": (lambda: ScalingLab(q=torch.ones(65, 5), k=K), "q has shape (65, 5); expected 1 to 64 rows"),
    "no feature": (lambda: ScalingLab(q=torch.ones(1, 0), k=K), "q has shape (1, 0); expected 1 to 64 rows of 1 to"),
    "sizes": (lambda: ScalingLab(q=[1.0, 2.0], k=K), "k has shape (3, 5); expected (K, 2), as many features as q has"),
    "infinite": (lambda: ScalingLab(q=[math.inf], k=[[1.0]]), "q has an entry inf; expected numbers from −1e6 to 1e6"),
    "not a number": (lambda: ScalingLab(q=[1.0], k=[[math.nan]]), "k has an entry nan; expected numbers from −1e6"),
    "own": (lambda: setattr(ScalingLab(), "own", 3), "own is 3; expected None, or a pair of q (Q, d) and k (K, d)"),
}


@pytest.mark.parametrize(("act", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(act, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        act()


def test_what_is_refused_changes_nothing():
    lab = ScalingLab(q=Q, k=K)
    with pytest.raises(ValueError, match="k has shape"):
        lab.use(Q, [[1.0]])
    assert (lab.d, lab.num_keys) == (5, 3) and lab.own[0].tolist() == Q


# Pictures


@pytest.mark.parametrize("num_keys", [1, 8, 16])
def test_the_stored_picture_is_small(num_keys):
    data, _ = ScalingLab(64, num_keys)._repr_mimebundle_()
    assert len(data["text/html"].encode()) <= 20_000


def test_text_is_a_short_description():
    lab = ScalingLab(q=[2.0, 0.0, 0.0, 0.0], k=[[1.0, 5, 5, 5], [0.0, 5, 5, 5]], temperature=0.5)
    # scores 2 and 0: weights 0.881 and 0.119, which move by 0.105 with each score
    assert repr(lab) == (
        "ScalingLab: d = 4, √d = 2.00, divided by √d, temperature 0.5, 2 keys; query 0: "
        "entropy 0.37 of 0.69 nats, largest weight 0.88, size of the gradient 0.15"
    )


def test_figure_is_drawn_by_the_plots_of_the_course():
    lab = ScalingLab(64, 4, scaled=False)
    scores, weights, entropy, gradient = (describe(ax) for ax in lab.figure().axes)
    assert "Scores of all 100 queries, d = 64: not scaled, temperature 1" in scores
    assert f"standard deviation {lab.all_scores.std():.1f}" in scores
    assert "q0: " + "  ".join(f"{w:.2f}" for w in lab.weights.tolist()) in weights
    curves = lab.curves()
    for text, name in ((entropy, "entropy"), (gradient, "gradient")):
        for label, line in curves[name].items():
            points = ", ".join(f"({d:.3g}, {y:.2g})" for d, y in zip(lab.sizes, line))
            assert f"{label}: {points}" in text


def test_page_has_the_numbers():
    lab = ScalingLab(q=[2.0, 0.0], k=[[1.0, 5], [0.0, 5]], scaled=False)
    page = lab.to_html()
    assert page.count("<table>") == 4
    assert 'aria-label="query 0 “q0”, key 1 “k1”: 0.12"' in page
    assert 'aria-label="weight 0 “k0”, score 1 “k1”: −0.10"' in page
