"""The results: rows for people, and one object for programs."""

import platform
from importlib.metadata import version

from bench.server.load import Figures
from bench.server.measurements import Aim, Measured

_ROW = "{:<52} {:>10} {:>10} {:>7} {:>7}  {}"

HEADING = _ROW.format("median of the turns", "floor", "odin-table", "ratio", "aim", "").rstrip()


def rows_of(measured: Measured) -> list[str]:
    """A line for each figure of a comparison, and a warning where the machine was not quiet."""
    rows = [_row(measured, aim) for aim in measured.comparison.aims]
    disturbed = len(measured.counted) - len(measured.quiet)
    if disturbed:
        rows.append(f"    measure again: other programs were busy in {disturbed} of these turns")
    return rows


def _row(measured: Measured, aim: Aim) -> str:
    floor, product = measured.medians(aim)
    ratio = measured.ratio(aim)
    verdict = {True: "met", False: "NOT MET", None: ""}[aim.met_by(ratio)]
    numbers = (_number(floor), _number(product), f"{ratio:.2f}", str(aim))
    return _ROW.format(aim.title, *numbers, verdict).rstrip()


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def machine() -> dict[str, str]:
    """What the figures depend on."""
    return {
        "system": platform.platform(),
        "python": platform.python_version(),
        "grpcio": version("grpcio"),
        "protobuf": version("protobuf"),
    }


def as_json(measured: Measured) -> dict[str, object]:
    """A comparison as JSON: its aims, and all figures of each turn."""
    return {
        "name": measured.comparison.name,
        "aims": [_aim_as_json(measured, aim) for aim in measured.comparison.aims],
        "turns": [
            {"floor": _rounded(floor), "product": _rounded(product)}
            for floor, product in measured.turns
        ],
        "turns_counted": len(measured.counted),
    }


def _aim_as_json(measured: Measured, aim: Aim) -> dict[str, object]:
    floor, product = measured.medians(aim)
    ratio = measured.ratio(aim)
    return {
        "title": aim.title.strip(),
        "figure": aim.figure,
        "floor": floor,
        "product": product,
        "ratio": ratio,
        "at_least": aim.at_least,
        "at_most": aim.at_most,
        "met": aim.met_by(ratio),
    }


def _rounded(figures: Figures) -> Figures:
    return {name: round(value, 3) for name, value in figures.items()}
