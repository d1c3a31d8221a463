"""lessons.parallel: two processes take the steps of one, and an error in one is known to both."""

import subprocess
import sys

import pytest
import torch

from lessons.tasks.stream import PairStream, prepare
from tests.parallel.work import BIG_EPS, HALF, NUMBERS, RECIPE, make, run

pytestmark = pytest.mark.thorough("starts processes")
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def write_pairs(path, count):
    path.write_text("".join(f"a{i % 7} b{i} c\td{i} e{i % 5}\n" for i in range(count)), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    prepare(folder / "data", write_pairs(folder / "pairs.tsv", 50), vocab_size=60)
    alone = make(PairStream(folder / "data", window=9), BIG_EPS)
    run(alone, until=HALF)
    alone.save(folder / "alone.pt")
    alone.save(folder / "of 0.pt")
    return folder


@pytest.fixture(scope="module")
def found(folder):
    """What each of the two processes found."""
    ended = subprocess.run([*TORCHRUN, "-m", "tests.parallel.work", folder], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return [torch.load(folder / f"found {rank}.pt") for rank in range(2)]


def assert_same(ours, theirs):
    """Losses, norms, tokens, and weights to 1e-6."""
    torch.testing.assert_close(torch.tensor(ours[0]), torch.tensor(theirs[0]), rtol=1e-5, atol=1e-5)
    assert [tokens for *_, tokens in ours[0]] == [tokens for *_, tokens in theirs[0]]
    assert len(ours[0]) == len(theirs[0]) and (ours[1] - theirs[1]).abs().max() < 1e-6


def test_two_processes_give_the_weights_of_one(found):
    """With batches of 7 pairs, in two parts each, clipped and smoothed."""
    alone = run(make(NUMBERS, RECIPE, dtype=torch.float64))
    for each in found:
        assert_same(each["whole"], alone)


def test_a_stream_with_batches_of_which_one_process_gets_nothing(folder, found):
    stream = PairStream(folder / "data", window=9)
    assert any(len(stream.step_batch(4, step=step, seed=0).src) == 1 for step in range(1, HALF + 1))
    alone = make(stream, BIG_EPS)
    assert_same(found[0]["half"], run(alone, until=HALF))
    assert_same(found[0]["other half"], run(alone))


def test_a_checkpoint_goes_on_with_another_number_of_processes(folder, found):
    alone = make(PairStream(folder / "data", window=9), BIG_EPS)
    alone.load(folder / "half.pt")
    numbers = run(alone)
    assert_same(numbers, found[1]["other half"])
    assert_same(numbers, found[1]["resumed"])


@pytest.mark.parametrize(
    ("what", "of_its_own", "at"),
    [
        ("read", "ValueError: pairs.tsv, line 7: no tab", 1),
        ("saved", "FileNotFoundError: ", 0),
        ("loaded", "ValueError: path is ", 1),
    ],
)
def test_an_error_in_one_process_is_raised_in_both(found, what, of_its_own, at):
    assert found[at][what].startswith(of_its_own)
    sentence = found[at][what].split(": ", 1)[1]
    assert found[1 - at][what] == f"ElsewhereError: process {at} of 2: {sentence}"
