"""Lesson 11, my_accuracies: what learners write."""

import torch

from tests.answers import right, wrong

with right:

    def my_accuracies(predicted, targets, pad_id):
        real = targets != pad_id
        right = (predicted == targets) & real
        words = right.sum() / real.sum()
        sentences = (right.sum(dim=1) == real.sum(dim=1)).float().mean()
        return words, sentences


with right:

    def my_accuracies(predicted, targets, pad_id):
        hits = total = whole = 0
        for p, t in zip(predicted.tolist(), targets.tolist()):
            pairs = [(a, b) for a, b in zip(p, t) if b != pad_id]
            hits += sum(a == b for a, b in pairs)
            total += len(pairs)
            whole += all(a == b for a, b in pairs)
        return torch.tensor(hits / total), torch.tensor(whole / len(targets))


with right:

    def my_accuracies(predicted, targets, pad_id):
        predicted = predicted.masked_fill(targets == pad_id, pad_id)
        same = predicted.eq(targets)
        return same[targets.ne(pad_id)].double().mean(), same.all(1).double().mean()


with right:

    def my_accuracies(predicted, targets, pad_id):
        real = targets != pad_id
        wrong = (predicted != targets) & real
        return 1 - wrong.sum().item() / real.sum().item(), 1 - wrong.any(dim=1).float().mean().item()


with wrong("Padding is counted"):

    def my_accuracies(predicted, targets, pad_id):
        right = (predicted == targets).float()
        return right.mean(), right.prod(dim=1).mean()


with wrong("For the sentences, padding is still compared"):

    def my_accuracies(predicted, targets, pad_id):
        real = targets != pad_id
        right = (predicted == targets) & real
        return right.sum() / real.sum(), right.all(dim=1).float().mean()


with wrong("you asked the whole batch at once"):

    def my_accuracies(predicted, targets, pad_id):
        real = targets != pad_id
        whole = torch.equal(predicted[real], targets[real])
        return (predicted == targets)[real].float().mean(), float(whole)


with wrong("with enough of it any model is good"):

    def my_accuracies(predicted, targets, pad_id):
        right = ((predicted == targets) | (targets == pad_id)).float()
        return right.mean(), right.prod(dim=1).mean()


with wrong("averaged the sentences' accuracies"):

    def my_accuracies(predicted, targets, pad_id):
        right = (predicted == targets).float()
        real = (targets != pad_id).float()
        each = (right * real).sum(1) / real.sum(1)
        return each.mean(), (each == 1).float().mean()


with wrong("pad_id isn't used"):

    def my_accuracies(predicted, targets, pad_id):
        real, right = targets != 0, predicted == targets
        return right[real].float().mean(), (right | ~real).all(dim=1).float().mean()


with wrong("It goes wrong here: the model predicts padding at the padding"):

    def my_accuracies(predicted, targets, pad_id):
        real, right = targets != pad_id, predicted == targets
        return right[real].float().mean(), (right.sum(dim=1) == real.sum(dim=1)).float().mean()


with wrong("a sentence is a row"):

    def my_accuracies(predicted, targets, pad_id):
        real, right = targets != pad_id, predicted == targets
        return right[real].float().mean(), (right | ~real).all(dim=0).float().mean()


with wrong("but it is counted in the number that you divide by"):

    def my_accuracies(predicted, targets, pad_id):
        real, right = targets != pad_id, predicted == targets
        return (right & real).sum() / targets.numel(), (right | ~real).all(dim=1).float().mean()


with wrong("Values: sentences differs"):

    def my_accuracies(predicted, targets, pad_id):
        words = (predicted == targets)[targets != pad_id].float().mean()
        return words, words ** targets.size(1)


with wrong("Tokens where the model predicts padding are left out"):

    def my_accuracies(predicted, targets, pad_id):
        real = (targets != pad_id) & (predicted != pad_id)
        right = predicted == targets
        return right[real].float().mean(), (right | ~real).all(dim=1).float().mean()


with wrong("You told the padding by what the model predicts"):

    def my_accuracies(predicted, targets, pad_id):
        real = predicted != pad_id
        right = predicted == targets
        return right[real].float().mean(), (right | ~real).all(dim=1).float().mean()


with wrong("At least one of the two is a count"):

    def my_accuracies(predicted, targets, pad_id):
        real = targets != pad_id
        same = predicted == targets
        return same[real].sum(), (same | ~real).all(dim=1).sum()


with wrong("At least one of the two is a count"):

    def my_accuracies(predicted, targets, pad_id):
        real = targets != pad_id
        right = predicted == targets
        return right[real].sum(), (right | ~real).all(dim=1).float().mean()


with wrong("At least one of the two is a count"):

    def my_accuracies(predicted, targets, pad_id):
        real = targets != pad_id
        right = predicted == targets
        return right[real].float().mean(), (right | ~real).all(dim=1).float().sum()


with wrong("the number of correct sentences by that of the tokens"):

    def my_accuracies(predicted, targets, pad_id):
        real = targets != pad_id
        right = (predicted == targets) | ~real
        return right[real].float().mean(), right.all(dim=1).sum() / real.sum()


with wrong("These are percentages"):

    def my_accuracies(predicted, targets, pad_id):
        real = targets != pad_id
        right = predicted == targets
        sentences = (right | ~real).all(dim=1)
        return 100 * right[real].float().mean(), 100 * sentences.float().mean()


with wrong("one long row of all real tokens"):

    def my_accuracies(predicted, targets, pad_id):
        right = (predicted == targets)[targets != pad_id]
        return right.float().mean(), right.all(dim=1).float().mean()
