"""A sheet of drawings as PNG: its size, its Chinese texts, and what is refused."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from core.house.paper import as_png
from core.house.paper.as_png import Panel, Sheet
from core.house.paper.typesetting import TypesetError

SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 100" width="300" height="100">
<style>text { font-family: "Noto Sans SC"; font-size: 20px; }</style>
<rect width="300" height="100" fill="#c2410c"/><text x="10" y="50">%s</text></svg>"""


def picture(title: str = "入组进度", drawn: str = "目标", note: str = "") -> Image.Image:
    panel = Panel(title, [("累计入组", SVG % drawn)], note)
    made = as_png.as_png(Sheet("LUNG-IIT", "全部中心", "zh-hans", [panel]))
    return Image.open(io.BytesIO(made)).convert("RGB")


@pytest.mark.full
def test_it_is_as_wide_as_a_phone_and_as_high_as_its_content() -> None:
    small, large = picture(), picture(note="预测按最近 91 天的速度延续。" * 20)
    assert small.width == large.width == 1083
    assert large.height > small.height + 100
    colours = small.getcolors(1 << 24)
    assert colours
    assert (194, 65, 12) in {colour for _count, colour in colours}


@pytest.mark.full
@pytest.mark.parametrize("place", ["title", "drawn"])
def test_chinese_is_drawn_within_and_beside_the_drawing(place: str) -> None:
    """Other characters look otherwise; a font without them would draw one box for all."""
    shown = [picture(**{place: words}).tobytes() for words in ("入组", "访视", "□□")]
    assert len({*shown}) == 3


def test_texts_are_values_and_no_markup() -> None:
    assert picture(title="#panic() *x* $y$", note='#include "/etc/passwd"').height > 100


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(TypesetError):
        as_png.as_png(Sheet("x", "x", "zh", [Panel("x", [("x", "<no svg")])]))
