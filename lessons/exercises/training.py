"""The exercises of lesson 11: shifting, the loss without padding, label smoothing, the schedule, two accuracies."""

import torch
import torch.nn.functional as F
from torch import Tensor

from lessons.exercises.engine import Case, Exercise, Mistake, numbers

PAD = 0


def ids(generator: torch.Generator, lengths: list[int], width: int, vocab_size: int) -> Tensor:
    """Ids from 3 on, up to each length; then padding: (B, width)."""
    drawn = torch.randint(3, vocab_size, (len(lengths), width), generator=generator)
    return drawn.where(torch.arange(width) < torch.tensor(lengths)[:, None], PAD)


def shift(tgt: Tensor) -> tuple[Tensor, Tensor]:
    """tgt (B, T), with both marks -> what the decoder reads and what it is to write, each (B, T - 1)"""
    return tgt[:, :-1], tgt[:, 1:]


def _tgt_cases(generator) -> list[Case]:
    def case(lengths, width):
        tgt = ids(generator, lengths, width, 9)
        tgt[:, 0] = 1
        for row, length in zip(tgt, lengths):
            row[length - 1] = 2
        return Case({"tgt": tgt})

    return [case([5], 5), case([6, 4], 6), case([4, 3, 5, 2], 5)]


shifting = Exercise(
    name="my_shift",
    reference=shift,
    cases=_tgt_cases,
    outputs=("inputs", "targets"),
    mistakes=[
        Mistake(
            lambda tgt: (tgt, tgt),
            "Nothing is shifted: at each position the decoder reads the very word that it is to write. It would learn "
            "to copy, reach a loss of 0, and write nonsense.",
            also=[lambda tgt: (tgt[:, :-1], tgt[:, :-1]), lambda tgt: (tgt[:, 1:], tgt[:, 1:])],
        ),
        Mistake(
            lambda tgt: (tgt[:, 1:], tgt[:, :-1]),
            "Shifted the wrong way: the decoder reads the word after the one that it is to write. The targets are the "
            "words that come later.",
        ),
        Mistake(
            lambda tgt: (tgt[:, :-2], tgt[:, 2:]),
            "Shifted twice: after the begin mark the first word is expected, not the second.",
        ),
        Mistake(
            lambda tgt: (tgt[:-1], tgt[1:]),
            "You cut off a sentence, not a word: the first axis is the batch. Words are on the second.",
        ),
        Mistake(
            lambda tgt: (tgt, tgt[:, 1:]),
            "There is one more input than there are targets: after the end mark nothing is to be written.",
        ),
        Mistake(
            lambda tgt: (tgt[:, 1:-1], tgt[:, 2:]),
            "The begin mark is gone from the inputs: without it nothing comes before the first word.",
        ),
    ],
    hints=["Write the two rows below each other for <bos> a b <eos>.", "Slices: all but the last, all but the first."],
)


def loss_without_padding(logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    """logits (B, T, V), targets (B, T) -> the mean of -log p(right word), over all words that are no padding"""
    log_p = logits.log_softmax(dim=-1)  # (B, T, V)
    of_the_right = log_p.gather(-1, targets[..., None]).squeeze(-1)  # (B, T)
    return -of_the_right[targets != pad_id].mean()


def _log_p(logits, targets, dim=-1):
    return logits.log_softmax(dim=dim).gather(-1, targets[..., None]).squeeze(-1)


def _unflattened(logits, targets, pad_id):
    return F.cross_entropy(logits, targets, ignore_index=pad_id)


UNFLATTENED = (
    "F.cross_entropy looks for the V logits on axis 1, and yours are on the last one. Either flatten batch and "
    "positions into one axis, in the logits and in the targets, or hand over logits.transpose(1, 2)."
)


def _mean_of_sentences(logits, targets, pad_id):
    real = (targets != pad_id).float()
    return (-(_log_p(logits, targets) * real).sum(dim=1) / real.sum(dim=1)).mean()


def _loss_cases(generator) -> list[Case]:
    def case(lengths, width, vocab_size, pad_id=PAD, about="", gradients=False):
        logits = 2 * numbers(generator, len(lengths), width, vocab_size)
        targets = ids(generator, lengths, width, vocab_size)
        return Case(
            {"logits": logits, "targets": targets.masked_fill(targets == PAD, pad_id), "pad_id": pad_id},
            about=about,
            gradients=gradients,
        )

    return [
        case([2, 1], 2, 5),
        case([4, 2, 3], 4, 6),
        case([5, 1, 3, 5, 2], 5, 5),
        case([3, 2], 4, 6, pad_id=1, about="another pad_id than 0"),
        case([3, 2], 4, 6, about="gradients", gradients=True),
    ]


loss = Exercise(
    name="my_loss",
    reference=loss_without_padding,
    cases=_loss_cases,
    outputs=("the loss",),
    mistakes=[
        Mistake(
            lambda logits, targets, pad_id: -_log_p(logits, targets).mean(),
            "The padding is counted as if it were words: the model is praised for writing padding after padding, and "
            "the loss looks better the more of it there is.",
        ),
        Mistake(
            lambda logits, targets, pad_id: -(_log_p(logits, targets) * (targets != pad_id)).mean(),
            "The padding adds nothing to the sum, but still to the number that you divide by: the loss is too small.",
        ),
        Mistake(
            lambda logits, targets, pad_id: F.cross_entropy(
                logits.softmax(-1).flatten(0, 1), targets.flatten(), ignore_index=pad_id
            ),
            "A softmax too much: the logits went through two of them. log_softmax and cross_entropy bring their own.",
        ),
        Mistake(
            lambda logits, targets, pad_id: -_log_p(logits, targets)[targets != pad_id].sum(),
            "That is the sum over the words; the mean is asked for.",
        ),
        Mistake(
            _mean_of_sentences,
            "That is the mean of the sentences' means: a word in a short sentence counts more than one in a long one. "
            "Take one mean over all real words.",
        ),
        Mistake(
            lambda logits, targets, pad_id: _log_p(logits, targets)[targets != pad_id].mean(),
            "The sign: log p is below 0, and the loss is -log p.",
        ),
        Mistake(
            lambda logits, targets, pad_id: -logits.gather(-1, targets[..., None])[..., 0][targets != pad_id].mean(),
            "That is the logit of the right word, not the log of its probability: the softmax is missing.",
        ),
        Mistake(
            lambda logits, targets, pad_id: -_log_p(logits, targets, dim=1)[targets != pad_id].mean(),
            "The softmax runs over the positions. It runs over the vocabulary, the last axis.",
        ),
        Mistake(
            _unflattened,
            UNFLATTENED,
            also=[lambda logits, targets, pad_id: F.cross_entropy(logits, targets)],
        ),
        Mistake(
            lambda logits, targets, pad_id: F.cross_entropy(
                logits.reshape(len(logits), -1, targets.size(1)), targets, ignore_index=pad_id
            ),
            "The shape is one that cross_entropy takes, but the logits of different words are mixed: view and reshape "
            "cut the numbers into other rows. To change two axes, transpose.",
        ),
        Mistake(
            lambda logits, targets, pad_id: F.cross_entropy(
                logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten(), ignore_index=pad_id
            ),
            "Shifted once more: these targets are shifted already. Position t of the logits belongs to position t of "
            "the targets.",
        ),
        Mistake(
            lambda logits, targets, pad_id: -_log_p(logits, targets).exp()[targets != pad_id].mean().log(),
            "That is the log of the mean probability. First the log of each word's, then the mean.",
        ),
        Mistake(
            lambda logits, targets, pad_id: -_log_p(logits, targets)[targets == pad_id].mean(),
            "Only the padding is counted: the mask is turned around.",
        ),
        Mistake(
            lambda logits, targets, pad_id: (
                -logits.softmax(-1).gather(-1, targets[..., None])[..., 0][targets != pad_id].mean()
            ),
            "The log is missing: -p in place of -log p.",
        ),
        Mistake(
            lambda logits, targets, pad_id: -_log_p(logits, targets)[targets != 0].mean(),
            "pad_id is not used: you took 0 for the padding, whatever pad_id says.",
            seen_in="another pad_id than 0",
        ),
    ],
    hints=[
        "log_softmax over the last axis; then gather picks the entry of the right word, as targets[..., None] says.",
        "Choose the real words by targets != pad_id before you take the mean.",
    ],
)


def smooth(targets: Tensor, vocab_size: int, smoothing: float) -> Tensor:
    """targets (N,) -> what is wished, (N, V): 1 - smoothing for the right word, smoothing shared by all V words"""
    wished = torch.full((len(targets), vocab_size), smoothing / vocab_size)
    wished[torch.arange(len(targets)), targets] += 1 - smoothing
    return wished


RARE = "the last words of the vocabulary are not among the targets"


def _one_hot(targets, vocab_size):
    return F.one_hot(targets, vocab_size).float()


def _smooth_cases(generator) -> list[Case]:
    def case(count, vocab_size, smoothing, about=""):
        targets = torch.randint(vocab_size, (count,), generator=generator)
        return Case({"targets": targets, "vocab_size": vocab_size, "smoothing": smoothing}, about=about)

    last_is_rare = Case({"targets": torch.tensor([1, 0, 2]), "vocab_size": 5, "smoothing": 0.1}, about=RARE)
    return [case(2, 4, 0.2), case(5, 6, 0.1), case(6, 6, 0.5), case(3, 5, 0.0, "no smoothing"), last_is_rare]


smoothing = Exercise(
    name="my_smooth",
    reference=smooth,
    cases=_smooth_cases,
    outputs=("wished",),
    mistakes=[
        Mistake(
            lambda targets, v, s: (1 - s) * _one_hot(targets, v) + s / (v - 1) * (1 - _one_hot(targets, v)),
            "You shared it among the other words alone. Some books do; here, as in torch, all V words get a share, the "
            "right one too.",
        ),
        Mistake(
            lambda targets, v, s: torch.where(_one_hot(targets, v) > 0, 1 - s, s / v),
            "The rows do not sum to 1: the right word gets its share of the smoothing on top of 1 - smoothing.",
        ),
        Mistake(
            lambda targets, v, s: s * _one_hot(targets, v) + (1 - s) / v,
            "smoothing and 1 - smoothing changed places: with 0.1, the right word is to keep 0.9.",
        ),
        Mistake(
            lambda targets, v, s: (1 - s) * _one_hot(targets, v) + s,
            "Each word gets the whole of smoothing. It is shared: divide by the number of words.",
        ),
        Mistake(
            lambda targets, v, s: (1 - s) * _one_hot(targets, v) + s / len(targets),
            "You divided by the number of positions. It is shared by the words of the vocabulary.",
        ),
        Mistake(
            lambda targets, v, s: _one_hot(targets, v) + s / v,
            "The right word keeps its whole 1, and the rows sum to more than 1: take the share away from it.",
        ),
        Mistake(
            lambda targets, v, s: (1 - s) * _one_hot(targets, v) + s / (v - 2) * (1 - _one_hot(targets, v)),
            "You left two words out of the sharing, as code does that also leaves out padding. Here all V share.",
        ),
        Mistake(
            lambda targets, v, s: (1 - s) * _one_hot(targets, v),
            "The share is taken from the right word and given to nobody: the rows sum to 1 - smoothing.",
        ),
        Mistake(
            lambda targets, v, s: _one_hot(targets, v),
            "Nothing is smoothed: the right word keeps the whole 1.",
        ),
        Mistake(
            lambda targets, v, s: (1 - s) * _one_hot(targets, v).amax(dim=0).expand(len(targets), v) + s / v,
            "Each row has the right words of all positions. wished[:, targets] takes these columns in every row: pair "
            "row 0 with targets[0], row 1 with targets[1], and so on.",
        ),
        Mistake(
            lambda targets, v, s: (1 - s) * F.one_hot(targets) + s / v,
            "The rows are as long as the greatest target asks for, and not vocab_size: F.one_hot(targets) guesses the "
            "number of words from the targets that it sees.",
            seen_in=RARE,
        ),
    ],
    hints=[
        "Begin with a matrix that is smoothing / vocab_size everywhere.",
        "Then add 1 - smoothing at [0, targets[0]], [1, targets[1]], …: wished[torch.arange(N), targets] += …",
    ],
)


def rate(step: int, d_model: int, warmup: int) -> float:
    """d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), the first step being 1"""
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def _rates(candidate, steps, d_model, warmup):
    rates = [candidate(step, d_model, warmup) for step in steps.tolist()]
    return None if None in rates else torch.tensor([float(rate) for rate in rates])


def _rate_cases(generator) -> list[Case]:
    return [
        Case({"steps": torch.tensor([1, 2, 4, 16]), "d_model": 16, "warmup": 4}),
        Case({"steps": torch.tensor([1, 50, 100, 101, 1000]), "d_model": 64, "warmup": 100}),
        Case({"steps": torch.tensor([4000, 100_000]), "d_model": 512, "warmup": 4000}, about="the paper's own numbers"),
    ]


schedule = Exercise(
    name="my_rate",
    reference=rate,
    cases=_rate_cases,
    call=_rates,
    outputs=("the rates",),
    mistakes=[
        Mistake(
            lambda step, d, w: d**-0.5 * max(step**-0.5, step * w**-1.5),
            "The greater of the two was taken: the rate begins high and then rises without end. It is the smaller one.",
        ),
        Mistake(
            lambda step, d, w: min(step**-0.5, step * w**-1.5),
            "The factor d_model^-0.5 is missing: a wider model takes smaller steps.",
        ),
        Mistake(
            lambda step, d, w: d**-0.5 * step * w**-1.5,
            "It rises for ever: after the warm-up, step^-0.5 is the smaller one.",
        ),
        Mistake(
            lambda step, d, w: d**-0.5 * step**-0.5,
            "There is no warm-up: the rate is greatest at the very first step. Does the second part of the min stand "
            "there, and does its warmup have the exponent -1.5?",
        ),
        Mistake(
            lambda step, d, w: d**-0.5 * min(step**-0.5, step * w**-0.5),
            "The exponent of warmup is -1.5, not -0.5: only then do both parts meet at step = warmup.",
        ),
        Mistake(
            lambda step, d, w: d**0.5 * min(step**-0.5, step * w**-1.5),
            "d_model has the exponent -0.5: you multiplied by its root in place of dividing by it.",
        ),
        Mistake(
            lambda step, d, w: d**-0.5 * min(w**-0.5, step * w**-1.5),
            "After the warm-up the rate stays where it is. It falls, as step^-0.5.",
        ),
        Mistake(
            lambda step, d, w: min(d**-0.5 * step**-0.5, step * w**-1.5),
            "d_model^-0.5 stands before the whole min, not before its first part alone.",
        ),
        Mistake(
            lambda step, d, w: d**-0.5 * min(step**-1 / 2, step * w**-3 / 2),
            "Python takes powers first: x ** -1/2 is half of 1/x. Write x ** -0.5, or brackets.",
            also=[
                lambda step, d, w: d**-1 / 2 * min(step**-1 / 2, step * w**-3 / 2),
                lambda step, d, w: d**-1 / 2 * min(step**-0.5, step * w**-1.5),
            ],
        ),
        Mistake(
            lambda step, d, w: d**-0.5 * min((step + 1) ** -0.5, (step + 1) * w**-1.5),
            "Your rates are those of the step after: here the first step is 1, not 0, so step needs no + 1.",
        ),
        Mistake(
            lambda step, d, w: w**-0.5 * min(step**-0.5, step * d**-1.5),
            "d_model and warmup changed places.",
        ),
        Mistake(
            lambda step, d, w: 512**-0.5 * min(step**-0.5, step * w**-1.5),
            "d_model is not used: you took the paper's 512, whatever d_model says.",
        ),
        Mistake(
            lambda step, d, w: d**-0.5 * min(step**-0.5, step * 4000**-1.5),
            "warmup is not used: you took the paper's 4000, whatever warmup says.",
        ),
    ],
    hints=["In Python, x^-0.5 is x ** -0.5.", "min of two numbers; both parts are equal at step = warmup."],
)


def accuracies(predicted: Tensor, targets: Tensor, pad_id: int) -> tuple[Tensor, Tensor]:
    """predicted, targets (B, T) -> the share of right words, and of wholly right sentences; padding does not count"""
    real = targets != pad_id
    right = predicted == targets
    return right[real].float().mean(), (right | ~real).all(dim=1).float().mean()


def _accuracy_cases(generator) -> list[Case]:
    def case(lengths, width, wrong, about="", pad_id=PAD, at_padding=7):
        targets = ids(generator, lengths, width, 9)
        predicted = targets.where(targets != PAD, at_padding)  # what is said there does not matter
        for place in wrong:
            predicted[place] = 2
        return Case({"predicted": predicted, "targets": targets.where(targets != PAD, pad_id), "pad_id": pad_id}, about)

    return [
        case([3, 2], 3, [(0, 1)]),
        case([5, 3, 4], 6, [(0, 1), (0, 2), (2, 0)]),
        case([4, 4, 4, 4], 4, [(1, 3), (2, 0), (2, 1)], about="no padding at all"),
        case([2, 5, 3], 5, [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4)], about="one sentence all wrong"),
        case([3, 2, 4], 5, [(1, 0)], about="another pad_id than 0", pad_id=9),
        case([3, 2, 4], 5, [(0, 0), (0, 2)], about="the model, too, says padding at the padding", at_padding=PAD),
    ]


def _pair(words, sentences):
    return words.float().mean(), sentences.float().mean()


def _as_tensors(candidate, predicted, targets, pad_id):
    """What is returned, plain numbers as tensors."""
    shares = candidate(predicted, targets, pad_id)
    if not isinstance(shares, tuple | list):
        return shares
    return tuple(torch.tensor(share) if isinstance(share, float) else share for share in shares)


def _mean_share_of_sentences(predicted, targets, pad_id):
    real = targets != pad_id
    return ((predicted == targets) & real).sum(dim=1) / real.sum(dim=1)


counting = Exercise(
    name="my_accuracies",
    reference=accuracies,
    cases=_accuracy_cases,
    call=_as_tensors,
    outputs=("words", "sentences"),
    mistakes=[
        Mistake(
            lambda predicted, targets, pad_id: _pair(predicted == targets, (predicted == targets).all(dim=1)),
            "Padding is counted: whatever the model says there counts against it, and no short sentence can be right.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: _pair(
                (predicted == targets)[targets != pad_id], (predicted == targets).all(dim=1)
            ),
            "The words are right. In the sentences, padding is still compared: let it count as right there.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: _pair(
                (predicted == targets) | (targets == pad_id), ((predicted == targets) | (targets == pad_id)).all(dim=1)
            ),
            "The sentences are right. In the words, padding counts as right: with enough of it any model looks good.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: _pair(
                (predicted == targets)[targets != pad_id], ((predicted == targets) & (targets != pad_id)).any(dim=1)
            ),
            "One right word makes a sentence right for you: any in place of all.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: _pair(
                (predicted == targets)[targets != pad_id], (predicted == targets)[targets != pad_id]
            ),
            "Both numbers are that of the words. A sentence is right when all of its words are.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: tuple(reversed(accuracies(predicted, targets, pad_id))),
            "The two changed places: first the words, then the sentences.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: tuple(1 - share for share in accuracies(predicted, targets, pad_id)),
            "These are the shares of what is wrong.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: (
                _mean_share_of_sentences(predicted, targets, pad_id).mean(),
                accuracies(predicted, targets, pad_id)[1],
            ),
            "The sentences are right. For the words you took a mean of the sentences' shares: a word in a short "
            "sentence counts more than one in a long one. Take one mean over all real words.",
            also=[
                lambda predicted, targets, pad_id: (
                    _mean_share_of_sentences(predicted, targets, pad_id).mean(),
                    (_mean_share_of_sentences(predicted, targets, pad_id) == 1).float().mean(),
                )
            ],
        ),
        Mistake(
            lambda predicted, targets, pad_id: (
                ((predicted == targets) & (targets != pad_id)).float().mean(),
                accuracies(predicted, targets, pad_id)[1],
            ),
            "The sentences are right. In the words, padding is never counted as right, but it is counted in the number "
            "that you divide by.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: _pair(
                (predicted == targets)[targets != pad_id], ((predicted == targets) | (targets == pad_id)).all(dim=0)
            ),
            "The words are right. For the sentences you looked down the columns: a sentence is a row.",
        ),
        Mistake(
            lambda predicted, targets, pad_id: accuracies(predicted, targets, 0),
            "pad_id is not used: you took 0 for the padding, whatever pad_id says.",
            seen_in="another pad_id than 0",
        ),
    ],
    hints=[
        "real = targets != pad_id; right = predicted == targets.",
        "A sentence is right where, at each position, right or not real.",
    ],
)


def write(next_logits, bos_id: int, eos_id: int, pad_id: int, max_len: int) -> Tensor:
    """next_logits: ids (t,) -> logits (V,). Writes greedily and returns all ids, from the begin mark to the end mark"""
    ids = torch.tensor([bos_id])
    while ids[-1] != eos_id and len(ids) < max_len:
        ids = torch.cat([ids, next_logits(ids).argmax()[None]])
    return ids


def _write_with(candidate, rows, bos_id, eos_id, pad_id, max_len):
    return candidate(lambda ids: rows[ids[-1]], bos_id, eos_id, pad_id, max_len)


def _writing(next_logits, start, stop, max_len):
    ids = torch.tensor([start])
    while ids[-1] != stop and len(ids) < max_len:
        ids = torch.cat([ids, next_logits(ids).argmax()[None]])
    return ids


def _write_cases(generator) -> list[Case]:
    def case(vocab_size, max_len, chain, about=""):
        """A model in which each word of the chain is followed by the next one; its first three are the marks."""
        pad_id, bos_id, eos_id, *others = chain
        rows = numbers(generator, vocab_size, vocab_size)
        for word, after in zip([bos_id, *others, eos_id, pad_id], [*others, eos_id, others[1], others[-1]]):
            rows[word, after] = 5.0
        marks = {"bos_id": bos_id, "eos_id": eos_id, "pad_id": pad_id}
        return Case({"rows": rows, **marks, "max_len": max_len}, about=about)

    return [
        case(6, 8, [0, 1, 2, 3, 5, 4]),
        case(7, 9, [0, 1, 2, 6, 3, 4, 5]),
        case(6, 10, [5, 3, 0, 1, 4], about="other ids for the marks"),
        case(9, 3, [0, 1, 2, 8, 7, 6, 5], about="cut off at max_len"),
    ]


start_hunt = Exercise(
    name="mended_write",
    reference=write,
    cases=_write_cases,
    call=_write_with,
    outputs=("ids",),
    mistakes=[
        Mistake(
            lambda f, bos, eos, pad, n: _writing(f, pad, eos, n),
            "The model is sound, and what is written is another sentence than the expected one. Compare the two rows "
            "of ids from the left: where do they part?",
        ),
        Mistake(
            lambda f, bos, eos, pad, n: _writing(f, eos, eos, n),
            "It begins with the end mark, where a sentence is over and nothing is to be written.",
            also=[lambda f, bos, eos, pad, n: _writing(f, eos, -1, n)],
        ),
        Mistake(
            lambda f, bos, eos, pad, n: torch.cat([torch.tensor([bos]), _writing(f, pad, eos, n)[1:]]),
            "The first id that you return is right now, but the words after it are as they were: is it also the first "
            "id that the model reads?",
        ),
        Mistake(
            lambda f, bos, eos, pad, n: torch.cat([torch.tensor([pad]), _writing(f, bos, eos, n - 1)]),
            "There is an id too many: no sentence of the training had padding before its begin mark.",
        ),
        Mistake(
            lambda f, bos, eos, pad, n: _writing(f, bos, -1, n),
            "It begins right, but goes on after the end mark: eos_id is what ends a sentence.",
        ),
        Mistake(
            lambda f, bos, eos, pad, n: _writing(f, bos, eos, n)[1:],
            "The begin mark is missing in what is returned.",
        ),
        Mistake(
            lambda f, bos, eos, pad, n: _writing(f, bos, eos, n)[:-1],
            "The last id is missing in what is returned: the end mark belongs to it.",
        ),
    ],
    hints=[
        "What does the model read before it writes its first word? And what did it read there in training?",
        "In training each tgt began with the begin mark. A model that starts from anything else is in a place where it "
        "has never been.",
        "There is one wrong name in the function.",
    ],
)


def mended_loss(logits: Tensor, targets: Tensor, pad_id: int) -> Tensor:
    """logits (B, T, V), targets (B, T) -> the loss, without padding"""
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad_id)


softmax_hunt = Exercise(
    name="mended_loss",
    reference=mended_loss,
    cases=_loss_cases,
    outputs=("the loss",),
    mistakes=[
        Mistake(
            lambda logits, targets, pad_id: F.cross_entropy(
                logits.softmax(-1).flatten(0, 1), targets.flatten(), ignore_index=pad_id
            ),
            "A model may be as sure and as right as it likes: by this loss it never comes near 0. And if it is sure "
            "and wrong, it pays hardly more, at most 1.",
        ),
        Mistake(
            lambda logits, targets, pad_id: F.nll_loss(
                logits.softmax(-1).flatten(0, 1), targets.flatten(), ignore_index=pad_id
            ),
            "nll_loss wants logs of probabilities: with the probabilities themselves the loss is below 0.",
        ),
        Mistake(
            lambda logits, targets, pad_id: F.cross_entropy(
                logits.sigmoid().flatten(0, 1), targets.flatten(), ignore_index=pad_id
            ),
            "A sigmoid squeezes the logits before the softmax. cross_entropy wants them as they are.",
        ),
        Mistake(
            lambda logits, targets, pad_id: F.cross_entropy(logits.flatten(0, 1), targets.flatten()),
            "That was one mistake; now there is another. Padding is counted as if it were words: where is "
            "ignore_index?",
        ),
        Mistake(
            _unflattened,
            UNFLATTENED,
            also=[lambda logits, targets, pad_id: F.cross_entropy(logits, targets)],
        ),
    ],
    hints=[
        "Try it: logits of 100 at the right word and 0 elsewhere. Which loss should that be, and which is it?",
        "What does F.cross_entropy do to its first argument before it takes the log?",
        "It takes logits, and has a softmax of its own: leave the first line out. With two softmaxes the smallest "
        "possible loss is log(V - 1 + e) - 1.",
    ],
)
