"""A check never raises, whatever an answer returns, raises or changes, and leaves torch as it was."""

import contextlib
import functools
import itertools
import random
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from lessons.checking import limit, state
from lessons.checking.engine import Case, Exercise, Mistake
from tests.checking.test_engine import cell

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def right(x):
    return 2 * x


double = Exercise(
    "f",
    right,
    lambda generator: [Case({"x": X}), Case({"x": X.T}), Case({"x": X}, about="gradients", gradients=True)],
    [Mistake(lambda x: 3 * x, "three times"), Mistake(lambda x: 2 * x.T, "transposed")],
    [],
)
pair = Exercise("g", lambda x: (x, 2 * x), lambda g: [Case({"x": X}), Case({"x": X.T})], [], [], outputs=("one", "two"))
answer = Exercise("n", lambda: 7.0, lambda g: [Case({})], [Mistake(lambda: 8.0, "eight")], [])


def raising(error):
    def candidate(x):
        raise error

    return candidate


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class ManyWords(Exception):
    class Text(str):
        __slots__ = ()

        def __format__(self, specification):
            raise RuntimeError("no format")

        def __getitem__(self, place):
            raise RuntimeError("no place")

    def __str__(self):
        return self.Text("word " * 100_000)


def refuse(*args, **kwargs):
    raise RuntimeError("refused")


class Refusing:
    """A thing that refuses whatever it is asked."""

    __eq__ = __len__ = __iter__ = __bool__ = __repr__ = __str__ = __hash__ = __float__ = __array__ = refuse

    def __getattr__(self, name):
        raise RuntimeError("no attributes")


class Pretending:
    __class__ = torch.Tensor


class Endless(list):
    def __iter__(self):
        return itertools.repeat(X)


class Odd(torch.Tensor):
    shape = property(refuse)

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        raise SystemExit("no functions")


class Backward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, gradient):
        raise GeneratorExit


def deep():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    return nested


def swap_class(x):
    result = 2 * x.detach()
    x.__class__ = Odd
    return result


def recurse(x):
    return recurse(x)


RESULTS = {
    "an array": lambda x: x.detach().numpy(),
    "two arrays": lambda x: (x.detach().numpy(), x.detach().numpy()),
    "nested": lambda x: torch.nested.nested_tensor([x.detach(), x.detach()[:1]]),
    "jagged": lambda x: torch.nested.nested_tensor([x.detach(), x.detach()[:1]], layout=torch.jagged),
    "sparse": lambda x: x.to_sparse(),
    "no data": lambda x: x.to("meta"),
    "quantized": lambda x: torch.quantize_per_tensor(x.detach(), 0.1, 0, torch.qint8),
    "huge": lambda x: (x[0, 0] * 2).expand(10**5, 10**5),
    "huge, twice": lambda x: (x.sum().expand(10**10), x.sum().expand(10**10)),
    "refusing": lambda x: Refusing(),
    "two refusing": lambda x: (Refusing(), Refusing()),
    "pretending": lambda x: Pretending(),
    "endless": lambda x: Endless([x, x]),
    "odd": lambda x: (3 * x).as_subclass(Odd),
    "a parameter": lambda x: nn.Parameter(3 * x.detach()),
    "deep": lambda x: deep(),
    "itself": lambda x: (nested := [], nested.append(nested))[0],
    "a generator": lambda x: (row for row in x),
    "a class": lambda x: Refusing,
    "complex": lambda x: x + 1j,
    "unsigned": lambda x: x.to(torch.uint16),
    "eight bits": lambda x: x.to(torch.float8_e4m3fn),
    "no axis": lambda x: x.sum(),
    "nothing": lambda x: torch.empty(0),
    "bad backward": lambda x: Backward.apply(x),
    "bad hook": lambda x: ((y := 2 * x).requires_grad and y.register_hook(refuse), y)[1] + 1,
    "swapped class": swap_class,
    "resized": lambda x: x.detach().resize_(0),
    "input shrunk": lambda x: (2 * x, setattr(x, "data", x.data[:1]))[0],
    "input sparse": lambda x: (2 * x, setattr(x, "data", torch.eye(3).to_sparse()))[0],
    "input frozen": lambda x: (2 * x, x.grad_fn or x.requires_grad_(False), x.detach_())[0] + 1,
}
ERRORS = {
    error.__name__: raising(error)
    for error in (Silent, ManyWords, GeneratorExit, SystemExit, MemoryError, StopIteration, BaseException)
} | {
    "os._exit's kind": raising(OSError(1, "x")),
    "a group": raising(BaseExceptionGroup("all", [SystemExit(), ValueError()])),
    "recursion": recurse,
}


@pytest.mark.parametrize("exercise", [double, pair], ids=["one result", "two results"])
@pytest.mark.parametrize("candidate", [*RESULTS.values(), *ERRORS.values()], ids=[*RESULTS, *ERRORS])
def test_a_check_reports(exercise, candidate):
    report = exercise.check(candidate)
    assert report.verdict == "Not yet"
    assert "cannot be compared" not in report.message
    assert len(repr(report)) < 3000 and report._repr_html_()


@pytest.mark.filterwarnings("ignore:Exception ignored in PyObject_HasAttrString")  # torch's question; since Python 3.13
@pytest.mark.parametrize("make", [Refusing, Pretending, lambda: np.ones(2), deep, lambda: X.expand(10**4, 2, 3)])
def test_a_check_reports_whatever_the_answer_is(make):
    thing = make()
    assert answer.check(thing).verdict == "Not yet"
    assert "expected a function" in double.check(thing).message


def test_a_callable_that_refuses_all_else():
    class Callable(Refusing):
        def __call__(self, x):
            return x + x

    assert double.check(Callable()).passed


def test_the_text_of_an_error_is_shortened_or_missing():
    message = double.check(raising(ManyWords())).message
    assert "It raised ManyWords: word word" in message and " […] " in message and len(message) < 1000
    assert "It raised Silent: (its text cannot be shown)" in double.check(raising(Silent())).message


def test_what_cannot_be_compared_is_said():
    class Meta(type):
        __name__ = property(refuse)

    class Thing(metaclass=Meta):
        pass

    assert double.check(lambda x: Thing()).message == (
        "What f gives cannot be compared with what is expected (RuntimeError)."
    )


def test_the_learner_can_still_interrupt():
    with pytest.raises(KeyboardInterrupt):
        double.check(raising(KeyboardInterrupt()))


def test_results_in_one_piece_count_as_two():
    for stack in (torch.stack, lambda rows: torch.stack(rows).double()):
        assert pair.check(lambda x, stack=stack: stack([x, 2 * x])).passed
    assert pair.check(lambda x: np.stack([x, 2 * x])).message == "Type: one is a ndarray; expected a tensor."
    assert pair.check(lambda x: torch.stack([x, 3 * x])).message.startswith("Values: two differs in 6 of 6 places")
    assert pair.check(lambda x: X).message == "g returned one thing; expected 2: one, two."
    numbers = Exercise(
        "h",
        lambda x: (x.mean(), x.std()),
        lambda g: [Case({"x": X})],
        [],
        [],
        outputs=("mean", "deviation"),
        call=lambda candidate, x: tuple(map(torch.as_tensor, candidate(x))),
    )
    assert numbers.check(lambda x: np.array([x.numpy().mean(), x.numpy().std(ddof=1)])).passed


def test_a_result_that_a_later_call_overwrites():
    buffer = torch.empty(6)

    def candidate(x):
        return torch.mul(x.detach(), 2, out=buffer.view(x.shape))

    without_gradients = Exercise("f", right, lambda g: [Case({"x": X}), Case({"x": X.T})], [], [])
    assert without_gradients.check(candidate).passed


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_gradients_are_compared_wherever_the_check_is_run(mode):
    with mode():
        assert double.check(lambda x: x + x).passed
        assert "their gradients are not" in double.check(lambda x: 2 * x.detach()).message
        assert not torch.is_grad_enabled()


def fresh():
    """An exercise whose knowledge has not been used yet."""
    return Exercise(
        "f",
        lambda x: x / 3,
        lambda generator: [Case({"x": torch.randn(2, 3, generator=generator)}), Case({"x": torch.full((2, 2), 0.1)})],
        [
            Mistake(lambda x: x.float() @ torch.full((x.size(1), 1), 1 / 3), "a product"),
            Mistake(lambda x: torch.rand(x.shape) / 3, "drawn"),
        ],
        [],
    )


def test_what_is_known_does_not_depend_on_when_it_was_first_used():
    exercise = fresh()
    with torch.device("meta"), torch.autocast("cpu", dtype=torch.bfloat16), torch.inference_mode():
        torch.set_default_dtype(torch.float64)
        try:
            exercise.check(lambda x: x)
        finally:
            torch.set_default_dtype(torch.float32)
    for number, mistake in enumerate(exercise.mistakes):
        torch.manual_seed(number)
        assert exercise.check(mistake.wrong).mistake is mistake


def test_the_error_of_the_reference_is_no_right_answer():
    broken = Exercise("f", raising(ValueError("x")), lambda g: [Case({"x": X})], [], [])
    assert not broken.check(raising(ValueError("x"))).passed


def test_the_reference_itself_passes_with_a_word():
    word = "That is the reference itself"
    for candidate in (right, lambda x: right(x), lambda x: double.reference(x)):
        report = double.check(candidate)
        assert report.passed and word in report.message
    assert word not in double.check(lambda x: x + x).message

    class Doubled(nn.Module):
        def forward(self, x):
            return 2 * x

    class Mine(nn.Module):
        def forward(self, x):
            return x + x

    modules = Exercise("M", Doubled, lambda g: [Case({"x": X})], [], [], call=lambda module, x: module()(x))
    assert word in modules.check(type("Sub", (Doubled,), {})).message
    assert word not in modules.check(Mine).message
    assert word not in answer.check(7).message


def test_a_profile_that_is_running_goes_on():
    def profile(*event):
        pass

    sys.setprofile(profile)
    try:
        assert double.check(lambda x: right(x)).passed
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(None)


KEPT = []


def leave_on(mode):
    KEPT.append(mode)
    mode.__enter__()


ALTERATIONS = {
    "torch's default dtype from torch.float32 to torch.float64": lambda: torch.set_default_dtype(torch.float64),
    "torch's default device from cpu to meta": lambda: torch.set_default_device("meta"),
    "torch's recording of gradients from True to False": lambda: torch.set_grad_enabled(False),
    "torch's inference mode from False to True": lambda: leave_on(torch.inference_mode()),
    "the number of torch function modes from 0 to 1": lambda: leave_on(torch.overrides.BaseTorchFunctionMode()),
    "torch's print options": lambda: torch.set_printoptions(precision=1),
    "the number of torch's threads from": lambda: torch.set_num_threads(torch.get_num_threads() + 1),
    "torch's deterministic mode from 0 to 2": lambda: torch.use_deterministic_algorithms(True),
    "torch's anomaly detection from (False, True) to (True, True)": lambda: torch.set_anomaly_enabled(True),
    "torch's autocast from False to True": lambda: torch.set_autocast_enabled("cpu", True),
    "torch's precision of matrix products from highest to medium": lambda: torch.set_float32_matmul_precision("medium"),
    "Python's recursion limit from": lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 1),
    "torch.softmax": lambda: setattr(torch, "softmax", refuse),
    "torch.Tensor.sum": lambda: setattr(torch.Tensor, "sum", refuse),
    "torch.Tensor.__mul__": lambda: setattr(torch.Tensor, "__mul__", refuse),
    "torch.nn.functional.relu": lambda: setattr(F, "relu", refuse),
    "torch.nn.Linear": lambda: setattr(nn, "Linear", Refusing()),
    "torch.nn.Linear.forward": lambda: setattr(nn.Linear, "forward", refuse),
    "torch.nn.Module.__call__": lambda: delattr(nn.Module, "__call__"),
}


@pytest.mark.parametrize("told", ALTERATIONS)
@pytest.mark.parametrize("exercise", [double, pair, answer], ids=["one result", "two results", "an answer"])
def test_what_is_changed_is_put_back_and_told(told, exercise):
    def candidate(*inputs):
        result = exercise.reference(*inputs)
        ALTERATIONS[told]()
        return result

    functions = [dict(vars(owner)) for owner in (torch, torch.Tensor, F, nn, nn.Linear, nn.Module)]
    before = state.read()
    report = exercise.check(candidate)
    assert f"\nYour code changed {told}" in report.message and report.message.endswith(". It was put back.")
    assert state.read() == before
    for owner, contents in zip((torch, torch.Tensor, F, nn, nn.Linear, nn.Module), functions):
        assert [name for name, thing in contents.items() if vars(owner)[name] is not thing] == []
        assert not isinstance(owner, type) or len(vars(owner)) == len(contents)  # torch loads parts of it late
    KEPT.clear()
    assert report.passed
    assert "changed" not in exercise.check(exercise.reference).message


@pytest.mark.parametrize("by_torch", [True, False])
def test_what_torch_wraps_itself_is_not_told(by_torch, monkeypatch):
    """Importing torch._dynamo wraps torch.manual_seed, and a computation on "meta" may import it."""
    monkeypatch.setattr(torch, "manual_seed", torch.manual_seed)  # put back at the end
    where, written = torch.__file__ if by_torch else __file__, {}
    exec(compile("def wrapper(seed): return wrapper.__wrapped__(seed)", where, "exec"), written)
    wrapper = functools.update_wrapper(written["wrapper"], torch.manual_seed)

    def candidate(x):
        torch.manual_seed = wrapper
        return 2 * x

    assert ("changed torch.manual_seed" in double.check(candidate).message) == (not by_torch)


def test_random_numbers_and_warnings_go_on_as_if_nothing_had_been_checked():
    def candidate(x):
        warnings.simplefilter("ignore")
        torch.manual_seed(1)
        random.seed(1)
        np.random.seed(1)
        return x + x + 0 * torch.rand(()) * random.random() * float(np.random.rand())

    def draw():
        return torch.rand(()).item(), random.random(), np.random.rand()

    filters = list(warnings.filters)
    for seed in (torch.manual_seed, random.seed, np.random.seed):
        seed(0)
    expected = draw(), draw()
    for seed in (torch.manual_seed, random.seed, np.random.seed):
        seed(0)
    first = draw()
    report = double.check(candidate)
    assert (first, draw()) == expected
    assert warnings.filters == filters
    assert report.passed and "changed" not in report.message


def test_the_state_comes_back_after_an_interrupt():
    def candidate(x):
        torch.set_default_dtype(torch.float64)
        torch.relu = refuse
        raise KeyboardInterrupt

    relu = torch.relu
    with pytest.raises(KeyboardInterrupt):
        double.check(candidate)
    assert torch.get_default_dtype() is torch.float32
    assert torch.relu is relu


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(limit, "SECONDS", 0.2)


def spin(x):
    while True:
        pass


def catch_all(x):
    while True:
        try:
            for i in range(50):  # between two of these loops nothing is caught
                i + 1
        except:  # noqa: E722
            torch.set_default_dtype(torch.float64)


def catch_and_return(x):
    try:
        spin(x)
    except BaseException:
        return 2 * x


def finish_slowly(x):
    try:
        spin(x)
    finally:
        for _ in range(100_000):
            pass


class Looping(torch.autograd.Function):
    forward = Backward.forward

    @staticmethod
    def backward(ctx, gradient):
        while True:
            pass


def endless_text(x):
    class Loud(Exception):
        __str__ = spin

    raise Loud


def wait(x):
    while True:
        time.sleep(0.01)


@pytest.mark.one_of(3)
@pytest.mark.parametrize(
    "candidate",
    [spin, catch_all, catch_and_return, finish_slowly, Looping.apply, endless_text, wait],
    ids=lambda candidate: getattr(candidate, "__qualname__", "backward"),
)
def test_what_never_ends_is_stopped(soon, candidate):
    threads = threading.active_count()
    assert double.check(candidate).message.startswith("f was stopped after 0.2 seconds; the right answer takes milli")
    assert threading.active_count() == threads
    assert torch.get_default_dtype() is torch.float32
    assert double.check(lambda x: x + x).passed
    sum(range(100_000))  # no interruption is left over


def test_the_line_where_it_was_stopped_is_quoted(soon):
    text = "def f(x):\n    while True:\n        y = 2 * x\n        y = y + 1\n"
    assert " of your cell: " in double.check(cell(text, "f")).message


def test_it_is_stopped_in_another_thread_too(soon):
    reports = []
    thread = threading.Thread(target=lambda: reports.append(double.check(spin)))
    thread.start()
    thread.join()
    assert "f was stopped" in reports[0].message


def test_a_busy_machine_gives_more_time(monkeypatch):
    """The clock alone stops nothing: the processor must have worked half of the time."""
    monkeypatch.setattr(limit, "SECONDS", 0.1)
    monkeypatch.setattr(limit.time, "process_time", lambda: 0.0)
    start = time.monotonic()
    with pytest.raises(limit.TooLong):
        limit.limited(lambda: spin(X))
    assert time.monotonic() - start >= 0.4


def test_what_ends_in_time_is_left_alone(soon):
    assert limit.limited(lambda: 3) == 3
    time.sleep(0.3)
    sum(range(100_000))


def test_an_interruption_that_arrives_at_the_end_goes_no_further(monkeypatch):
    threads = threading.active_count()
    monkeypatch.setattr(limit, "SECONDS", 0.0)
    for _ in range(100):
        with contextlib.suppress(limit.TooLong):
            limit.limited(lambda: sum(range(random.randrange(20_000))))
        sum(range(1000))
    assert threading.active_count() == threads
