"""lessons.pretrained: the translator that ships; MiniLM in our encoder gives what the reference gives; means, heads."""

import importlib.util
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from safetensors.torch import load_file
from traitlets.config import Config

from lessons import checkpoints
from lessons.config import TransformerConfig
from lessons.evaluation import exact_match, translate
from lessons.masks import padding
from lessons.parity import from_bert_names
from lessons.pretrained import (
    MISSING,
    PACKAGE,
    TRANSLATOR,
    SentenceEncoder,
    from_bert,
    load_minilm,
    load_translator,
    mean_pooling,
    minilm_folder,
    one_head,
    read_sentences,
    save_translator,
    when_installed,
)
from lessons.tasks import Translation
from lessons.tasks.words import NOUNS
from lessons.transformer import Transformer

# Made once with transformers 5.23.0: BertModel.from_pretrained(minilm_folder(), attn_implementation="eager"), in eval
# mode, attention_mask = ids != 0. `weights` holds heads 0, 3, 6 and 9 of each layer: (L, B, H, S, S).
REFERENCE = load_file(Path(__file__).parent / "minilm_reference.safetensors")
SENTENCES = ["The cat sat.", "Dog bites man and man bites dog"]
SETTINGS = {
    "vocab_size": 23,
    "hidden_size": 12,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "intermediate_size": 20,
    "max_position_embeddings": 9,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}


# --- the translator --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def translator():
    return load_translator()


def test_the_translator_is_small():
    assert TRANSLATOR.stat().st_size <= 600_000


def test_the_translator_gets_99_of_100_held_out_sentences_right(translator):
    model, task = translator
    held_out = task.batch(1000, torch.Generator().manual_seed(2), "held_out")  # not those that `make model` looks at
    assert exact_match(model, held_out, task) >= 0.99


def test_the_translator_translates(translator):
    texts = ["My friend will read this new book at home tomorrow.", "Did Tom buy a cake yesterday?"]
    assert translate(translator[0], texts, translator[1]) == [
        "我朋友明天会在家看这本新书。",
        "汤姆昨天买了一个蛋糕吗？",
    ]


def test_sentences_from_elsewhere_come_out_as_lesson_09_says(translator):
    texts = ["Tom bought a pizza yesterday.", "The dog will eat the doctor tomorrow."]
    assert translate(translator[0], texts, translator[1]) == ["汤姆昨天买了一个蛋糕。", "医生明天会吃狗。"]


def test_the_last_cross_attention_finds_the_noun(translator):
    """What lesson 08 says of 1,000 sentences: a noun and its measure word attend most to the English noun."""
    model, task = translator
    nouns = {noun.zh: {noun.one, noun.many} for noun in NOUNS if noun.measure}
    src, tgt = task.batch(1000, torch.Generator().manual_seed(3), "held_out")
    _, weights = model(src, tgt[:, :-1], need_weights=True)
    best = weights["decoder.1.cross_attn"].mean(dim=1).argmax(dim=-1)  # (B, T)
    counted = 0
    for sentence, generated, attended in zip(src, tgt[:, 1:], best):
        english = [task.src_vocab.words[sentence[i]] for i in attended]
        chinese = task.tgt_vocab.decode(generated)
        for t, word in enumerate(chinese):
            if word in nouns:
                assert english[t] in nouns[word]
                measure = next(noun.measure for noun in NOUNS if noun.zh == word)
                for before in (t - 1, t - 2):  # perhaps an adjective between them
                    if chinese[before] == measure:
                        assert english[before] in nouns[word]
                        counted += 1
    assert counted > 200


def test_the_translator_is_ready_to_use(translator):
    model, task = translator
    assert not model.training
    assert all(x.dtype == torch.float32 and not x.requires_grad for x in model.parameters())
    assert (model.config.src_vocab_size, model.config.tgt_vocab_size) == (len(task.src_vocab), len(task.tgt_vocab))
    assert (model.config.d_model, model.config.num_layers, model.config.decoder_depth) == (64, 2, 2)


def test_the_translator_is_the_same_each_time_and_gives_its_weights_away(translator):
    other = Transformer(translator[0].config)
    other.load_state_dict(load_translator()[0].state_dict())
    for name, x in translator[0].state_dict().items():
        assert torch.equal(other.state_dict()[name], x)


def test_the_same_weights_are_written_byte_for_byte(tmp_path):
    tensors, about = checkpoints.load_weights(TRANSLATOR)
    assert {x.dtype for x in tensors.values()} == {torch.float16}
    one, two = tmp_path / "one", tmp_path / "two"
    checkpoints.save_weights(one, tensors, about)
    checkpoints.save_weights(two, dict(reversed(tensors.items())), dict(reversed(about.items())))
    assert one.read_bytes() == two.read_bytes()
    assert checkpoints.load_weights(one)[1] == about


def test_safetensors_itself_reads_the_file_of_the_translator(translator):
    for name, x in load_file(TRANSLATOR).items():
        assert torch.equal(x.float(), translator[0].state_dict()[name])


@pytest.mark.parametrize("place", [0, 9, 200, 5_000, 20_000, 100_000, -1])
def test_a_flipped_bit_is_refused(tmp_path, place):
    content = bytearray(TRANSLATOR.read_bytes())
    content[place] ^= 1
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.safetensors', which is damaged: its checksum does not fit; expected"):
        load_translator(path)


@pytest.mark.parametrize(
    "content", [b"", b"version https://git-lfs.github.com/spec/v1\n", b'sha256\\": \\"' + b"0" * 64]
)
def test_what_is_no_file_of_weights_is_refused(tmp_path, content):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="which is damaged: its checksum does not fit"):
        load_translator(path)


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"nothing\.safetensors', where no file is; expected one that save_weights"):
        load_translator(tmp_path / "nothing.safetensors")


def test_a_translator_of_other_words_is_refused(translator, tmp_path):
    tensors, about = checkpoints.load_weights(TRANSLATOR)
    about["tgt_words"][4:6] = reversed(about["tgt_words"][4:6])
    checkpoints.save_weights(tmp_path / "model.safetensors", tensors, about)
    path = tmp_path / "model.safetensors"
    with pytest.raises(
        ValueError, match=rf"^path is {str(path)!r}, which knows other words than Translation.*make model"
    ):
        load_translator(path)


def test_what_is_saved_is_rounded_to_half_precision_and_comes_back(translator, tmp_path):
    torch.manual_seed(0)
    model, path = Transformer(translator[0].config), tmp_path / "model.safetensors"
    save_translator(model, translator[1], path, recipe={"steps": 3})
    back, task = load_translator(path)
    assert isinstance(task, Translation)
    assert checkpoints.load_weights(path)[1]["recipe"] == {"steps": 3}
    for name, x in model.state_dict().items():
        assert torch.equal(back.state_dict()[name], x.half().float())


# --- MiniLM ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def minilm():
    return load_minilm()


@pytest.fixture(autouse=True)
def _no_gradients():
    with torch.no_grad():
        yield


def test_the_model_gives_what_the_reference_gives(minilm):
    hidden, weights = minilm[0](REFERENCE["ids"], need_weights=True)
    real = REFERENCE["ids"] != 0  # what stands in the rows of padding, nobody uses
    torch.testing.assert_close(hidden[real], REFERENCE["hidden"][real], rtol=0, atol=1e-5)
    assert list(weights) == [f"{layer}.self_attn" for layer in range(6)]
    found = torch.stack(list(weights.values()))[:, :, ::3].transpose(2, 3)  # (L, B, Q, H, K)
    torch.testing.assert_close(found[:, real], REFERENCE["weights"].transpose(2, 3)[:, real], rtol=0, atol=1e-5)


if importlib.util.find_spec("transformers"):  # no part of the course; compared with where somebody has it

    @pytest.mark.thorough("imports transformers")
    def test_the_model_gives_what_transformers_gives(minilm):
        from transformers import BertModel

        theirs = BertModel.from_pretrained(minilm_folder(), attn_implementation="eager").eval()
        sentences = [*SENTENCES, "A much longer sentence, with a few words that are split: unhyphenated, gobbledygook."]
        ids, _ = read_sentences(minilm[1], sentences)
        real = ids != 0
        hidden, weights = minilm[0](ids, need_weights=True)
        expected = theirs(ids, attention_mask=real.long(), output_attentions=True)
        torch.testing.assert_close(hidden[real], expected.last_hidden_state[real], rtol=0, atol=1e-5)
        for ours, other in zip(weights.values(), expected.attentions):
            torch.testing.assert_close(ours.transpose(1, 2)[real], other.transpose(1, 2)[real], rtol=0, atol=1e-5)


def test_sentences_become_ids_padded_to_the_longest(minilm):
    ids, tokens = read_sentences(minilm[1], SENTENCES)
    assert torch.equal(ids, REFERENCE["ids"])
    assert tokens[0] == ["[CLS]", "the", "cat", "sat", ".", "[SEP]", "[PAD]", "[PAD]", "[PAD]"]


def test_a_long_text_is_cut_off(minilm):
    ids, tokens = read_sentences(minilm[1], ["word " * 1000])
    assert ids.shape == (1, 128)  # the model has 512 positions
    assert (tokens[0][0], tokens[0][-1]) == ("[CLS]", "[SEP]")


def test_a_single_text_is_no_list_of_sentences(minilm):
    with pytest.raises(ValueError, match=r"sentences is 'The cat'; expected a list of sentences"):
        read_sentences(minilm[1], "The cat")


def test_padding_changes_nothing(minilm):
    model, tokenizer = minilm
    together, _ = read_sentences(tokenizer, SENTENCES)
    alone, _ = read_sentences(tokenizer, SENTENCES[:1])
    vectors = [mean_pooling(model(ids)[0], ids != 0)[0] for ids in (together, alone)]
    torch.testing.assert_close(*vectors, rtol=0, atol=1e-5)
    torch.testing.assert_close(vectors[0].norm(), torch.tensor(1.0))


def test_a_mask_that_is_given_is_the_whole_rule(minilm):
    ids = REFERENCE["ids"]
    assert not torch.allclose(minilm[0](ids, torch.ones(9, 9, dtype=torch.bool))[0][0], minilm[0](ids)[0][0], atol=1e-3)
    torch.testing.assert_close(minilm[0](ids, padding(ids, pad_id=0))[0], minilm[0](ids)[0])


def test_mean_pooling_on_paper():
    hidden = torch.tensor([[[3.0, 0.0], [3.0, 8.0], [9.0, 9.0]], [[0.0, 2.0], [torch.nan, 1.0], [1.0, 1.0]]])
    real = torch.tensor([[True, True, False], [True, False, False]])
    torch.testing.assert_close(mean_pooling(hidden, real), torch.tensor([[0.6, 0.8], [0.0, 1.0]]))


def test_mean_pooling_of_padding_alone_is_zero():
    real = torch.tensor([[True, False], [False, False]])
    assert mean_pooling(torch.ones(2, 2, 4), real).tolist() == [[0.5] * 4, [0.0] * 4]


def test_mean_pooling_refuses_a_mask_of_numbers():
    with pytest.raises(ValueError, match=r"real is a tensor of torch.int64; expected a bool tensor, True = a token"):
        mean_pooling(torch.ones(1, 2, 4), torch.tensor([[1, 0]]))


def bert_state(eps=1e-12, **options):
    """A small model of ours, and its weights as BERT names them."""
    torch.manual_seed(0)
    config = TransformerConfig(
        23, 23, d_model=12, num_heads=3, num_layers=2, d_ff=20, dropout=0.0, max_len=9, activation="gelu"
    )
    ours = SentenceEncoder(config, eps=eps, **options)
    for x in ours.parameters():
        torch.nn.init.normal_(x, std=0.5)
    names = {  # ours to BERT's, written the other way round than in the module
        "embedding.tokens": "embeddings.word_embeddings",
        "embedding.positions.table": "embeddings.position_embeddings.weight",
        "embedding.types": "embeddings.token_type_embeddings",
        "embedding.norm": "embeddings.LayerNorm",
        "encoder.layers": "encoder.layer",
        "self_attn.q_proj": "attention.self.query",
        "self_attn.k_proj": "attention.self.key",
        "self_attn.v_proj": "attention.self.value",
        "self_attn.out_proj": "attention.output.dense",
        "self_attn_residual.norm": "attention.output.LayerNorm",
        "feed_forward.linear1": "intermediate.dense",
        "feed_forward.linear2": "output.dense",
        "feed_forward_residual.norm": "output.LayerNorm",
    }
    state = {}
    for name, x in ours.state_dict().items():
        for mine, theirs in names.items():
            name = name.replace(mine, theirs)
        state[name] = x
    return ours.eval(), state


def test_its_settings_are_the_models_own():
    ours, state = bert_state(num_types=3)
    back = from_bert(state, {**SETTINGS, "type_vocab_size": 3, "pad_token_id": 5})
    pads = {"src_pad_id": 5, "tgt_pad_id": 5}
    assert back.config == replace(ours.config, positions="learned", norm_first=False, **pads)
    assert back.embedding.types.weight.shape == (3, 12)
    assert len(back.embedding.positions.table) == back.config.max_len == 9
    plain = SentenceEncoder(ours.config)
    assert plain.embedding.types.weight.shape == (2, 12)
    assert {part.eps for part in plain.modules() if isinstance(part, torch.nn.LayerNorm)} == {1e-12}
    assert back(torch.tensor([[4, 5]]))[1] is None


@pytest.mark.parametrize("eps", [1e-12, 1e-2])
def test_any_model_of_berts_kind_is_read(eps):
    ours, state = bert_state(eps)
    unused = {"embeddings.position_ids": torch.arange(9)[None], "pooler.dense.weight": torch.zeros(12, 12)}
    back = from_bert({**state, **unused}, {**SETTINGS, "layer_norm_eps": eps})
    ids = torch.tensor([[4, 7, 1, 22, 9], [3, 3, 2, 0, 0]])
    torch.testing.assert_close(back(ids, need_weights=True), ours(ids, need_weights=True), rtol=0, atol=0)
    assert not back.training
    assert not any(x.requires_grad for x in back.parameters())


@pytest.mark.parametrize(
    ("name", "value"), [("hidden_act", "relu"), ("position_embedding_type", "relative_key"), ("model_type", "gpt2")]
)
def test_what_our_encoder_cannot_do_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} is '{value}'; expected '"):
        from_bert(bert_state()[1], {**SETTINGS, name: value})


def test_a_strange_name_is_refused():
    with pytest.raises(ValueError, match=r"state holds '.*strange\.weight'; expected the names of a BERT"):
        from_bert_names({"encoder.layer.0.strange.weight": torch.zeros(2)})


def test_a_model_that_is_missing_is_missed(monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGE, None)
    with pytest.raises(ModuleNotFoundError) as error:
        load_minilm()
    assert str(error.value) == MISSING
    assert "requirements-no-deps.txt" in MISSING


def test_a_notebook_says_so_in_one_sentence(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, PACKAGE, None)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell(config=Config(HistoryManager={"enabled": False}))
    shell.run_cell("from lessons.pretrained import load_minilm; load_minilm()")
    assert capsys.readouterr().out.strip() == MISSING


def test_the_package_imports_without_the_model():
    with patch.dict(sys.modules):
        for name in [name for name in sys.modules if name.split(".")[0] in ("lessons", "safetensors", PACKAGE)]:
            del sys.modules[name]
        sys.modules |= {PACKAGE: None, "safetensors": None}
        for name in ("pretrained", "display", "exercises"):
            importlib.import_module(f"lessons.{name}")


def test_one_head_is_complete(minilm):
    model, tokenizer = minilm
    ids, _ = read_sentences(tokenizer, SENTENCES[:1])
    _, found = model(ids, need_weights=True)
    for layer, head in ((0, 2), (3, 11)):
        x, w_q, w_k, w_v = one_head(model, ids, layer, head)
        assert w_q.shape == w_k.shape == w_v.shape == (385, 32)
        weights = ((x @ w_q) @ (x @ w_k).T / 32**0.5).softmax(dim=-1)
        torch.testing.assert_close(weights, found[f"{layer}.self_attn"][0, head], rtol=0, atol=1e-5)
        values = model.encoder.layers[layer].self_attn.v_proj(x[:, :-1])
        torch.testing.assert_close(x @ w_v, values[:, 32 * head : 32 * (head + 1)], rtol=0, atol=1e-5)


def test_one_head_of_one_sentence(minilm):
    with pytest.raises(ValueError, match=r"ids has shape \(2, 3\); expected \(1, S\)"):
        one_head(minilm[0], torch.ones(2, 3, dtype=torch.long), 0, 0)
    for layer, head, message in (
        (0, 12, "head is 12; .* 0 to 11"),
        (6, 0, "layer is 6; .* 0 to 5"),
        (-1, 0, "layer is -1"),
    ):
        with pytest.raises(ValueError, match=message):
            one_head(minilm[0], torch.ones(1, 3, dtype=torch.long), layer, head)


def test_a_block_is_skipped_where_the_model_is_missing(capsys):
    with patch.dict(sys.modules, {PACKAGE: None}), when_installed():
        load_minilm()
        pytest.fail("the block went on")
    assert capsys.readouterr().out == f"Skipped: {MISSING}.\n"
    with when_installed():
        print("here")
    assert capsys.readouterr().out == "here\n"


@pytest.mark.thorough("starts a process that imports all of it")
def test_what_torch_imports_late_is_not_needed():
    """Its compiler and sympy take about two seconds and 70 MB of each kernel that imports them."""
    program = """
import sys
import torch
from lessons.pretrained import load_minilm
from lessons.probes import influence
load_minilm()
influence(lambda x: x.cumsum(dim=0), torch.randn(3, 4))
print(sorted({"sympy", "torch._dynamo"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
