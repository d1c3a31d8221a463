"""`python -m lessons.train`: a training from a file, its faults in one sentence each, and a process that is killed."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from lessons import checkpoints, train
from lessons.parallel import ProcessLost
from lessons.tasks.stream import PairStream, prepare
from tests.parallel.test_two_processes import TORCHRUN, write_pairs

CONFIG = """
[model]
d_model = 16
num_heads = 2
num_layers = 1
d_ff = 24
dropout = 0.0
[recipe]
steps = 12
batch_size = 8
warmup = 4
schedule = "constant"
betas = [0.9, 0.98]
[data]
vocab_size = 60
window = 20
"""


@pytest.fixture
def files(tmp_path):
    (tmp_path / "run.toml").write_text(CONFIG, encoding="utf-8")
    return tmp_path, write_pairs(tmp_path / "pairs.tsv", 60)


@pytest.fixture
def command(files, capsys):
    """Runs the command with these files; returns its status and what it said."""
    folder, pairs = files

    def command(*more, data=(pairs,), config="run.toml", output="run"):
        arguments = ["--output", folder / output, "--device", "cpu", "--save-every", 6, *more]
        arguments += ["--data", *data] if data else []
        arguments += ["--config", folder / config] if config else []
        capsys.readouterr()
        status = train.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return status, said.out + said.err

    return command


def losses(said):
    return [float(found) for found in re.findall(r"loss ([\d.]+)", said)]


def test_a_training_from_a_file_and_its_resumption(command, files):
    status, whole = command()
    assert status == 0 and re.search(
        r"^step 12: loss [\d.]+, [\d.]+ on held-out pairs; [\d,]+ tokens; saved$", whole, re.M
    )
    assert sorted(file.name for file in (files[0] / "run").iterdir()) == ["data", "settings.json", "training.pt"]
    status, half = command("--steps", 6, output="other")
    assert status == 0 and losses(half) == losses(whole)[:1]
    status, rest = command("--resume", data=(), config=None, output="other")
    assert status == 0 and losses(rest) == losses(whole)[1:]


def test_a_finished_training_can_go_on(command):
    command()
    status, said = command("--resume", "--steps", 18, data=())
    assert status == 0 and "step 18: " in said


def test_a_terminal_shows_how_far_it_is(command, monkeypatch):
    assert "pairs/s" not in command()[1]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    said = command(output="other")[1]
    assert said.count("60 pairs") >= 2  # they are read twice
    assert "12/12" in said


def test_data_are_prepared_once_and_again_when_they_have_changed(command, files, monkeypatch):
    monkeypatch.setattr(train, "_train", lambda *arguments: None)
    assert ["preparing" in command()[1] for _ in range(2)] == [True, False]
    write_pairs(files[1], 80)
    assert "preparing" in command()[1]
    (files[0] / "run.toml").write_text(CONFIG.replace("= 60", "= 50"), encoding="utf-8")
    assert "preparing" in command()[1]


@pytest.mark.parametrize("when", ["during", "after"])
def test_an_interrupted_preparation_is_forgotten(command, files, monkeypatch, when):
    """Also what was prepared before it, which it replaces."""

    def interrupted(*arguments, **options):
        if when == "after":
            prepare(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "_train", lambda *arguments: None)
    command()
    with monkeypatch.context() as patch:
        patch.setattr(train, "prepare", interrupted)
        assert command(data=(write_pairs(files[0] / "other.tsv", 80),))[0] == 130
    status, said = command()
    assert status == 0 and "preparing" in said
    assert PairStream(files[0] / "run" / "data").files == ["pairs.tsv"]


def test_data_that_somebody_removed_are_prepared_again(command, files, monkeypatch):
    monkeypatch.setattr(train, "_train", lambda *arguments: None)
    command()
    shutil.rmtree(files[0] / "run" / "data")
    status, said = command()
    assert status == 0 and "preparing" in said


def test_each_file_counts_and_so_does_the_order(command, files, monkeypatch):
    monkeypatch.setattr(train, "_train", lambda *arguments: None)
    pairs, other = files[1], write_pairs(files[0] / "other.tsv", 40)
    for data in [(pairs,), (pairs, other), (other, pairs), (other, pairs, pairs)]:
        assert "preparing" in command(data=data)[1]
        assert "preparing" not in command(data=data)[1]
    status, said = command(data=(other, pairs, pairs, "typo.tsv"))
    assert status == 1 and re.search(r"paths contains '.*typo\.tsv', where no file is; expected files of", said)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"data": ()}, "data is empty; expected one file of sentence pairs or more"),
        ({"data": ("nowhere.tsv",)}, "nowhere.tsv', where no file is; expected files of sentence pairs"),
        ({"config": "nowhere.toml"}, "nowhere.toml', which can't be read: No such file"),
        (("--resume",), "where no training.pt is; expected a training to resume"),
        (("--save-every", 0), "save_every is 0; expected a whole number, 1 or more"),
        (("--accumulate", 9), "batch_size is 8; expected 9 or more"),
        (("--device", "tpu"), "device is 'tpu'; expected one of 'auto', 'cpu', 'cuda'"),
        (("--accumulate", 0), "accumulate is 0; expected a whole number, 1 or more"),
        (("--steps", 0), "steps is 0; expected a whole number, 1 or more"),
        (("--patience", 0), "patience is 0.0; expected a number above 0"),
    ],
)
def test_what_cannot_be_is_one_sentence_before_any_work(command, files, more, message):
    status, said = command(**more) if isinstance(more, dict) else command(*more)
    assert status == 1 and message in said
    assert said.count("\n") == said.count("lessons.train: ") == 1 and not (files[0] / "run").exists()


def test_a_batch_has_a_pair_for_each_part_in_each_process(command, files, monkeypatch):
    for name, value in {"RANK": "0", "WORLD_SIZE": "3", "MASTER_ADDR": "nowhere.invalid"}.items():
        monkeypatch.setenv(name, value)
    status, said = command("--accumulate", 3)
    assert status == 1 and "batch_size is 8; expected 9 or more, one pair for each of 3 parts in 3 processes" in said
    assert not (files[0] / "run").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model = 3", "config has model; expected the tables model, recipe, data"),
        ("[models]", "config has models; expected the tables model, recipe, data"),
        ("[model]\nd_modle = 3", "config has d_modle in [model]; expected one of d_model, "),
        ("[model]\nsrc_pad_id = 3", "config has src_pad_id in [model]; expected one of "),
        ("[model]\nmax_len = 100", "max_len in [model] is 100; expected 101 or more, 1 above max_len in [data]"),
        ('[model]\nmax_len = 9\npositions = "learned"\n[data]\nmax_len = 9', "is 9; expected 10 or more, 1 above"),
        ("[model]\nd_model = 3", "d_model is 3; expected a multiple of num_heads = 8"),
        ("[recipe]\nclip = 0", "clip is 0; expected a number above 0, or None"),
        ("[recipe]\nbetas = 0.9", "betas is 0.9; expected two fractions"),
        ("[recipe]\nbetas = [0.9]", "betas is (0.9,); expected two fractions"),
        ("[recipe]\nweight_decay = nan", "weight_decay is nan; expected a number, 0 or more"),
        ('[model]\nnorm_first = "false"', "norm_first is 'false'; expected True or False"),
        ("[recipe]\nseed = 18446744073709551616", "expected a whole number from 0 to 18446744073709551615"),
        ("[data]\nvocab_size = 3", "vocab_size is 3; expected a whole number, 8 or more"),
        ("[data]\nmax_len = 0", "max_len is 0; expected a whole number, 1 or more"),
        ("[data]\nheld_out_every = 1", "held_out_every is 1; expected a whole number, 2 or more"),
        ("[data]\nskip_corrupt = 1", "skip_corrupt is 1; expected True or False"),
        ("[data]\nencoding = 5", "encoding is 5; expected one that keeps ASCII bytes"),
        ("[data]\nwindow = 0", "window is 0; expected a whole number, 1 or more"),
        ("[data", "which is not TOML"),
    ],
)
def test_a_config_that_cannot_be_is_refused_before_any_work(command, files, monkeypatch, text, message):
    monkeypatch.setattr(train, "_trainer", None)
    (files[0] / "bad.toml").write_text(text, encoding="utf-8")
    status, said = command(config="bad.toml")
    assert status == 1 and message in said and not (files[0] / "run").exists()


@pytest.mark.parametrize("model", ["max_len = 21", 'max_len = 1\npositions = "rotary"'])
def test_the_longest_sentences_fit(command, files, model):
    """Of 20 subwords: the decoder also gets BOS, and only tables of positions have a length."""
    with files[1].open("a", encoding="utf-8") as file:
        file.writelines(f"{' '.join('a' * 20)}\t{' '.join('b' * 20)}\n" for _ in range(60))
    changed = CONFIG.replace("[model]", f"[model]\n{model}") + "max_len = 20"
    (files[0] / "run.toml").write_text(changed, encoding="utf-8")
    assert command()[0] == 0


def test_a_training_is_not_overwritten(command, files):
    command()
    before = (files[0] / "run" / "training.pt").read_bytes()
    status, said = command()
    assert status == 1 and "run', where a training is; --resume continues it" in said
    (files[0] / "other.toml").write_text(CONFIG.replace("d_ff = 24", "d_ff = 32"), encoding="utf-8")
    assert "data can't be given with --resume" in command("--resume")[1]
    status, said = command("--resume", data=(), config="other.toml")
    assert status == 1 and re.search(r"config has d_ff = 32; expected 24, as .*training\.pt was trained", said)
    assert (files[0] / "run" / "training.pt").read_bytes() == before


def test_a_corrupt_line_is_refused_or_left_out(command, files):
    with files[1].open("a", encoding="utf-8") as file:
        file.write("no tab\n")
    status, said = command()
    assert status == 1 and "pairs.tsv, line 61: no tab in 'no tab'; expected source, tab, target" in said
    (files[0] / "run.toml").write_text(CONFIG + "skip_corrupt = true", encoding="utf-8")
    assert command()[0] == 0


def test_a_full_disk_leaves_the_last_checkpoint(command, files, monkeypatch):
    real, saved = checkpoints.save, []

    def save(path, state):
        if saved:
            raise OSError(28, "No space left on device", str(path))
        saved.append(real(path, state))

    monkeypatch.setattr(checkpoints, "save", save)
    status, said = command()
    assert status == 1 and "No space left on device" in said
    monkeypatch.undo()
    status, said = command("--resume", data=())
    assert status == 0 and "step 12: " in said and "step 6: " not in said


@pytest.fixture
def stop(command, monkeypatch):
    """Runs the command, with an interrupt after this step."""

    def stop(step, *more):
        def interrupted(self):
            for progress in fit(self):
                yield progress
                if progress.step == step:
                    raise KeyboardInterrupt

        fit = train.ParallelTrainer.fit
        with monkeypatch.context() as patch:
            patch.setattr(train.ParallelTrainer, "fit", interrupted)
            status, said = command(*more)
        assert status == 130 and f"stopped at step {step}, which is saved; --resume continues." in said

    return stop


def test_an_interrupted_training_is_saved(command, stop):
    stop(3)
    assert losses(command("--resume", data=())[1]) == losses(command(output="whole")[1])


@pytest.mark.parametrize("step", [3, 14])
def test_a_stopped_training_goes_on_to_its_own_last_step(command, files, stop, step):
    """At the same rates, which depend on it: not to the recipe's last, 12."""
    (files[0] / "run.toml").write_text(CONFIG.replace('"constant"', '"cosine"'), encoding="utf-8")
    stop(step, "--steps", 18)
    status, said = command("--resume", data=(), config=None)
    assert status == 0 and "continuing to step 18, as before, not the recipe's 12; --steps changes it" in said
    assert losses(said) == losses(command("--steps", 18, output="whole")[1])[step // 6 :]


def test_a_stopped_training_can_get_another_last_step(command, stop):
    stop(3, "--steps", 18)
    status, said = command("--resume", "--steps", 6, data=())
    assert status == 0 and "step 6: " in said and "continuing" not in said


def test_a_resumption_that_would_do_nothing_is_refused(command):
    command()
    for more, last in [((), 12), (("--steps", 12), 12), (("--steps", 5), 5)]:
        status, said = command("--resume", *more, data=())
        assert status == 1 and f"steps is {last}; expected more than the 12 that are taken" in said


def test_a_lost_process_is_one_sentence(command, monkeypatch):
    def lost(*arguments):
        raise ProcessLost("process 0 of 2 stops: another process has ended.")

    monkeypatch.setattr(train, "_train", lost)
    assert command()[1].endswith("lessons.train: process 0 of 2 stops: another process has ended.\n")


def test_a_log_for_tensorboard(command, files):
    pytest.importorskip("tensorboard", reason="the package tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    assert command("--log")[0] == 0
    log = EventAccumulator(str(files[0] / "run" / "log")).Reload()
    assert [event.step for event in log.Scalars("loss/training")] == list(range(1, 13))
    assert [event.step for event in log.Scalars("loss/held-out")] == [6, 12]


def test_a_log_without_tensorboard_says_what_to_install(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    assert command("--log")[1].endswith("log needs the package tensorboard: pip install tensorboard\n")


@pytest.mark.thorough("starts processes")
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL and no SIGSTOP")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_the_others_stop_and_the_training_goes_on_with_one_process(command, files, how):
    folder, pairs = files
    arguments = ["--data", pairs, "--config", folder / "run.toml", "--output", folder / "run", "--device", "cpu"]
    endless = ["--steps", "1000000", "--save-every", "6", "--patience", "15"]
    lost = "process 0 of 2 stops: another process has ended, or has not answered for 15 seconds."
    start = [*TORCHRUN, "-m", "lessons.train", *arguments, *endless]
    with subprocess.Popen(start, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        read_until(running.stdout, "step 6: ")
        second = next(child for child in children(running.pid) if environment(child)["RANK"] == "1")
        os.kill(second, how)
        read_until(running.stdout, f"lessons.train: {lost}", "lessons.train: stopped, as the system or torchrun asked")
        if how == signal.SIGSTOP:
            os.kill(second, signal.SIGKILL)  # torchrun would wait 30 seconds for it
        running.stdout.read()
    assert running.returncode != 0
    saved = checkpoints.load(folder / "run" / "training.pt")["counts"][0]
    status, resumed = command("--resume", "--steps", saved + 6, data=())
    assert status == 0
    _, whole = command("--steps", saved + 6, output="whole")
    assert losses(resumed) == pytest.approx(losses(whole)[-1:], abs=2e-3)


def read_until(file, *beginnings):
    said = []
    for line in file:
        said.append(line)
        if line.startswith(beginnings):
            return
    raise AssertionError("".join(said))


def children(pid):
    found = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True).stdout
    return [int(number) for number in found.split()]


def environment(pid):
    with open(f"/proc/{pid}/environ", encoding="utf-8") as file:
        return dict(entry.split("=", 1) for entry in file.read().split("\0") if "=" in entry)


def test_the_settings_are_kept_as_json(command, files):
    command()
    settings = json.loads((files[0] / "run" / "settings.json").read_text(encoding="utf-8"))
    assert settings["model"]["d_model"] == 16 and settings["recipe"]["betas"] == [0.9, 0.98]
