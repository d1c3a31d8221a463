"""Lesson 12, my_distribution: what learners write."""

import torch

from tests.answers import right, wrong

with right:

    def my_distribution(logits, temperature, top_k, top_p):
        ordered, words = (logits / temperature).sort(descending=True)
        ordered[top_k:] = -torch.inf
        likely = ordered.softmax(dim=0)
        ordered[likely.cumsum(dim=0) - likely >= top_p] = -torch.inf
        result = torch.zeros(len(logits))
        result[words] = ordered.softmax(dim=0)
        return result


with right:

    def my_distribution(logits, temperature, top_k, top_p):
        from lessons.decoding import distribution

        return distribution(logits, temperature=temperature, top_k=top_k, top_p=top_p)


with right:

    def my_distribution(logits, temperature, top_k, top_p):
        p = ((logits - logits.max()) / temperature).exp()
        likely = p.argsort(descending=True).tolist()[:top_k]
        whole, total, kept = sum(p[i] for i in likely), 0.0, []
        for i in likely:
            if total >= top_p:
                break
            kept.append(i)
            total += p[i] / whole
        result = torch.zeros_like(p)
        for i in kept:
            result[i] = p[i] / p[kept].sum()
        return result


with right:

    def my_distribution(logits, temperature, top_k, top_p):
        values, words = torch.topk(logits.double() / temperature, top_k)
        p = values.softmax(dim=-1)
        p = p * (p.cumsum(dim=-1).roll(1).index_fill(0, torch.tensor([0]), 0.0) < top_p)
        return torch.zeros(len(logits), dtype=torch.double).index_add(0, words, p / p.sum())


with right:

    def my_distribution(logits, temperature, top_k, top_p):
        x = logits / temperature
        p = x.softmax(dim=-1)
        rank = p.argsort(descending=True).argsort()
        p = torch.where(rank < top_k, p, 0.0)
        likelier = (p / p.sum() * (rank[None] < rank[:, None])).sum(dim=1)
        p = torch.where(likelier < top_p, p, 0.0)
        return p / p.sum()


with wrong("You drop the word that crosses p"):

    def my_distribution(logits, temperature, top_k, top_p):
        ordered, words = (logits / temperature).sort(descending=True)
        ordered[top_k:] = -torch.inf
        likely = ordered.softmax(dim=0)
        ordered[(likely.cumsum(dim=0) > top_p) & (top_p < 1)] = -torch.inf
        return torch.zeros(len(logits)).scatter(0, words, ordered.softmax(dim=0))


with wrong("The temperature changes nothing"):

    def my_distribution(logits, temperature, top_k, top_p):
        p = logits.softmax(dim=0) / temperature
        p = p / p.sum()
        ordered, words = p.sort(descending=True)
        ordered[top_k:] = 0
        ordered = ordered / ordered.sum()
        ordered[ordered.cumsum(dim=0) - ordered >= top_p] = 0
        return torch.zeros(len(p)).scatter(0, words, ordered / ordered.sum())


with wrong("Exactly k stay"):

    def my_distribution(logits, temperature, top_k, top_p):
        x = logits / temperature
        x = x.masked_fill(x < x.topk(top_k).values[-1], -torch.inf)
        ordered, words = x.sort(descending=True)
        likely = ordered.softmax(dim=0)
        ordered[likely.cumsum(dim=0) - likely >= top_p] = -torch.inf
        return torch.zeros(len(logits)).scatter(0, words, ordered.softmax(dim=0))


with wrong("shuffles them once more"):

    def my_distribution(logits, temperature, top_k, top_p):
        ordered, words = (logits / temperature).sort(descending=True)
        ordered[top_k:] = -torch.inf
        likely = ordered.softmax(dim=0)
        ordered[likely.cumsum(dim=0) - likely >= top_p] = -torch.inf
        return ordered.softmax(dim=0)[words]


with wrong("The likeliest word always stays"):

    def my_distribution(logits, temperature, top_k, top_p):
        ordered, words = (logits / temperature).sort(descending=True)
        ordered[top_k:] = -torch.inf
        crossed = ordered.softmax(dim=0).cumsum(dim=0) > top_p
        ordered[torch.cat([crossed[:1], crossed[:-1]])] = -torch.inf
        return torch.zeros(len(logits)).scatter(0, words, ordered.softmax(dim=0))


with wrong("not renormalized"):

    def my_distribution(logits, temperature, top_k, top_p):
        ordered, words = (logits / temperature).sort(descending=True)
        ordered[top_k:] = -torch.inf
        likely = ordered.softmax(dim=0)
        likely[likely.cumsum(dim=0) - likely >= top_p] = 0
        return torch.zeros(len(logits)).scatter(0, words, likely)


with wrong("drop a word where that sum is p *or more*"):

    def my_distribution(logits, temperature, top_k, top_p):
        ordered, words = (logits / temperature).sort(descending=True)
        ordered[top_k:] = -torch.inf
        probabilities = ordered.softmax(dim=-1)
        before = probabilities.cumsum(dim=-1) - probabilities
        ordered[before > top_p] = -torch.inf
        result = torch.zeros_like(logits)
        result[words] = ordered.softmax(dim=-1)
        return result


with wrong("e^100 is too large for a float"):

    def my_distribution(logits, temperature, top_k, top_p):
        powers = torch.exp(logits / temperature)
        ordered, words = powers.sort(descending=True)
        ordered[top_k:] = 0
        probabilities = ordered / ordered.sum()
        ordered[probabilities.cumsum(dim=-1) - probabilities >= top_p] = 0
        result = torch.zeros_like(logits)
        result[words] = ordered / ordered.sum()
        return result


with wrong("unless it is the first"):

    def my_distribution(logits, temperature, top_k, top_p):
        logits = logits / temperature
        if top_k < len(logits):
            logits = logits.masked_fill(logits < logits.topk(top_k).values[-1], -torch.inf)
        p, order = logits.softmax(-1).sort(descending=True)
        keep = p.cumsum(-1) <= top_p
        keep[0] = True
        dropped = torch.zeros_like(keep)
        dropped[order] = ~keep
        return logits.masked_fill(dropped, -torch.inf).softmax(-1)


with wrong("You never renormalize"):

    def my_distribution(logits, temperature, top_k, top_p):
        p = (logits / temperature).softmax(-1)
        p = torch.where(p >= p.topk(top_k).values[-1], p, torch.zeros_like(p))
        s, order = p.sort(descending=True)
        p[order[s.cumsum(0) - s >= top_p]] = 0
        return p


with wrong("You set the logits of the dropped words to 0"):

    def my_distribution(logits, temperature, top_k, top_p):
        ordered, words = (logits / temperature).sort(descending=True)
        ordered[top_k:] = 0
        likely = ordered.softmax(dim=-1)
        likely[likely.cumsum(dim=-1) - likely >= top_p] = 0
        result = torch.zeros_like(logits)
        result[words] = likely / likely.sum()
        return result


with wrong("sort before cumsum"):

    def my_distribution(logits, temperature, top_k, top_p):
        likely = (logits / temperature).softmax(dim=-1)
        kept = likely.topk(top_k).indices
        result = torch.zeros_like(likely)
        result[kept] = likely[kept] / likely[kept].sum()
        result[result.cumsum(dim=0) - result >= top_p] = 0
        return result / result.sum()


with wrong("You drop the word that crosses p"):

    def my_distribution(logits, temperature, top_k, top_p):
        scaled = logits / temperature
        scaled = scaled.masked_fill(scaled < scaled.topk(top_k).values[-1], -torch.inf)
        likely, words = scaled.softmax(dim=0).sort(descending=True)
        likely[likely.cumsum(dim=0) > top_p] = 0
        result = torch.zeros_like(logits)
        result[words] = likely / likely.sum()
        return result
