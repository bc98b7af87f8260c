"""What came of each program's advice, as rows of a table, and how many promises were kept."""

import statistics
from typing import Any, Dict, List

_KEPT = 0.10  # of the ratio promised
_SLOWER = 0.97  # of the rate before; what is nearer than that two pairs of runs cannot tell

_HEAD = """| program | advice | cores used | before | promised | after | ratio promised | ratio got | in epochs | kept | slower |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def _is_near(ratio: float, row: Dict[str, Any]) -> bool:
    return abs(ratio / row["ratio_promised"] - 1) <= _KEPT


def is_kept(row: Dict[str, Any]) -> bool:
    return _is_near(row.get("ratio_of_epochs", row["ratio_got"]), row)


def is_slower(row: Dict[str, Any]) -> bool:
    return row["ratio_got"] < _SLOWER


def _rates(rates: List[float]) -> str:
    return f"{statistics.mean(rates):,.0f} ({', '.join(f'{rate:,.0f}' for rate in rates)})"


def line(row: Dict[str, Any]) -> str:
    if "failed" in row:
        return f"| {row['name']} | failed: {row['failed']} | | | | | | | | | |"
    before = f"{row['cores_used']:.2f} | {_rates(row['rates_before'])}"
    if "advice" not in row:
        return f"| {row['name']} | none: {row['no_figures']} | {before} | | | | | | | |"
    advice = f"{row['advice']}: {' '.join(row['changes'])}"
    of_epochs = f"{row['ratio_of_epochs']:.2f}" if "ratio_of_epochs" in row else ""
    got = f"{_rates(row['rates_after'])} | {{}} | {row['ratio_got']:.2f} | {of_epochs} | {{}} | " \
          f"{'yes' if is_slower(row) else 'no'} |"
    if "promised" not in row:
        return f"| {row['name']} | {advice}; no figures: {row['no_figures']} | {before} | | " + got.format("", "")
    kept = "yes" if is_kept(row) else "no"
    return f"| {row['name']} | {advice} | {before} | {row['promised']:,.0f} | " + got.format(f"{row['ratio_promised']:.2f}", kept)


def _share(some: int, of: int) -> str:
    return f"{some} of {of} ({some / of:.0%})" if of else "none of none"


def markdown(result: Dict[str, Any]) -> str:
    rows = result["programs"]
    ran = [row for row in rows if "failed" not in row]
    promised = [row for row in ran if "ratio_promised" in row]
    directed = [row for row in ran if "ratio_got" in row and "ratio_promised" not in row]
    return f"""# Advice, followed

Of {len(ran)} training programs of others, {len(promised)} were promised a rate, and {_share(sum(map(is_kept, promised)), len(promised))} of them
got it within {_KEPT:.0%}; with what the programs do between their epochs {_share(sum(_is_near(row["ratio_got"], row) for row in promised), len(promised))}. With the setting that had figures {_share(sum(map(is_slower, promised)), len(promised))} became slower, with the one that was
given without figures {_share(sum(map(is_slower, directed)), len(directed))}. {len(ran) - len(promised) - len(directed)} were given no setting.

{result["gpu"] + ", " if result["gpu"] else ""}{result["cpu"]}, {result["cores"]} cores of a virtual machine, Linux {result["kernel"]}; {result["date"]}, {result["loaderscope"]};
`{result["command"]}`, windows of {min(row["window_s"] for row in ran):.0f} to {max(row["window_s"] for row in ran):.0f} s. Each row: the program as it is and with the advised setting, in its
own words where it has a flag for it, in turns, each a fresh run; rates are samples/s of the measured windows, their mean and each.
`in epochs`: where the window before lay within one epoch, what the loader gives over whole epochs, without what the program does
between two, such as a validation, which the promise does not hold either (it says so). `slower`: below {_SLOWER:.0%} of the rate before. The programs are listed in `tests/programs/programs.toml`.

""" + "\n".join([_HEAD, *map(line, rows)]) + "\n"
