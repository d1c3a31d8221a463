"""Fonts for Chinese in figures: those of the system, where matplotlib's own font lacks a character."""

from contextlib import suppress
from functools import cache

import matplotlib.pyplot as plt
from matplotlib import font_manager

from lessons.wording import ENGLISH, language, worded

CHINESE = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
    "Microsoft YaHei",
    "SimHei",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Arial Unicode MS",
)


def chinese_font() -> str | None:
    """The name of an installed font that has Chinese characters."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in CHINESE if name in installed), None)


def use_chinese_font() -> None:
    """From now on, figures take from it what the first font lacks; all else looks as before."""
    if language() != ENGLISH and chinese_font() is None:
        _find_new_fonts()
    if (font := chinese_font()) and font not in plt.rcParams["font.family"]:
        plt.rcParams["font.family"] = [*plt.rcParams["font.family"], font]


def _find_new_fonts() -> None:
    """matplotlib remembers the fonts that it has found once: add those that were installed since."""
    known = {font.fname for font in font_manager.fontManager.ttflist}
    for path in sorted({*font_manager.findSystemFonts()} - known):
        with suppress(OSError, RuntimeError):  # of a font that matplotlib can't read
            font_manager.fontManager.addfont(path)


@cache
def say_if_missing(language: str) -> None:
    """Once, if figures are in Chinese and there is no font for them."""
    if language != ENGLISH and chinese_font() is None:
        print(
            worded(
                "There is no font for the Chinese characters in figures. Install one (on Debian or Ubuntu: "
                "`sudo apt install fonts-noto-cjk`), and restart the kernel."
            )
        )
