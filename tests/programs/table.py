"""What came of each program's advice, as rows of a table, and how many promises were kept."""

import statistics
from typing import Any, Dict, List

_KEPT = 0.10  # of the ratio promised
_SLOWER = 0.97  # of the rate before; what is nearer than that two pairs of runs cannot tell

_HEAD = """| program | advice | before | promised | after | ratio promised | ratio got | kept | slower |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def is_kept(row: Dict[str, Any]) -> bool:
    return abs(row["ratio_got"] / row["ratio_promised"] - 1) <= _KEPT


def is_slower(row: Dict[str, Any]) -> bool:
    return row["ratio_got"] < _SLOWER


def _rates(rates: List[float]) -> str:
    return f"{statistics.mean(rates):,.0f} ({', '.join(f'{rate:,.0f}' for rate in rates)})"


def line(row: Dict[str, Any]) -> str:
    if "failed" in row:
        return f"| {row['name']} | failed: {row['failed']} | | | | | | | |"
    before = _rates(row["rates_before"])
    if "advice" not in row:
        return f"| {row['name']} | none: {row['no_figures']} | {before} | | | | | | |"
    advice = f"{row['advice']}: {' '.join(row['changes'])}"
    got = f"{_rates(row['rates_after'])} | {{}} | {row['ratio_got']:.2f} | {{}} | {'yes' if is_slower(row) else 'no'} |"
    if "promised" not in row:
        return f"| {row['name']} | {advice}; no figures: {row['no_figures']} | {before} | | " + got.format("", "")
    kept = "yes" if is_kept(row) else "no"
    return f"| {row['name']} | {advice} | {before} | {row['promised']:,.0f} | " + got.format(f"{row['ratio_promised']:.2f}", kept)


def markdown(rows: List[Dict[str, Any]]) -> str:
    promised = [row for row in rows if "ratio_promised" in row]
    followed = [row for row in rows if "ratio_got" in row]
    kept = sum(map(is_kept, promised))
    share = f"{kept} of {len(promised)} promises kept within {_KEPT:.0%}" if promised else "no promises"
    slower = f"{sum(map(is_slower, followed))} of {len(followed)} programs slower with the advice"
    return "\n".join([_HEAD, *map(line, rows), "", f"{share}; {slower}; {len(rows)} programs."])
