"""Line plots as SVG files, with bars from the least to the greatest value of each point."""

import html
import math
import re

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 70, 200, 40, 55
# Distinguishable without colours by their order in the legend, and for most colour-blind people.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")


class Line:
    """One line: points of (x, y) or (x, y, least, greatest)."""

    def __init__(self, name, points, dashed=False, colour=None):
        self.name, self.points, self.dashed, self.colour = name, sorted(points), dashed, colour


class Axis:
    """Turns values into places."""

    def __init__(self, values, start, end, logarithmic, from_zero):
        self.start, self.end, self.logarithmic = start, end, logarithmic
        self.low = min(values) if logarithmic or not from_zero else 0
        self.high = max(values)
        if self.high <= self.low:
            self.high = self.low + 1

    def place(self, value):
        scale = math.log if self.logarithmic else float
        low, high = scale(self.low), scale(self.high)
        return self.start + (scale(value) - low) / (high - low) * (self.end - self.start)

    def ticks(self):
        """Round values between both ends."""
        if self.logarithmic:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            return [step * 10.0 ** decade for decade in decades for step in (1, 2, 5)
                    if self.low <= step * 10.0 ** decade <= self.high * 1.0001]
        step = 10.0 ** math.floor(math.log10(self.high - self.low))
        step = next(step * part for part in (0.1, 0.2, 0.5, 1, 2) if (self.high - self.low) / (step * part) <= 8)
        first = math.ceil(self.low / step)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def text(x, y, words, anchor="middle", size=12, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" {more}>{html.escape(words)}</text>'


def mark(x1, y1, x2, y2, colour, more=""):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {more}/>'


def number(value):
    return f"{value:,.0f}" if value >= 10 or value == int(value) else re.sub(r"0+$", "", f"{value:.3f}")


def draw(title, x_title, y_title, lines, x_values=None, x_log=False, y_log=False):
    """Returns the SVG. `x_values` are the only marks of the x axis, if given."""
    xs = [point[0] for line in lines for point in line.points]
    ys = [value for line in lines for point in line.points for value in point[1:]]
    across = Axis(xs, LEFT + 15, WIDTH - RIGHT - 15, x_log, False)
    up = Axis(ys, HEIGHT - BOTTOM, TOP + 10, y_log, True)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        text(LEFT, 24, title, "start", 15, 'font-weight="bold"'),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_title),
        text(18, (TOP + HEIGHT - BOTTOM) / 2, y_title, more=f'transform="rotate(-90 18 {(TOP + HEIGHT - BOTTOM) / 2:.1f})"'),
    ]
    for value in up.ticks():
        y = up.place(value)
        parts += [mark(LEFT, y, WIDTH - RIGHT, y, "#dddddd"), text(LEFT - 8, y + 4, number(value), "end")]
    for value in x_values or across.ticks():
        x = across.place(value)
        parts += [mark(x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 5, "#444444"), text(x, HEIGHT - BOTTOM + 20, number(value))]
    parts.append(mark(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "#444444"))
    for place, line in enumerate(lines):
        parts += drawn(line, line.colour or COLOURS[place % len(COLOURS)], across, up, TOP + 20 + 20 * place)
    return "\n".join([*parts, "</svg>"]) + "\n"


def drawn(line, colour, across, up, legend):
    dash = 'stroke-dasharray="6 4"' if line.dashed else ""
    places = [(across.place(x), up.place(y), *map(up.place, bars)) for x, y, *bars in line.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, *_ in places)
    parts = [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" {dash}/>']
    for x, y, *bars in places:
        if not line.dashed:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        if bars:
            low, high = bars
            parts += [mark(x, low, x, high, colour), mark(x - 4, low, x + 4, low, colour), mark(x - 4, high, x + 4, high, colour)]
    right = WIDTH - RIGHT + 15
    parts += [mark(right, legend, right + 24, legend, colour, f'stroke-width="2" {dash}'), text(right + 30, legend + 4, line.name, "start")]
    return parts
