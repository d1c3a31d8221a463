"""Lesson 10, my_true_means_attend: what learners write."""

import torch

from lessons.probes import influence
from tests.answers import right, wrong

with right:

    def my_true_means_attend(attention, x):
        mask = torch.zeros(len(x), len(x), dtype=torch.bool)
        mask[0, -1] = True
        changed = x.clone()
        changed[-1] += 1
        return not torch.equal(attention(x, mask)[0], attention(changed, mask)[0])


with right:

    def my_true_means_attend(attention, x):
        mask = torch.ones(len(x), len(x), dtype=torch.bool)
        mask[0, 1] = False
        changed = torch.cat([x[:1], x[1:2] - 3, x[2:]])
        return torch.allclose(attention(x, mask)[0], attention(changed, mask)[0], equal_nan=True)


with right:

    def my_true_means_attend(attention, x):
        from lessons.probes import influence

        mask = torch.eye(len(x), dtype=torch.bool)
        return ~influence(lambda tokens: attention(tokens, mask), x)[1, 0]


with wrong("You took NaN as the sign"):

    def my_true_means_attend(attention, x):
        everything = torch.ones(len(x), len(x), dtype=torch.bool)
        return not attention(x, everything).isnan().any().item()


with wrong("You answer True for every library"):

    def my_true_means_attend(attention, x):
        mask = torch.zeros(len(x), len(x), dtype=torch.bool)
        mask[0, 0] = True
        changed = x.clone()
        changed[0] += 1
        return not torch.equal(attention(x, mask)[0], attention(changed, mask)[0])


with wrong("Compare only output 0"):

    def my_true_means_attend(attention, x):
        mask = torch.zeros(len(x), len(x), dtype=torch.bool)
        mask[0, -1] = True
        changed = x.clone()
        changed[-1] += 1
        return torch.allclose(attention(x, mask), attention(changed, mask))


with wrong("changed its argument x"):

    def my_true_means_attend(attention, x):
        x[-1] += 1
        return True


with wrong("right only if a completely blocked row gives 0"):

    def my_true_means_attend(attention, x):
        everything = torch.ones(len(x), len(x), dtype=torch.bool)
        changed = x.clone()
        changed[-1] += 1
        return not torch.equal(attention(x, everything)[0], attention(changed, everything)[0])


with wrong("If you compared the output with x"):

    def my_true_means_attend(attention, x):
        return torch.allclose(attention(x, torch.eye(len(x)).bool()), x)


with wrong("leaves the query that you watch no key at all"):

    def my_true_means_attend(attention, x):
        from lessons import masks
        from lessons.probes import influence

        mask = masks.causal(len(x))
        return influence(lambda tokens: attention(tokens, mask), x)[-1, 0].item()


with wrong("right only if a completely blocked row gives 0"):

    def my_true_means_attend(attention, x):
        mask = torch.ones(len(x), len(x)).tril().bool()
        changed = x.clone()
        changed[0] *= 2
        return not torch.equal(attention(x, mask)[-1], attention(changed, mask)[-1])


with wrong("If your mask is False everywhere"):

    def my_true_means_attend(attention, x):
        nothing = torch.zeros(len(x), len(x), dtype=torch.bool)
        changed = x.clone()
        changed[-1] += 1
        return torch.equal(attention(x, nothing)[0], attention(changed, nothing)[0])


with wrong("the answer is a str; expected True or False"):

    def my_true_means_attend(attention, x):
        mask = torch.zeros(len(x), len(x), dtype=torch.bool)
        mask[0, -1] = True
        changed = x.clone()
        changed[-1] += 1
        same = torch.equal(attention(x, mask)[0], attention(changed, mask)[0])
        return "blocked" if same else "may attend"


with wrong("You watch another pair"):

    def my_true_means_attend(attention, x):
        mask = torch.zeros(len(x), len(x), dtype=torch.bool)
        mask[0, -1] = True
        changed = x.clone()
        changed[0] += 1
        return not torch.equal(attention(x, mask)[-1], attention(changed, mask)[-1])


with wrong("You watch another pair"):

    def my_true_means_attend(attention, x):
        mask = torch.zeros(len(x), len(x), dtype=torch.bool)
        mask[0, -1] = True
        return bool(influence(lambda tokens: attention(tokens, mask), x)[-1, 0])


with wrong("does your function use the tokens that it is given?"):

    def my_true_means_attend(attention, x):
        mask = torch.zeros(len(x), len(x), dtype=torch.bool)
        mask[0, -1] = True
        return influence(lambda tokens: attention(x, mask), x)[0, -1]
