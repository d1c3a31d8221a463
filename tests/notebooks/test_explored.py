"""What the lessons say that a learner sees with `explore`: the same controls, moved here."""

import ast

import matplotlib.pyplot as plt
import pytest

from tests.notebooks.cells import code_cells, needed_for

pytestmark = pytest.mark.thorough("runs cells of six lessons, and draws a figure for each value")


@pytest.fixture(scope="module")
def explorer_of():
    """The explorer that a cell shows, made once."""
    plt.switch_backend("agg")
    made = {}

    def make(lesson, cell_id):
        if (lesson, cell_id) not in made:
            cells = code_cells(lesson)
            place = next(i for i, cell in enumerate(cells) if cell.id == cell_id)
            known = {}
            for cell in needed_for(cells, [place]):
                *before, last = ast.parse(cell.source).body
                exec(compile(ast.Module(before, []), cell.id, "exec"), known)
                shown = isinstance(last, ast.Expr)
                code = ast.Expression(last.value) if shown else ast.Module([last], [])
                made[lesson, cell_id] = (eval if shown else exec)(
                    compile(code, cell.id, "eval" if shown else "exec"), known
                )
        return made[lesson, cell_id]

    yield make
    plt.close("all")


def seen(explorer, **values):
    """What the explorer shows in words: its defaults, but for these values."""
    for name, value in values.items():
        explorer.controls[name].value = value
    text = repr(explorer)
    assert not explorer.problem
    return text


def test_01_the_key_of_down_the_values_and_the_queries(explorer_of):
    explorer = explorer_of("01_qkv_by_hand", "what-if")
    assert "cat: 0.01  0.02  0.02  0.96" in seen(explorer, key_of_down=2)
    assert "cat: 0.00  0.00  0.00  1.00" in seen(explorer, key_of_down=3)
    assert "cat: 0.00  0.00  0.00  1.00" in seen(explorer, key_of_down=10)
    assert all(f"{token}: 0.00  0.00  0.00  1.00" in repr(explorer) for token in ("the", "sat", "down"))
    nothing = seen(explorer, key_of_down=1, values=0.0)
    assert "cat: 0.10  0.17  0.17  0.55" in nothing and nothing.count("0.00  0.00  0.00\n") == 4
    assert seen(explorer, values=1.0, queries=0.0).count("0.25  0.25  0.25  0.25") == 4


def test_02_the_temperature_of_the_drinks(explorer_of):
    explorer = explorer_of("02_scaled_dot_product", "drinks")
    assert seen(explorer, temperature=2.0).split("weight: ")[1].split("\n")[0].endswith("0.049")
    assert seen(explorer, temperature=2.1).split("weight: ")[1].split("\n")[0].endswith("0.053")
    assert "weight: 0.993  0.007  0.000  0.000  0.000" in seen(explorer, temperature=0.1)
    assert "weight: NaN  NaN  NaN  NaN  NaN" in seen(explorer, temperature=0.0)
    assert seen(explorer, temperature=-0.5).split("weight: ")[1].split("\n")[0].endswith("0.974")


def test_04_the_factor_the_missing_token_and_of(explorer_of):
    explorer = explorer_of("04_self_and_cross_attention", "cross-if")
    assert "is: 0.18  0.18  0.18  0.18  0.29" in seen(explorer, factor=1)
    assert "is: 0.00  0.00  0.00  0.00  0.98" in seen(explorer, factor=11)
    assert "is: 0.00  0.00  0.00  0.00  0.99" in seen(explorer, factor=12)
    assert "is: 0.00  0.00  0.00  0.00  1.00" in seen(explorer, factor=60)
    assert "is: 0.20  0.20  0.20  0.20  0.20" in seen(explorer, factor=6, without="Běijīng")
    assert "of: 0.04  0.04  0.04  0.83  0.04" in seen(explorer, without="nobody", of_asks_like="China")


def test_06_the_offset_the_keys_and_the_base(explorer_of):
    explorer = explorer_of("06_embeddings_and_positions", "rotary-if")
    table = repr(explorer).partition("\n")[2]
    assert "1.8 or more" in table
    assert seen(explorer, offset=100).partition("\n")[2] == table
    still = seen(explorer, rotate_keys=False)
    rows = [line.split(": ")[1].split() for line in still.splitlines() if line.split(": ")[0].isdigit()]
    assert len(rows) == 12 and all(len(set(row)) == 1 for row in rows)
    assert seen(explorer, offset=90) != still
    assert "0.9 or more" in seen(explorer, offset=0, rotate_keys=True, base=100)
    assert "-0.9 or more" in seen(explorer, base=10)


def test_11_the_two_numbers_of_the_papers_schedule(explorer_of):
    explorer = explorer_of("11_training", "paper-shape")
    assert "peak 0.0125, at step 800 0.0044" in repr(explorer)
    assert "peak 0.0063, at step 800 0.0044" in seen(explorer, warmup=400)
    assert "peak 0.0063, at step 800 0.0022" in seen(explorer, warmup=100, d_model=256)
    at_the_end = seen(explorer, warmup=1000, d_model=64)
    assert "peak 0.0040" in at_the_end
    assert "(950, 0.0038), (1e+03, 0.004)\n" in at_the_end


def test_12_how_many_words_can_be_drawn(explorer_of):
    explorer = explorer_of("12_decoding", "next-word")

    def count(**values):
        return int(seen(explorer, **values).split("can be drawn: ")[1].split(" ")[0])

    assert count(top_p=0.9) == 4
    assert [count(temperature=t) for t in (1.2, 1.3, 1.6, 1.7)] == [4, 5, 5, 6]
    assert [count(temperature=1.0, top_p=p) for p in (0.62, 0.64)] == [1, 2]
    assert [count(temperature=2.0, top_p=p) for p in (0.98, 0.99)] == [7, 8]
