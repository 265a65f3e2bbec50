"""Line charts as SVG, without a library: axes with ticks and units, one line for each series, a legend."""

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

# Told apart by eyes that see no colours, and on paper: each has a colour and a dash of its own (Okabe and Ito's set).
_STYLES = (("#0072b2", ""), ("#d55e00", "7 3"), ("#009e73", "2 3"), ("#cc79a7", "10 3 2 3"), ("#000000", "4 4"))
_LEFT = 62
_RIGHT = 18
_TOP = 34
_BOTTOM = 48
_FONT = 'font-family="DejaVu Sans, Helvetica, Arial, sans-serif"'
Point = tuple[float, float]


class Axis(Struct, frozen=True):
    """`ticks` are places between 0 and 1 along the axis, with what stands there."""

    title: str
    ticks: tuple[tuple[float, str], ...]


class Chart(Struct, frozen=True):
    """`series` are points by name, each between 0 and 1 along both axes."""

    title: str
    x: Axis
    y: Axis
    series: Mapping[str, Sequence[Point]]


def picture(charts: Sequence[Chart], width: int = 520, height: int = 330) -> str:
    """The charts side by side, under one legend: series of one name look the same in all of them."""
    names = list(dict.fromkeys(name for chart in charts for name in chart.series))
    parts = [_legend(names)]
    for at, chart in enumerate(charts):
        parts.append(f'<g transform="translate({at * width} 30)">{_chart(chart, names, width, height)}</g>')
    size = f'width="{len(charts) * width}" height="{height + 30}" viewBox="0 0 {len(charts) * width} {height + 30}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {_FONT} font-size="12">'
    return "\n".join((head, '<rect width="100%" height="100%" fill="white"/>', *parts, "</svg>", ""))


def _legend(names: Sequence[str]) -> str:
    parts = []
    left = _LEFT
    for at, name in enumerate(names):
        parts.append(f'<path d="M{left} 18h34" {_stroke(at)}/>' + _text(left + 40, 22, name, "start"))
        left += 66 + 7 * len(name)
    return "".join(parts)


def _chart(chart: Chart, names: Sequence[str], width: int, height: int) -> str:
    wide = width - _LEFT - _RIGHT
    high = height - _TOP - _BOTTOM
    parts = [_text(_LEFT, 22, chart.title, "start", bold=True)]
    for place, text in chart.x.ticks:
        x = _LEFT + place * wide
        parts.append(f'<path d="M{x:.1f} {_TOP}v{high}" stroke="#ddd"/>' + _text(x, _TOP + high + 16, text))
    for place, text in chart.y.ticks:
        y = _TOP + (1 - place) * high
        parts.append(f'<path d="M{_LEFT} {y:.1f}h{wide}" stroke="#ddd"/>' + _text(_LEFT - 6, y + 4, text, "end"))
    parts.append(f'<rect x="{_LEFT}" y="{_TOP}" width="{wide}" height="{high}" fill="none" stroke="#555"/>')
    parts.append(_text(_LEFT + wide / 2, height - 10, chart.x.title))
    parts.append(f'<g transform="translate(14 {_TOP + high / 2}) rotate(-90)">{_text(0, 0, chart.y.title)}</g>')
    for name, points in chart.series.items():
        line = " ".join(f"{_LEFT + x * wide:.1f},{_TOP + (1 - y) * high:.1f}" for x, y in points)
        parts.append(f'<polyline points="{line}" {_stroke(names.index(name))}><title>{escape(name)}</title></polyline>')
    return "\n".join(parts)


def _stroke(at: int) -> str:
    colour, dash = _STYLES[at % len(_STYLES)]
    return f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash or "none"}"'


def _text(x: float, y: float, text: str, anchor: str = "middle", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor={quoteattr(anchor)}{weight}>{escape(text)}</text>'
