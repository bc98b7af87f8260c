"""Results of each program's advice, as rows of a table, and how many promises were kept."""

import statistics
import textwrap
from typing import Any, Callable, Dict, List

import advice

_KEPT = 0.10  # share of the ratio promised
_SLOWER = 0.97  # share of the rate before; two pairs of runs cannot tell less

_COLUMNS = 120
_SHORT_REASON = 20  # letters; longer ones are below the table
_ADVICE_HEAD = ["program", "waits", "Fix", "advice followed", "cores used", "measured"]
_RATES_HEAD = ["program", "before", "promised", "after", "ratio promised", "ratio got", "in epochs", "kept", "slower"]


def _is_near(ratio: float, row: Dict[str, Any]) -> bool:
    return abs(ratio / row["ratio_promised"] - 1) <= _KEPT


def is_promised(row: Dict[str, Any]) -> bool:
    return "ratio_promised" in row and "ratio_got" in row


def is_kept(row: Dict[str, Any]) -> bool:
    return _is_near(row.get("ratio_of_epochs", row["ratio_got"]), row)


def is_slower(row: Dict[str, Any]) -> bool:
    return row["ratio_got"] < _SLOWER


def waits(row: Dict[str, Any]) -> bool:
    return (row.get("waited") or 0) >= advice.WAITS


def _rates(rates: List[float]) -> str:
    return f"{statistics.mean(rates):,.0f} ({', '.join(f'{rate:,.0f}' for rate in rates)})"


class _Notes:
    """Texts that are too long for a cell, numbered below the table."""

    def __init__(self) -> None:
        self._texts: List[str] = []

    def number(self, text: str) -> str:
        text = text[:1].upper() + text[1:]
        if text not in self._texts:
            self._texts.append(text)
        return f"({self._texts.index(text) + 1})"

    def paragraph(self) -> str:
        return fill(" ".join(f"({number}) {text}." for number, text in enumerate(self._texts, 1)))


def fill(text: str) -> str:
    """The text as one paragraph of the width that Markdown may have."""
    return textwrap.fill(" ".join(text.split()), _COLUMNS, break_long_words=False, break_on_hyphens=False)


def _followed(row: Dict[str, Any], notes: _Notes) -> str:
    if "failed" in row:
        return "failed " + notes.number(row["failed"])
    if "advice" not in row:
        reason = row["no_figures"]
        return "none" + (f": {reason}" if len(reason) <= _SHORT_REASON else " " + notes.number(reason))
    why = " " + notes.number("no figures: " + row["no_figures"]) if "no_figures" in row else ""
    return f"{row['advice']}: {' '.join(row['changes'])}{why}"


def _advice_cells(row: Dict[str, Any], notes: _Notes) -> List[str]:
    if "failed" in row:
        return [row["name"], "", "", _followed(row, notes), "", ""]
    waited = row.get("waited")
    measured = row.get("rates_measured", row["rates_before"])
    return [row["name"], "" if waited is None else f"{waited:.0%}", row.get("kind", ""), _followed(row, notes),
            f"{row['cores_used']:.2f}", f"{statistics.mean(measured) / statistics.mean(row['rates_before']):.2f}"]


def _rate_cells(row: Dict[str, Any]) -> List[str]:
    promised = "ratio_promised" in row
    got = "ratio_got" in row
    return [row["name"], _rates(row["rates_before"]), f"{row['promised']:,.0f}" if promised else "",
            _rates(row["rates_after"]) if got else "", f"{row['ratio_promised']:.2f}" if promised else "",
            f"{row['ratio_got']:.2f}" if got else "", f"{row['ratio_of_epochs']:.2f}" if "ratio_of_epochs" in row else "",
            ("yes" if is_kept(row) else "no") if is_promised(row) else "", ("yes" if is_slower(row) else "no") if got else ""]


def _table(head: List[str], rows: List[List[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def tables(rows: List[Dict[str, Any]]) -> str:
    """One table of the advice and one of the rates, as one of both would be too wide to read."""
    notes = _Notes()
    parts = [_table(_ADVICE_HEAD, [_advice_cells(row, notes) for row in rows]), notes.paragraph(),
             _table(_RATES_HEAD, [_rate_cells(row) for row in rows if "failed" not in row])]
    return "\n\n".join(part for part in parts if part)


def _share(rows: List[Dict[str, Any]], is_one: Callable[[Dict[str, Any]], bool]) -> str:
    some = sum(map(is_one, rows))
    return f"{some} of {len(rows)} ({some / len(rows):.0%})" if rows else "none of none"


def summary(rows: List[Dict[str, Any]]) -> str:
    """The result in one paragraph."""
    ran = [row for row in rows if "failed" not in row]
    waiting = [row for row in ran if waits(row)]
    promised, followed = list(filter(is_promised, ran)), [row for row in ran if "ratio_got" in row]
    kinds = [row.get("kind") for row in waiting]
    return fill(f"""
        Of {len(ran)} programs {len(waiting)} wait at least {advice.WAITS:.0%} of the time, and
        {_share(waiting, lambda row: "ratio_promised" in row)} of these got a figure. Of the promises,
        {_share(promised, is_kept)} were kept within {_KEPT:.0%}. {_share(followed, is_slower)} of the programs that took
        an advised setting became slower. The Fix of the programs that wait was a setting for {kinds.count("setting")},
        rewriting for {kinds.count("rewriting")}, and missing for {kinds.count("none")}. {len(rows) - len(ran)} programs
        did not run.""")


_WINDOW_RATES = """Rates are samples/s of the measured windows, their mean and each. `in epochs`: if the window before was within one epoch, the rate
over whole epochs, without the program's work between two epochs, such as a validation. The promise does not include that work."""
_OWN_CLOCK_RATES = """Rates are samples/s by the program's own clock over whole epochs, without loaderscope: their
mean and each. `promised` and the advice come from one measured run. `measured` is its rate divided by the program's own:
a number below 1 includes the overhead."""


def markdown(result: Dict[str, Any]) -> str:
    rows = result["programs"]
    windows = [row["window_s"] for row in rows if "failed" not in row] or [0]
    is_ours = result["set"] != "published"
    title = "# Advice, followed" + (" in programs of many kinds" if is_ours else "")
    gpu = result["gpu"] + ", " if result["gpu"] else ""
    method = fill(f"""
        {gpu}{result["cpu"]}, {result["cores"]} cores of a virtual machine, Linux {result["kernel"]}; {result["date"]},
        {result["loaderscope"]}; `{result["command"]}`, windows of {min(windows):.0f} to {max(windows):.0f} s. Each row:
        the program as it is and with the advised setting, in its own words if it has a flag for it. Runs before and
        after alternate, and each is a new process. {_OWN_CLOCK_RATES if is_ours else _WINDOW_RATES} `Fix`: what the
        answer puts first. If that is rewriting, the first other setting is followed. `kept`: the ratio got is within
        {_KEPT:.0%} of the ratio promised. `slower`: below {_SLOWER:.0%} of the rate before. The programs are listed in
        `tests/programs/{"kinds.toml" if is_ours else "programs.toml"}`.""")
    return "\n\n".join([title, summary(rows), method, tables(rows)]) + "\n"
