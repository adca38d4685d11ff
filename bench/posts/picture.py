"""A series of days drawn in the terminal: from the least to the greatest value of each, and its average."""

HEIGHT = 18


def days(series, height=HEIGHT):
    """`series` has (day as "YYYY-MM-DD", least, average, greatest); a column each, '|' from least to greatest, 'o' the average."""
    bottom, top = min(low for _, low, _, _ in series), max(high for _, _, _, high in series)
    # Equal values are all on one line.
    step = (top - bottom) / (height - 1) or 1.0
    line_of = lambda value: round((value - bottom) / step)
    lines = []
    for line in reversed(range(height)):
        marks = "".join(
            "o" if line == line_of(average) else "|" if line_of(low) <= line <= line_of(high) else " "
            for _, low, average, high in series)
        lines.append(f"{bottom + line * step:8.2f} {marks}".rstrip())
    return "\n".join([*lines, " " * 9 + months([day for day, *_ in series])])


def months(names):
    """A line with the month under each first day of a month (and the first day of all), if it fits."""
    text = ""
    for place, day in enumerate(names):
        if (place == 0 or day.endswith("-01")) and len(text) <= place:
            text = text.ljust(place) + day[:7] + " "
    return text.rstrip()
