"""Panels as one SVG file, which every browser shows; no library is needed for a few lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType

from headgate.demo.chart import round_up
from headgate.simulate.picture import Line, Panel

_WIDTH, _HEIGHT = 960, 170
"""Of one panel, in pixels."""
_LEFT, _RIGHT, _ABOVE, _BELOW = 80, 170, 30, 24
_COLOURS = ("#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2", "#be185d", "#4d7c0f")
_MARKS = ("#fca5a5", "#7f1d1d")
_TICKS = 6
_NAMESPACE = "http://www.w3.org/2000/svg"

Marks = Mapping[str, Sequence[float]]
UNMARKED: Marks = MappingProxyType({})


def svg(panels: Sequence[Panel], *, title: str, duration_s: float, marks: Marks = UNMARKED) -> str:
    """
    Draw panels below each other, on the same axis of time.

    Args:
        panels: from top to bottom.
        title: of them all.
        duration_s: where the axis ends.
        marks: seconds at which something happened, by its name; each is a line through all panels.
    """
    height = _HEIGHT * len(panels) + _ABOVE
    drawn = [_panel(panel, _ABOVE + number * _HEIGHT, duration_s) for number, panel in enumerate(panels)]
    return "\n".join(
        [
            f'<svg xmlns="{_NAMESPACE}" width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="11">',
            f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
            f'<text x="{_LEFT}" y="18" font-size="14" font-weight="bold">{escape(title)}</text>',
            *drawn,
            *_marks(marks, duration_s, height),
            "</svg>",
            "",
        ]
    )


def _panel(panel: Panel, top: float, duration_s: float) -> str:
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _ABOVE - _BELOW
    highest, base = round_up(panel.top), top + _ABOVE + height
    parts = [
        f'<text x="{_LEFT}" y="{top + 18}" font-weight="bold">{escape(panel.title)}</text>',
        f'<path d="M{_LEFT},{top + _ABOVE} V{base} H{_LEFT + width}" fill="none" stroke="#888"/>',
        _text(_LEFT - 6, top + _ABOVE + 4, f"{highest:,.0f}", "end"),
        _text(_LEFT - 6, base, "0", "end"),
    ]
    for tick in range(_TICKS + 1):
        label = _clock(duration_s * tick / _TICKS)
        parts.append(_text(_LEFT + width * tick / _TICKS, base + 14, label, "middle"))
    for number, line in enumerate(panel.lines):
        colour = _COLOURS[number % len(_COLOURS)]
        points = _points(line, duration_s, highest, base)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.3"/>')
        parts.append(
            f'<text x="{_LEFT + width + 10}" y="{top + _ABOVE + 10 + 14 * number}" fill="{colour}">'
            f"{escape(line.name)}</text>"
        )
    return "\n".join(parts)


def _marks(marks: Marks, duration_s: float, height: int) -> Iterator[str]:
    for (name, times), colour in zip(marks.items(), _MARKS, strict=False):
        for at_s in times:
            x = _LEFT + (_WIDTH - _LEFT - _RIGHT) * at_s / duration_s
            path = f'<path d="M{x:.1f},{_ABOVE} V{height}" stroke="{colour}" stroke-dasharray="3 3">'
            yield f"{path}<title>{escape(name)}</title></path>"


def _points(line: Line, duration_s: float, highest: float, base: float) -> str:
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _ABOVE - _BELOW
    return " ".join(
        f"{_LEFT + width * at_s / duration_s:.1f},{base - height * value / highest:.1f}" for at_s, value in line.points
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="#555">{text}</text>'


def _clock(seconds: float) -> str:
    return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02}"
