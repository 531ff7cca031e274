"""Pictures: colours that stay apart, bars that carry values, texts that do not overlap, files as their names say."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from conftest import refused
from matplotlib.text import Text

import octavo
from octavo.errors import OutputError
from octavo.explain.words import WAITED
from octavo.report import charts_of_programs, shade
from octavo.runs import colours, measures, pictures
from octavo.runs.contrast import DARK_PAPER, ENOUGH, PAPER, contrast, in_the_dark, on_paper
from octavo.runs.levels import LEVELS
from octavo.runs.pictures import sheet
from octavo.scenarios.catalogue import listing

# G. M. Machado, M. M. Oliveira, L. A. F. Fernandes: A Physiologically-based Model for Simulation of Color Vision
# Deficiency, IEEE TVCG 15(6), 2009 (10.1109/TVCG.2009.113): severity 1.0, of linear RGB.
SIMULATED = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
# Björn Ottosson: A perceptual color space for image processing (Oklab), 2020, bottosson.github.io/posts/oklab.
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)
FAMILIES = {
    "placements": (list(colours.PLACEMENTS.values()), 13),
    "host and 8 GPUs": ([*colours.PROCESSORS[:9]], 9),
    "host and 16 GPUs": ([*colours.PROCESSORS], 9),
    "causes": (list(colours.CAUSES.values()), 13),
    "phases": (list(colours.PHASES.values()), 13),
    "kinds": (list(colours.KINDS.values()), 25),
    "series": (list(colours.SERIES), 13),
    "waits": (list(colours.WAITS), 13),
    "stalls": (list(colours.STALLS), 13),
    "levels": (list(colours.LEVELS), 13),
    "faults of the host": (list(colours.HOST_FAULTS), 13),
    "memories of the host": (list(colours.HOST_MEMORIES), 13),
    "who lends to whom": (list(colours.PAIRS), 13),
    "buffers": (list(colours.BUFFERS), 13),
    "busy": (list(colours.BUSY), 13),
    "access": (list(colours.ACCESS), 13),
    "sharing": (list(colours.SHARING), 8),
    "a recorded program": (list(dict.fromkeys(colour for colour, _ in charts_of_programs.LOOKS.values())), 13),
}
"""Colours that stand beside one another, and how far apart they must be: 2 is just noticeable in Oklab times 100."""


TOGETHER = {
    "names of variants": (list(colours.PLACEMENTS.values()), list(colours.KINDS.values()), list(colours.SERIES)),
    "holders of memory": ([*colours.PROCESSORS], list(colours.HOST_MEMORIES), [colours.SEVERAL]),
}
"""Families that share a picture; `APART` is how far apart these must be, as above."""
APART = 6.5


def seen(colour, matrix):
    """Place in Oklab, times 100, of a colour as a reader sees it."""
    encoded = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    return 100 * TO_OKLAB @ np.cbrt(TO_CONES @ np.clip(matrix @ linear, 0, 1))


@pytest.mark.parametrize("vision", SIMULATED)
@pytest.mark.parametrize("family", FAMILIES)
def test_colours_of_a_family_stay_apart_for_every_reader(family, vision):
    found, least = FAMILIES[family]
    places = [seen(colour, SIMULATED[vision]) for colour in found]
    nearest = min(np.linalg.norm(one - other) for one, other in itertools.combinations(places, 2))
    assert nearest >= least, f"{family} under {vision}: {nearest:.1f}"


@pytest.mark.parametrize("vision", SIMULATED)
@pytest.mark.parametrize("group", TOGETHER)
def test_families_of_one_picture_stay_apart_for_every_reader(group, vision):
    places = [[seen(colour, SIMULATED[vision]) for colour in family] for family in TOGETHER[group]]
    near = [
        (np.linalg.norm(here - there), family, beside)
        for (family, one), (beside, other) in itertools.combinations(enumerate(places), 2)
        for here, there in itertools.product(one, other)
    ]
    assert min(near)[0] >= APART, f"{group} under {vision}: families {min(near)[1:]}"


def test_no_colour_has_two_meanings():
    causes, phases, kinds = (family.values() for family in (colours.CAUSES, colours.PHASES, colours.KINDS))
    families = (colours.PLACEMENTS.values(), colours.PROCESSORS, causes, phases, kinds)
    ramps = (colours.SHARING, colours.ACTIVITY, colours.BUSY, (colours.SEVERAL,))
    named = (
        colours.WAITS,
        colours.STALLS,
        colours.LEVELS,
        colours.HOST_FAULTS,
        colours.HOST_MEMORIES,
        colours.PAIRS,
        colours.BUFFERS,
        (colours.ADVISED,),
    )
    every = [colour for family in (*families, *named, colours.SERIES, colours.ACCESS) for colour in family]
    assert len({*every, *itertools.chain(*ramps)}) == len(every) + sum(map(len, ramps))
    places = [seen(colour, SIMULATED["normal"]) for colour in every]
    assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(places, 2)) > 2


def test_everything_that_is_drawn_has_a_colour():
    assert colours.PLACEMENTS.keys() <= {entry["name"] for entry in listing()["placements"]}, "others take `SERIES`"
    assert tuple(colours.CAUSES) == measures.CAUSES
    assert tuple(colours.PHASES) == (*measures.PHASES, measures.OTHER)
    assert len(colours.WAITS) == len(WAITED) - 1
    assert len(colours.LEVELS) == len(LEVELS)


MAIN = [*itertools.permutations(colours.PLACEMENTS, 2), *itertools.permutations(colours.KINDS, 2), ("a", "b")]


@pytest.mark.parametrize("names", MAIN)
def test_colours_are_seen_in_the_dark(names):
    shades = [*colours.of(names), *colours.SERIES]
    dark = in_the_dark(shades)
    assert min(contrast(shade, DARK_PAPER) for shade in dark) >= ENOUGH
    assert contrast(*dark[:2]) >= ENOUGH, "the two main ones beside each other"
    assert len(dark) == len(shades)


@pytest.mark.parametrize("vision", SIMULATED)
@pytest.mark.parametrize("names", MAIN)
def test_the_main_colours_are_seen_on_white_paper_and_apart(names, vision):
    one, other, *rest = on_paper([*colours.of(names), *colours.SERIES])
    assert min(contrast(shade, PAPER) for shade in (one, other)) >= ENOUGH
    assert np.linalg.norm(seen(one, SIMULATED[vision]) - seen(other, SIMULATED[vision])) >= 4
    assert tuple(rest) == colours.SERIES


def test_names_without_a_colour_are_seen_on_white_paper_while_there_are_six_of_them():
    assert min(contrast(shade, PAPER) for shade in colours.of("abcdef")) >= ENOUGH


def test_a_page_has_other_colours_in_the_dark():
    shades = {"on-touch": colours.PLACEMENTS["on-touch"], "grit": colours.PLACEMENTS["grit"]}
    light, dark = shade.style({"variants": shades, "series": {}}).splitlines()
    assert all(colour in light and colour not in dark for colour in shades.values())
    assert 'data-theme="dark"' in dark
    page = (Path(octavo.__file__).parent / "report" / "page" / "page.css").read_text()
    assert f"--paper: {PAPER}" in page, "contrast is that with the paper of pages"
    assert f"--paper: {DARK_PAPER}" in page


def test_names_get_colours():
    grit, touch = colours.PLACEMENTS["grit"], colours.PLACEMENTS["on-touch"]
    assert colours.of(["my-policy", "grit", "on touch"]) == [colours.SERIES[0], grit, touch]
    assert colours.of(["explicit", "managed grit"]) == [colours.KINDS["explicit"], grit]
    kinds = ["explicit", "managed", "system"]
    assert colours.of(kinds)[1:] == colours.of(kinds[1:]), "a kind has one colour, whatever stands beside it"
    assert len(set(colours.of(["launches grit", "managed grit", "on-touch"]))) == 3


@pytest.fixture
def drawn():
    """Draws a picture and gives its figure, laid out."""

    def draw(kind, *arguments, **options):
        figure = getattr(pictures, kind)(None, *arguments, **options).figure
        figure.draw_without_rendering()
        return figure

    return draw


def texts(figure):
    """Every text that is seen, with its box."""
    from matplotlib.text import Text  # noqa: PLC0415 - only where pictures are drawn

    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            outside = [tick for tick in ticks if not low <= tick.get_loc() <= high]
            hidden |= {text for tick in outside for text in (tick.label1, tick.label2)}
    found = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text() and text not in hidden]
    shown = [text for text in found if text.axes is None or text.axes.get_visible()]
    return [(text.get_text(), Text.get_window_extent(text)) for text in shown]  # Without the lines of annotations.


def check_texts(figure):
    """No text covers another, and none leaves the figure."""
    found = texts(figure)
    for (one, here), (other, there) in itertools.combinations(found, 2):
        wide = min(here.x1, there.x1) - max(here.x0, there.x0)
        high = min(here.y1, there.y1) - max(here.y0, there.y0)
        assert wide <= 1 or high <= 1, f"`{one}` and `{other}` overlap by {wide:.0f} × {high:.0f} points"
    width, height = figure.bbox.size
    for text, box in found:
        assert min(box.x0, box.y0) >= -1, text
        assert max(box.x1 - width, box.y1 - height) <= 1, text


SIX = ("on-touch", "access-counter", "duplication", "first-touch", "grit", "ideal")
SPEEDS = pl.DataFrame(
    {"workload": ["stencil2d"], **dict(zip(SIX, [[1.0], [6.8], [2.19], [12.88], [7.46], [70.22]], strict=True))}
)


@pytest.mark.parametrize("width", [pictures.COLUMN, pictures.PAGE])
def test_six_bars_of_one_kernel_carry_names_and_values(drawn, width):
    figure = drawn("bars", SPEEDS, xlabel="speed-up", title="Speed-up over on-touch", line_at=1.0, width=width)
    check_texts(figure)
    assert not figure.legends, "bars are labelled directly"
    assert {*SIX, "1.00", "6.80", "70.22"} <= {text for text, _ in texts(figure)}
    (axes,) = figure.axes
    assert axes.get_xlim()[0] == 1.0, "a logarithmic axis of speed-ups begins at the baseline"
    shades = [bar.get_facecolor() for bar in axes.patches]
    from matplotlib.colors import to_rgba  # noqa: PLC0415 - as above

    assert shades == [to_rgba(colours.PLACEMENTS[name]) for name in SIX]


def test_no_two_of_many_bars_or_lines_look_alike_but_mean_two_things(drawn):
    """Ten bars beside their names have one colour; ten lines differ in their stroke where they share one."""
    names = [f"technique {number}" for number in range(10)]
    table = pl.DataFrame({"job": ["a"], **{name: [1.0] for name in names}})
    bars = drawn("bars", table, xlabel="speed", title="Many").axes[0].patches
    assert len({bar.get_facecolor() for bar in bars}) == 1
    series = {name: ([1, 2], [1, 2]) for name in names}
    lines = drawn("lines", series, ("x", "y"), title="Many").axes[0].lines
    assert len({(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}) == 10


def test_nearly_equal_values_of_lines_lie_within_the_axis(drawn):
    series = {"one": ([1, 2], [140.5, 141.0]), "other": ([1, 2], [140.5, 141.0])}
    axes = drawn("lines", series, ("occupancy", "bloat"), title="Nearly equal").axes[0]
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] > 1.05 * 141
    assert axes.lines[0].get_markersize() > axes.lines[1].get_markersize(), "the line behind is seen"


def test_values_can_be_read_where_a_line_crosses_them(drawn):
    table = pl.DataFrame({"job": ["a", "b"], "x": [0.83, 1.7], "y": [0.9, 1.0]})
    axes = drawn("bars", table, xlabel="speed", title="Near the line", line_at=1.0).axes[0]
    assert all(text.get_path_effects() for text in axes.texts)


@pytest.mark.parametrize("width", [pictures.COLUMN, pictures.PAGE])
def test_no_line_crosses_a_value(drawn, width):
    table = pl.DataFrame({"change": ["a", "b", "c", "d"], "time": [0.5, 0.93, 0.99, 1.2]})
    figure = drawn("bars", table, xlabel="relative time", title="Near the line", line_at=1.0, width=width)
    check_texts(figure)
    (axes,) = figure.axes
    line = axes.transData.transform((1.0, 0.0))[0]
    for text in axes.texts:
        box = text.get_window_extent()
        assert not box.x0 < line < box.x1, text.get_text()


@pytest.mark.parametrize("width", [pictures.COLUMN, pictures.PAGE])
@pytest.mark.parametrize("values", [[-0.00487, -0.00285, 0.000944, -0.000329], [-3.0, -0.000329], [2.0, -1234567.0]])
def test_values_of_bars_below_zero_stand_between_them_and_their_names(drawn, width, values):
    table = pl.DataFrame({"cause": ["migration", "local", "duplication", "walk"][: len(values)], "time": values})
    figure = drawn("bars", table, xlabel="ms", title="Where the difference comes from", width=width)
    check_texts(figure)
    assert "-" not in "".join(text for text, _ in texts(figure)), "a minus is no hyphen"


def test_the_last_row_of_a_legend_is_as_full_as_the_others(drawn):
    rows = [{"workload": "fir", "variant": "grit", "time_ps": 9, **{f"{cause}_ps": 1 for cause in measures.CAUSES[:6]}}]
    rows[0] |= {f"{cause}_ps": 0 for cause in measures.CAUSES[6:]}
    (legend,) = drawn("breakdown", pl.DataFrame(rows), title="Run time by cause").legends
    boxes = [text.get_window_extent() for text in legend.get_texts()]
    rows_of = [round(box.y0) for box in boxes]
    assert len({rows_of.count(row) for row in rows_of}) == 1, rows_of


@pytest.mark.parametrize("width", [pictures.COLUMN, pictures.PAGE])
@pytest.mark.parametrize("values", [[180, 80, 14.9], [1.4e9, 3, 0.02], [10, 9, 1]])
def test_marks_of_a_logarithmic_axis_have_room_and_are_numbers(drawn, width, values):
    series = {
        name: ([1, 2, 12], [value * factor for value in values]) for name, factor in (("managed", 1), ("system", 2))
    }
    figure = drawn("lines", series, ("iteration", "us"), title="Time of each iteration", width=width)
    check_texts(figure)
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    marks = [text.get_text() for text in axes.get_yticklabels()]
    assert len(marks) >= 2, marks
    assert all(low <= float(mark) <= high for mark in marks), marks
    assert not axes.yaxis.get_minorticklabels()


@pytest.mark.parametrize("width", [pictures.COLUMN, pictures.PAGE])
def test_long_names_leave_room_for_bars(drawn, width):
    names = ["ideal", "twice the remote lines in flight of each GPU, and twice the walkers", "griffin-dpc"]
    table = pl.DataFrame({"change": names, "time": [0.02, 1.0, 1.36]})
    figure = drawn("bars", table, xlabel="relative time", title="What would help", line_at=1.0, width=width)
    check_texts(figure)
    (axes,) = figure.axes
    assert axes.get_window_extent().width > 0.45 * figure.bbox.width


@pytest.mark.parametrize("width", [pictures.COLUMN, pictures.PAGE])
@pytest.mark.parametrize("line", [None, 1.0])
@pytest.mark.parametrize("wide", [1, 80])
def test_many_kernels_have_a_panel_each(drawn, width, line, wide):
    rows = ["fir", "bfs-shoc", "stencil2d", "geomean"]
    table = pl.DataFrame({"workload": rows, **{name: [0.9, 0.3 + wide, 0.6, 1.5] for name in (*SIX, "my-policy")}})
    figure = drawn("bars", table, xlabel="speed-up", title="Speed-up over on-touch", line_at=line, width=width)
    check_texts(figure)
    assert [axes.get_title() for axes in figure.axes if axes.get_visible()] == rows
    if wide == 1 or line is None:
        assert all(axes.get_xlim()[0] == 0 for axes in figure.axes if axes.get_visible()), (
            "bars on a linear axis begin at zero"
        )


@pytest.mark.parametrize("width", [pictures.COLUMN, pictures.PAGE])
def test_times_by_cause_end_with_their_totals(drawn, width):
    shares = {f"{cause}_ps": 1 + number for number, cause in enumerate(measures.CAUSES)}
    rows = [
        {"workload": kernel, "variant": name, "time_ps": 1000 // (1 + place), **shares}
        for kernel in ("fir", "gemm", "relu", "stencil2d")
        for place, name in enumerate(SIX)
    ]
    figure = drawn("breakdown", pl.DataFrame(rows), title="Run time by cause", width=width)
    check_texts(figure)
    assert {"1.00", "0.50"} <= {text.strip() for text, _ in texts(figure)}


def with_replicates(kind):
    """A point whose time is between 900 and 1300 ps, and one that ran as long each time."""
    row = {"workload": "fir", "time_ps": 1000, "time_ps_low": 900, "time_ps_high": 1300, "replicates": 5}
    parts = {f"{cause}_ps": 100 for cause in measures.CAUSES}
    if kind == "phases":
        parts = {f"{phase}_ps": 100 for phase in (*measures.PHASES, measures.OTHER)}
    same = {"time_ps_low": 1000, "time_ps_high": 1000}
    return pl.DataFrame([{**row, **parts, "variant": "on-touch"}, {**row, **parts, **same, "variant": "grit"}])


@pytest.mark.parametrize("width", [pictures.COLUMN, pictures.PAGE])
@pytest.mark.parametrize("kind", ["breakdown", "phases"])
def test_whole_times_have_the_intervals_of_their_replicates(drawn, kind, width):
    figure = drawn(kind, with_replicates(kind), title="Run time", width=width)
    check_texts(figure)
    (axes,) = figure.axes
    lines = [line.get_xdata() for line in axes.lines]
    whole = lines[1][0]
    assert [tuple(end / whole for end in ends) for ends in lines] == [(0.9, 1.3), (1.0, 1.0)]
    for text, line in zip(axes.texts, axes.lines, strict=True):
        assert text.get_window_extent().x0 > line.get_window_extent().x1, "the value stands behind the interval"
    alone = with_replicates(kind).drop("time_ps_low", "time_ps_high", "replicates")
    assert not drawn(kind, alone, title="Run time").axes[0].lines


@pytest.mark.parametrize("width", [pictures.COLUMN, pictures.PAGE])
def test_axes_of_sweeps_show_the_values_that_were_swept(drawn, width):
    swept = [50.0, 100.0, 150.0, 300.0, 600.0, 601.0, 602.0, 900.0]
    series = {"grit": (swept, [9.0 - value / 200 for value in swept]), "on-touch": (swept, swept)}
    figure = drawn("lines", series, ("bandwidth in GB/s", "time in ms"), title="Time by bandwidth", width=width)
    check_texts(figure)
    (axes,) = figure.axes
    assert list(axes.get_xticks()) == swept
    names = [tick.get_text() for tick in axes.get_xticklabels()]
    assert (names[0], names[-1]) == ("50", "900")
    assert "" in names


def test_linear_axes_of_lines_begin_at_zero(drawn):
    figure = drawn("lines", {"time": ([1.0, 2.0], [8.0, 9.0])}, ("x", "y"), title="Time by x")
    assert figure.axes[0].get_ylim()[0] == 0


def test_shares_stand_in_their_bars(drawn):
    parts = {"on touch": [0.5, 0.1], "access counter": [0.3, 0.85], "duplication": [0.2, 0.05]}
    figure = drawn("shares", ["fir", "gemm"], parts, xlabel="share of pages", title="Schemes")
    check_texts(figure)
    assert {"50%", "85%"} <= {text for text, _ in texts(figure)}


def test_heat_maps_of_long_names_and_large_values(drawn):
    values = [[1.25, 106_287.0], [0.001, float("nan")]]
    check_texts(drawn("heat_map", values, ["on-touch", "access-counter"], ["a-long-name", "b"], ("p", "q"), "Time"))


@pytest.mark.parametrize("width", [pictures.COLUMN, pictures.PAGE])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 3), (5, 8), (40, 40)])
def test_heat_maps_are_as_wide_as_asked_and_say_intervals_where_these_have_room(drawn, rows, columns, width):
    values = [[10.0 + row * columns + column for column in range(columns)] for row in range(rows)]
    ends = [[[factor * value for value in line] for line in values] for factor in (0.98, 1.05)]
    names = [f"{50 * row}GB/s" for row in range(rows)], [str(column) for column in range(columns)]
    figure = drawn("heat_map", values, *names, ("node.bandwidth", "gpus"), "Time", width=width, ends=(ends[0], ends[1]))
    assert figure.get_figwidth() == width
    check_texts(figure)
    said = [text for text, _ in texts(figure)]
    if columns == 40:
        assert len(figure.axes) == 2, "a scale of colours stands in for values without room"
        return
    assert said.count("±5.0%") == rows * columns
    (axes,) = figure.axes
    cell = axes.get_window_extent().width / columns
    assert all(text.get_window_extent().width < cell for text in axes.texts)
    assert {text.get_fontsize() >= 4.8 for text in axes.texts} == {True}


@pytest.mark.parametrize("columns", [1, 40])
@pytest.mark.parametrize(("width", "name"), [(1.5, "a"), (1.5, "access-counter"), (3.5, "x" * 60)])
def test_heat_maps_without_room_have_no_values_and_no_scale(drawn, width, name, columns):
    values = [[float(1000 + column) for column in range(columns)]] * 2
    figure = drawn(
        "heat_map", values, [name, "b"], [str(number) for number in range(columns)], ("p", "q"), "Time", width=width
    )
    assert figure.get_figwidth() == width
    assert len(figure.axes) == 1
    if columns == 40:
        assert not figure.axes[0].texts


def test_intervals_around_zero_say_how_far_they_go(drawn):
    values = [[0.0, 0.0, 4.0, float("nan")]]
    ends = [[-0.5, 0.0, 3.0, float("nan")]], [[0.25, 0.0, 4.5, float("nan")]]
    figure = drawn("heat_map", values, ["a"], ["b", "c", "d", "e"], ("p", "q"), "Change", ends=ends)
    check_texts(figure)
    assert [text for text, _ in texts(figure) if "±" in text] == ["±0.5", "±0", "±25.0%"]


@pytest.mark.parametrize("slowest", [3e9, 3e12])
def test_names_of_close_outliers_do_not_overlap(drawn, slowest):
    reference = [1e7, 0.5 * slowest, 0.999 * slowest, slowest]
    rows = pl.DataFrame(
        {
            "benchmark": ["aes", "atax", "bicg", "bicg"],
            "parameters": ["-length 64", "-x 256 -y 256", "-x 256 -y 256", "-x 512 -y 512"],
            "gpus": [1, 4, 4, 4],
            "reliable": True,
            "kernel_time_reference_ps": reference,
            "kernel_time_ps": [time * ratio for time, ratio in zip(reference, (1, 0.8, 0.8, 0.8), strict=True)],
            "kernel_time_error": [0.0, -0.2, -0.2, -0.2],
        }
    )
    check_texts(drawn("agreement", rows, title="Kernel time"))


def test_labels_that_have_no_room_are_left_out_but_the_outer_two():
    assert sheet.spread(["1", "2", "3"], [0.0, 1.0, 2.0]) == [0, 1, 2]
    assert sheet.spread(["100", "200", "300", "400"], [0.0, 1.0, 1.9, 2.0]) == [0, 1, 3]
    assert sheet.spread(["100", "200"], [0.0, 0.01]) == [0]


@pytest.mark.parametrize(("name", "magic"), [("x.png", b"\x89PNG"), ("x.svg", b"<?xml"), ("x.pdf", b"%PDF")])
def test_the_ending_says_the_format_and_bytes_repeat(tmp_path, name, magic):
    found = []
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        pictures.bars(tmp_path / folder / name, SPEEDS, xlabel="speed-up", title="Speed-up", line_at=1.0)
        found.append((tmp_path / folder / name).read_bytes())
    assert found[0] == found[1]
    assert found[0].startswith(magic)


def test_other_endings_are_refused(tmp_path):
    with refused("unwritable", OutputError, file="x.bmp"):
        pictures.bars(tmp_path / "x.bmp", SPEEDS, xlabel="speed-up", title="Speed-up")


def test_logarithmic_axes_show_powers_and_names_are_no_formulas(tmp_path):
    found = sheet.figure(sheet.COLUMN, 3.0)
    axes = found.add_subplot()
    axes.loglog([1e-7, 3e-4], [1e-7, 2e-4])
    axes.set_title("memory.$x$")
    sheet.write(found, tmp_path / "powers.png")
    texts = {text.get_text(): text.get_parse_math() for text in found.findobj(Text) if text.get_visible()}
    assert texts["memory.$x$"] is False
    powers = {formula for text, formula in texts.items() if "mathdefault" in text}
    assert powers == {True}
