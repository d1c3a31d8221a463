"""The map of ModelStudio, its tour and its zoom: what is drawn is what torch computes, and keys and names do."""

import base64
import math
from dataclasses import asdict
from itertools import pairwise

import pytest
import torch
from playwright.sync_api import expect

from lessons.config import TransformerConfig
from lessons.interventions import Change, intervene
from lessons.transformer import Transformer
from lessons.widgets.front_end import style
from lessons.widgets.shared.weights import pack

SRC, TGT = [4, 5, 6, 7, 8], [1, 9, 10, 11]
WORDS = [f"word{i}" for i in range(14)]
SHOW = """async ([packed, data, ids, words, changes]) => {
    const files = ["shared/engine.js", "model_studio/map.js", "model_studio/zoom.js"];
    const [{ readModel, run }, { ModelMap }, { Zoom }] = await Promise.all(files.map(x => import(`./${x}`)));
    const model = readModel(packed.config, packed.index, Uint8Array.from(atob(data), c => c.charCodeAt(0)));
    const name = ids => ids.map(i => words[i]);
    window.compute = (src, tgt) => ({ now: run(model, src, tgt, changes), before: run(model, src, tgt, []),
        tokens: { src: name(src), tgt: name(tgt) } });
    const state = { ...compute(ids.src, ids.tgt), changes, place: "", head: 0, station: -1 };
    const here = document.getElementById("here");
    here.innerHTML = '<div class="lw" style="width: 820px"><div></div><div></div></div>';
    const [above, below] = here.firstChild.children;
    window.told = [];
    const turn = (more) => { told.push(more); draw(more); };
    const map = new ModelMap(above, { about: { config: packed.config, words: { tgt: words } },
        onChoose: (place, head) => turn({ place, head }), onStation: (station) => turn({ station }) });
    const zoom = new Zoom(below, { onToggle: (cell) => told.push(cell) });
    window.draw = (more) => { Object.assign(state, more); map.draw(state); zoom.draw(state); };
    Object.assign(window, { map, zoom });
    draw({});
}"""
# The colors of a head's thumbnail as they lie in the hidden canvas, and those of its weights.
THUMBNAIL = """([key, weights]) => {
    const { x, y, w, h } = map.painter.pictures.get(key);
    const found = [...map.painter.pixels.getImageData(x, y, w, h).data];
    const wanted = weights.flat().flatMap(weight => weight === null ? [128, 128, 128, 90]
        : [...palette.channels(palette.mixColor(constants.WEIGHTS, Math.round(255 * weight) / 255)), 255]);
    return Math.max(...found.map((x, i) => Math.abs(x - wanted[i])));
}"""

# All parts that the arrow keys reach, along all ways from the one that has the focus.
WALK = """() => {
    const reached = new Set();
    const todo = [document.activeElement];
    while (todo.length) {
        const here = todo.pop();
        if (reached.has(here.dataset.id)) continue;
        reached.add(here.dataset.id);
        for (const key of ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"]) {
            here.focus();
            here.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            todo.push(document.activeElement);
        }
    }
    return [...reached];
}"""


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(3)
    config = TransformerConfig(14, 14, 8, 2, num_layers=2, d_ff=16, dropout=0.0, norm_first=True)
    model = Transformer(config).eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter.mul_(1.7)  # so that the weights differ
    return model


@pytest.fixture(scope="module")
def computed(model):
    """The logits (T, V), and the weights of each attention (H, Q, K)."""
    logits, weights = model(torch.tensor([SRC]), torch.tensor([TGT]), need_weights=True)
    return logits[0], {name: x[0] for name, x in weights.items()}


@pytest.fixture
def show(page, model):
    def show(*changes, model=model, src=SRC, tgt=TGT, words=WORDS):
        page.evaluate("css => { document.getElementById('style').textContent = css; }", style("model_studio"))
        packed, data = pack(model)
        ids = {"src": src, "tgt": tgt}
        page.evaluate(SHOW, [packed, base64.b64encode(data).decode(), ids, words, list(changes)])
        return page

    return show


def button(page, name):
    return page.locator(f'.mm-field [data-id="{name}"]')


def name_of(page, name):
    return button(page, name).get_attribute("aria-label")


def text(page, part):
    page.evaluate("frame()")
    return page.locator(part).inner_text()


def told(page):
    return page.evaluate("told.splice(0)")


def test_the_thumbnails_show_the_weights_of_torch(show, computed):
    page = show()
    for place, weights in computed[1].items():
        for head, matrix in enumerate(weights):
            causal = place.startswith("decoder") and place.endswith("self_attn")
            rows = [
                [None if causal and k > q else x for k, x in enumerate(row)] for q, row in enumerate(matrix.tolist())
            ]
            assert page.evaluate(THUMBNAIL, [f"{place} {head}", rows]) <= 2, (place, head)


# The map is painted after each change, only where its numbers are new, and then whole: the parts that were painted,
# and by how much the two pictures differ.
IN_PARTS = """async (all) => {
    const { run, readModel } = await import("./shared/engine.js");
    const { painter } = map;
    const { canvas } = painter;
    const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
    const context = copy.getContext("2d", { willReadFrequently: true });
    const pixels = () => {
        context.clearRect(0, 0, copy.width, copy.height);
        context.drawImage(canvas, 0, 0);
        return context.getImageData(0, 0, copy.width, copy.height).data;
    };
    const model = readModel(...window.packed);
    const found = [];
    for (const changes of all) {
        let parts = [];
        const paintWithin = painter.paintWithin;
        painter.paintWithin = function (region) { parts.push(region); return paintWithin.call(this, region); };
        draw({ now: run(model, [4, 5, 6, 7, 8], [1, 9, 10, 11], changes), changes });
        delete painter.paintWithin;
        const inParts = pixels();
        painter.painted = null;
        map.paint();
        const whole = pixels();
        found.push([parts.length, inParts.reduce((most, x, i) => Math.max(most, Math.abs(x - whole[i])), 0)]);
    }
    return found;
}"""


def test_what_is_painted_in_parts_is_as_if_painted_whole(show):
    torch.manual_seed(3)  # 12 features: a column of a strip is one pixel
    model = Transformer(TransformerConfig(14, 14, 12, 2, num_layers=2, d_ff=32, norm_first=True)).eval()
    page = show(model=model)
    packed, data = pack(model)
    page.evaluate(
        "([packed, data]) => { window.packed = [packed.config, packed.index, "
        "Uint8Array.from(atob(data), c => c.charCodeAt(0))]; }",
        [packed, base64.b64encode(data).decode()],
    )
    changes = [
        Change("block", at="decoder.1.cross_attn", head=1, query=1, key=2),
        Change("silence", at="decoder.0.self_attn", head=0),
        Change("hide", side="src", token=2),
        Change("cut", at="encoder.1.feed_forward"),
    ]
    found = page.evaluate(IN_PARTS, [[asdict(change)] for change in changes] + [[]])
    assert max(difference for _, difference in found) <= 32  # of 255: edges are smoothed differently
    assert 1 <= found[0][0] <= 6  # the last attention, and what follows it


def test_the_next_words_are_those_of_torch(show, computed):
    probabilities, words = computed[0].softmax(dim=-1).max(dim=-1)
    page = show()
    assert page.locator(".mm-words li").all_inner_texts() == [WORDS[i] for i in words.tolist()]
    said = f"next words; after {WORDS[TGT[-1]]}: {WORDS[words[-1]]}, {100 * probabilities[-1]:.0f} %"
    assert name_of(page, "logits") == said


def test_a_block_says_how_many_of_its_units_are_active(show, model):
    kept = {}
    hook = model.encoder.layers[1].feed_forward.dropout.register_forward_pre_hook(lambda _, x: kept.update(hidden=x[0]))
    model(torch.tensor([SRC]), torch.tensor([TGT]))
    hook.remove()
    active = kept["hidden"] > 0
    share = active.sum().item() / active.numel()
    page = show()
    assert (
        name_of(page, "encoder.1.feed_forward")
        == f"encoder layer 1, feed-forward, {math.floor(100 * share + 0.5)} % of its units active"
    )


def test_what_is_changed_has_a_sign_and_is_said(show):
    page = show(
        {"kind": "cut", "at": "encoder.0.feed_forward"},
        {"kind": "silence", "at": "decoder.1.cross_attn", "head": 1},
        {"kind": "drop_causal", "at": "decoder.0.self_attn"},
        {"kind": "hide", "side": "src", "token": 2},
        {"kind": "cut", "at": "decoder.*", "on": False},
    )
    crossed = page.evaluate("[...document.querySelectorAll('.mm-crossed')].map(x => x.dataset.id)")
    assert crossed == ["src 2", "encoder.0.feed_forward", "decoder.1.cross_attn 1"]
    assert "cut" in name_of(page, "encoder.0.feed_forward").split(", ")
    assert "silenced" in name_of(page, "decoder.1.cross_attn 1").split(", ")
    assert "causal mask off" in name_of(page, "decoder.0.self_attn").split(", ")
    assert name_of(page, "src 2") == "source token 2: word6, hidden from all"
    most = page.locator(".mm-most")
    assert most.count() == 1
    assert "changed most" in most.get_attribute("aria-label")
    assert most.locator(".mm-sign").inner_text() == "≠"
    page = show()
    assert page.locator('.mm-field [aria-label*="changed"], .mm-crossed, .mm-most').count() == 0


def test_a_head_says_by_how_much_its_weights_changed(show, model, computed):
    changes = [Change("hide", side="src", token=2), Change("drop_causal")]
    with intervene(model, changes):
        _, now = model(torch.tensor([SRC]), torch.tensor([TGT]), need_weights=True)
    page = show(*[{name: x for name, x in asdict(change).items() if x is not None} for change in changes])
    for place, before in computed[1].items():
        for head, by in enumerate((now[place][0] - before).abs().amax(dim=(1, 2)).tolist()):
            said = name_of(page, f"{place} {head}")
            assert ("changed" in said) == (by >= 0.02), said
            assert by < 0.02 or said.endswith(f"weights by up to {by:.2f}")


def test_arrow_keys_reach_every_part_and_enter_chooses(show):
    page = show()
    assert page.locator('.mm-field [tabindex="0"]').count() == 1
    page.locator('.mm-field [tabindex="0"]').focus()
    reached = page.evaluate(WALK)
    assert set(reached) == set(page.evaluate("map.buttons.map(x => x.dataset.id)"))
    button(page, "decoder.0.cross_attn 1").focus()
    page.keyboard.press("Enter")
    assert told(page) == [{"place": "decoder.0.cross_attn", "head": 1}]
    expect(button(page, "decoder.0.cross_attn 1")).to_have_attribute("aria-pressed", "true")
    expect(button(page, "decoder.0.cross_attn 0")).to_have_attribute("aria-pressed", "false")
    button(page, "decoder.1.feed_forward").press("Space")
    assert told(page) == [{"place": "decoder.1.feed_forward", "head": 0}]


def test_a_token_is_followed_by_pointer_and_by_key(show, computed):
    page = show()
    button(page, "src 3").focus()
    page.evaluate("frame()")
    assert text(page, ".mm-readout").startswith("Following source “word7”, token 3.")
    page.keyboard.press("Enter")
    expect(button(page, "src 3")).to_have_attribute("aria-pressed", "true")
    button(page, "encoder.0.self_attn 1").focus()
    page.evaluate("frame()")
    weights, best = computed[1]["encoder.0.self_attn"][1, 3].max(dim=-1)
    said = f"Head 1: source “word7” looks at “{WORDS[SRC[best]]}” {weights:.2f}"
    assert text(page, ".mm-readout").startswith(said)
    button(page, "decoder.1.cross_attn 0").focus()
    page.evaluate("frame()")
    weights, best = computed[1]["decoder.1.cross_attn"][0, :, 3].max(dim=-1)
    assert f"is looked at by “{WORDS[TGT[best]]}” {weights:.2f}" in text(page, ".mm-readout")
    page.keyboard.press("Escape")
    expect(button(page, "src 3")).to_have_attribute("aria-pressed", "false")
    button(page, "tgt 1").hover()
    page.evaluate("frame()")
    assert text(page, ".mm-readout").startswith("Following target “word9”, token 1.")
    cross = torch.stack([x.mean(dim=0) for place, x in computed[1].items() if place.endswith("cross_attn")])
    for key, tie in enumerate(cross.amax(dim=0)[1].tolist()):
        shown = button(page, f"src {key}").evaluate("x => parseInt(x.style.getPropertyValue('--mm-tie'))")
        assert shown == pytest.approx(60 * tie, abs=0.51)
    assert page.locator(".mm-words li").evaluate_all("rows => rows.map(x => x.matches('.mm-one'))").index(True) == 1


def test_the_tour_says_what_happens_and_which_shape(show, computed):
    page = show()
    page.get_by_role("button", name="Take the tour").click()
    assert told(page) == [{"station": 0}]
    seen = []
    for _ in range(17):
        seen.append([text(page, ".mm-head b"), text(page, ".mm-shape"), text(page, ".mm-caption")])
        page.keyboard.press("ArrowRight")
    assert text(page, ".mm-count") == "17 of 17"
    shapes = {title: shape for title, shape, _ in seen}
    assert shapes["source tokens"] == "(S) = (5)"
    assert shapes["source embedding"] == "(S, D) = (5, 8)"
    assert shapes["encoder layer 1: feed-forward"] == "(S, units) = (5, 16)"
    assert shapes["decoder layer 1: cross-attention"] == "(heads, T, S) = (2, 4, 5)"
    assert shapes["next words"] == "(T, V) = (4, 14)"
    assert len(shapes) == len({caption for *_, caption in seen}) + 1 == 17  # two feed-forward networks say the same
    weights, best = computed[1]["decoder.1.cross_attn"].mean(dim=0)[-1].max(dim=-1)
    caption = next(caption for title, _, caption in seen if title == "decoder layer 1: cross-attention")
    assert (
        f"“{WORDS[TGT[-1]]}” of the target looks most at “{WORDS[SRC[best]]}” of the source, {weights:.2f}." in caption
    )
    told(page)
    page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="End", exact=True).click()
    assert told(page) == [{"station": 15}, {"station": -1}]
    assert page.evaluate("document.activeElement.textContent") == "Take the tour"


@pytest.mark.parametrize(
    ("changes", "station", "right", "wrong"),
    [
        ([], "source embedding", "plus the sinusoids of its position", "With your changes"),
        ([{"kind": "drop_positions"}], "target embedding", "becomes a vector: a row", "position"),
        ([{"kind": "hide", "side": "src", "token": 1}], "encoder layer 0: self-attention", "With your changes", "all"),
        ([{"kind": "hide", "side": "src", "token": 1}], "decoder layer 0: self-attention", "before it", "your changes"),
        ([{"kind": "drop_causal"}], "decoder layer 1: self-attention", "With your changes", "before it"),
        (
            [{"kind": "allow", "at": "decoder.1.self_attn", "query": 0, "key": 2, "head": 1}],
            "decoder layer 1: self-attention",
            "With your changes",
            "before it",
        ),
        ([{"kind": "cut", "at": "encoder.1.self_attn"}], "encoder layer 1: self-attention", "its output is 0", "looks"),
        ([{"kind": "cut", "at": "decoder.0.cross_attn"}], "decoder layer 0: cross-attention", "output is 0", "looks"),
        ([{"kind": "cut", "at": "decoder.0.feed_forward"}], "decoder layer 0: feed-forward", "output is 0", "active"),
    ],
)
def test_the_tour_says_only_what_the_changes_leave_true(show, changes, station, right, wrong):
    page = show(*changes)
    page.get_by_role("button", name="Take the tour").click()
    while text(page, ".mm-head b") != station:
        page.get_by_role("button", name="Next", exact=True).click()
    caption = text(page, ".mm-caption")
    assert right in caption
    assert wrong not in caption


def test_data_moves_only_where_motion_is_welcome(show):
    page = show()
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("draw({ station: 3 })")
    assert page.evaluate("map.moved ?? 1") == 1
    page.emulate_media(reduced_motion="no-preference")
    page.evaluate("draw({ station: 4 })")
    assert page.evaluate("map.moved") < 1
    page.wait_for_function("map.moved === 1")


def test_the_zoom_shows_the_numbers_of_torch_and_their_sums(show, computed):
    page = show()
    page.evaluate("draw({ place: 'decoder.1.cross_attn', head: 1 })")
    grid = page.get_by_role("grid", name="weights")
    drawn = grid.locator("[data-at]").evaluate_all("cells => cells.map(x => Number(x.dataset.value))")
    weights = computed[1]["decoder.1.cross_attn"][1]
    torch.testing.assert_close(torch.tensor(drawn).view(4, 5), weights, atol=1e-5, rtol=0)
    grid.locator('[data-at="2,1"]').hover()
    assert text(page, ".mz-sum").startswith("Weight of “word5” for “word10”: e^")
    assert text(page, ".mz-sum").endswith(f"= {weights[2, 1]:.4f}")
    page.get_by_role("grid", name="scores").locator('[data-at="2,1"]').hover()
    score = float(page.evaluate("zoom.shown.scores.data[2 * 5 + 1]"))
    assert text(page, ".mz-sum").endswith(f"/ √4 = {score:.2f}".replace("-", "−"))
    page.get_by_role("img", name="output").focus()
    assert text(page, ".mz-head b") == "decoder layer 1, cross-attention, head 1"
    assert text(page, ".mz-sum").startswith("Feature 0 of the output for “word1”: ")


def test_the_zoom_says_what_is_silenced_or_cut(show):
    page = show(
        {"kind": "silence", "at": "decoder.1.cross_attn", "head": 1}, {"kind": "cut", "at": "encoder.0.feed_forward"}
    )
    page.evaluate("draw({ place: 'decoder.1.cross_attn', head: 1 })")
    page.get_by_role("img", name="silenced").focus()
    assert text(page, ".mz-sum").endswith("= 0.00; the head is silenced")
    page.evaluate("draw({ head: 0 })")
    assert page.get_by_role("img", name="silenced").count() == 0
    page.evaluate("draw({ place: 'encoder.0.feed_forward' })")
    assert text(page, ".mz-sum").startswith("This sublayer is cut: its output is 0. ")


def test_a_click_in_the_mask_asks_for_the_change(show, computed):
    key = computed[1]["encoder.0.self_attn"][0, 1, :4].argmax().item()
    page = show({"kind": "block", "at": "encoder.0.self_attn", "head": 0, "query": 1, "key": key})
    page.evaluate("draw({ place: 'encoder.0.self_attn', head: 0 })")
    page.get_by_role("grid", name="mask").locator(f'[data-at="1,{key}"]').click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    cell = {"place": "encoder.0.self_attn", "head": 0, "query": 1}
    assert told(page) == [cell | {"key": key, "allow": True}, cell | {"key": key + 1, "allow": False}]
    changed = page.locator(".mz-changed").evaluate_all("cells => cells.map(x => x.dataset.at)")
    assert f"1,{key}" in changed
    assert all(place.startswith("1,") for place in changed)


def test_the_zoom_names_the_most_active_units(show, model):
    kept = {}
    hook = model.decoder.layers[0].feed_forward.dropout.register_forward_pre_hook(lambda _, x: kept.update(hidden=x[0]))
    model(torch.tensor([SRC]), torch.tensor([TGT]))
    hook.remove()
    page = show()
    page.evaluate("draw({ place: 'decoder.0.feed_forward' })")
    page.locator(".mz-units canvas").focus()
    value, unit = kept["hidden"][0, 0].max(dim=-1)
    first = page.locator(".mz-feed li").first.inner_text().split()
    assert first == ["unit", str(unit.item()), f"{value:.2f}"]
    assert text(page, ".mz-feed h4 >> nth=1") == "Most active for “word1”"


def test_what_is_followed_may_vanish_with_its_sentence(show):
    page = show()
    button(page, "tgt 3").press("Enter")
    page.evaluate("document.activeElement.blur()")
    button(page, "logits").hover()
    page.evaluate("draw({ ...compute([4], [1]), place: 'decoder.0.self_attn' })")
    page.get_by_role("grid", name="weights").locator("[data-at]").hover()
    page.evaluate("draw({ place: '' })")
    page.mouse.move(0, 0)
    page.evaluate("frame()")
    assert page.locator('.mm-field [data-token][aria-pressed="true"]').count() == 0
    assert text(page, ".mz-sum").startswith("Choose a head")


@pytest.mark.parametrize(("layers", "heads", "src", "tgt"), [(1, 1, 1, 1), (6, 8, 32, 32), (2, 3, 12, 2)])
def test_every_size_has_room(show, layers, heads, src, tgt):
    config = TransformerConfig(14, 14, 24, heads, num_layers=layers, num_decoder_layers=max(layers - 1, 1), d_ff=8)
    model = Transformer(config).eval()
    page = show(model=model, src=[4] * src, tgt=[5] * tgt)
    page.evaluate("draw({ place: 'encoder.0.self_attn' })")
    layout = page.evaluate("({ rowHeight: map.layout.rowHeight, thumb: map.layout.thumb })")
    assert layout["rowHeight"] >= 10
    assert layout["thumb"] >= 20
    boxes = page.evaluate(
        "map.buttons.filter(x => !x.matches('.mm-block')).map(x => { const b = x.getBoundingClientRect();"
        "return [b.left, b.top, b.right, b.bottom]; })"
    )
    corners = sorted(boxes)
    assert all(a[2] <= b[0] + 0.5 or a[3] <= b[1] + 0.5 or b[3] <= a[1] + 0.5 for a, b in pairwise(corners))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
