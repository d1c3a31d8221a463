"""The picture of ModelStudio, which needs a font that not every machine has."""

import pytest

from tools import images

NOWHERE = "\U000f0000\U000f0001"  # for private use: no font has them


def test_without_a_font_the_stored_picture_stays_and_one_is_named(page, tmp_path, monkeypatch):
    assert images.can_draw(page, "abc")
    assert not images.can_draw(page, NOWHERE)
    stored = tmp_path / "studio.png"
    stored.write_bytes(b"as it was")
    monkeypatch.setattr(images, "CHINESE", NOWHERE)
    with pytest.raises(SystemExit, match=r"studio\.png stays as it was.*fonts-noto-cjk"):
        images.take_picture(page, stored, "<p>")
    assert stored.read_bytes() == b"as it was"
