"""The figures of all rounds as one result (schema loaderscope.peers/1), and that as Markdown."""

import dataclasses
import textwrap
from typing import Any, Dict, List, Sequence

from peers.engines import ENGINES, NATIVE, named
from peers.measure import Run
from peers.ratios import Interval, divide_rounds, median_interval


def _figures(runs: Sequence[Run], cores: int) -> Dict[str, Interval]:
    return {
        "images_per_cpu_s": median_interval([run.images / run.cpu_s for run in runs]),
        "images_per_s_per_core": median_interval([run.images / run.wall_s / cores for run in runs]),
        "cpu_s_per_1000": median_interval([1000 * run.cpu_s / run.images for run in runs]),
        "peak_bytes": median_interval([float(run.peak_bytes) for run in runs]),
        "first_batch_s": median_interval([run.first_batch_s for run in runs]),
    }


def _against(native: Sequence[Run], runs: Sequence[Run]) -> Dict[str, Interval]:
    cpu = divide_rounds([run.cpu_s / run.images for run in runs], [run.cpu_s / run.images for run in native])
    wall = divide_rounds([run.wall_s / run.images for run in runs], [run.wall_s / run.images for run in native])
    tax = [1000 * (run.cpu_s / run.images - own.cpu_s / own.images) for run, own in zip(runs, native)]
    return {"native_faster_by_cpu": median_interval(cpu), "native_faster_by_clock": median_interval(wall),
            "framework_tax_cpu_s_per_1000": median_interval(tax)}


def summary(rounds: Dict[str, List[Run]], failed: Dict[str, str], cores: int) -> List[Dict[str, Any]]:
    """One entry per engine that was asked for, in the order of the table of engines."""
    entries = []
    for engine in ENGINES:
        if engine.name not in rounds and engine.name not in failed:
            continue
        entry: Dict[str, Any] = {"engine": engine.name, "what": engine.what, "promise": engine.promise,
                                 "not_measured": failed.get(engine.name), "figures": {}, "rounds": []}
        runs = rounds.get(engine.name, [])
        if runs and not entry["not_measured"]:
            figures = _figures(runs, cores)
            if engine.name != NATIVE:
                figures.update(_against(rounds[NATIVE], runs))
            entry["figures"] = {name: dataclasses.asdict(figure) for name, figure in figures.items()}
            entry["rounds"] = [dataclasses.asdict(run) for run in runs]
        entries.append(entry)
    return entries


def _ratio(figure: Dict[str, float]) -> str:
    return f"{figure['median']:.2f} [{figure['low']:.2f}, {figure['high']:.2f}]"


def _kept(measured: Dict[str, float], promise: float) -> str:
    return "kept" if measured["low"] >= promise else "missed" if measured["high"] < promise else "cannot tell"


def _promise(entry: Dict[str, Any]) -> str:
    promise = entry["promise"]
    if promise is None:
        return ""
    by_cpu, by_clock = (_kept(entry["figures"][f"native_faster_by_{what}"], promise) for what in ("cpu", "clock"))
    return f"≥ {promise}: " + (by_cpu if by_cpu == by_clock else f"by CPU time {by_cpu}, by the clock {by_clock}")


def _rate_row(entry: Dict[str, Any]) -> List[str]:
    figures = {name: figure["median"] for name, figure in entry["figures"].items()}
    tax = entry["figures"].get("framework_tax_cpu_s_per_1000")
    return [entry["engine"], f"{figures['images_per_cpu_s']:,.0f}", f"{figures['images_per_s_per_core']:,.0f}",
            f"{figures['cpu_s_per_1000']:.2f}", _ratio(tax) if tax else "", f"{figures['peak_bytes'] / 1e6:,.0f}",
            f"{figures['first_batch_s']:.2f}"]


def _fill(text: str, indent: str = "") -> str:
    """The text as one paragraph of the width that Markdown may have. `indent` is of all lines but the first."""
    return textwrap.fill(" ".join(text.split()), 120, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _ratio_row(entry: Dict[str, Any]) -> List[str]:
    figures = entry["figures"]
    return [entry["engine"], _ratio(figures["native_faster_by_cpu"]), _ratio(figures["native_faster_by_clock"]),
            _promise(entry)]


def _versions(result: Dict[str, Any], entry: Dict[str, Any]) -> str:
    found = [f"{package} {result['versions'][package]}" for package in named(entry["engine"]).packages
             if package in result["versions"]]
    return ", ".join(found) or result["loaderscope"]


def _headline(measured: List[Dict[str, Any]]) -> str:
    peers = [f"{entry['figures']['native_faster_by_cpu']['median']:.1f} × {entry['engine']}"
             for entry in measured if entry["engine"] != NATIVE]
    return "By CPU time per image, the native engine is " + (", ".join(peers) or "compared with nothing") + "."


def markdown(result: Dict[str, Any]) -> str:
    measured = [entry for entry in result["engines"] if entry["figures"]]
    missing = [entry for entry in result["engines"] if entry["not_measured"]]
    machine, data, options = result["machine"], result["data"], result["options"]
    confidence = min((figure["confidence"] for entry in measured for figure in entry["figures"].values()), default=0.0)
    rows = [_rate_row(entry) for entry in measured]
    rows += [[entry["engine"], "not measured", *[""] * 5] for entry in missing]
    reasons = [_fill(f"{entry['engine']} was not measured: {entry['not_measured']}.") for entry in missing]
    method = _fill(f"""
        JPEG → random-resized-crop {options['size']} → flip → normalise → f32 NCHW, batches of {options['batch_size']},
        {options['workers']} workers or threads on {machine['cores']} cores; {data['images']:,} images of
        `loaderscope data make`, {data['bytes'] / data['images'] / 1e3:.0f} KB each, in the page cache. {result['rounds']}
        rounds; each engine once per round, alternating, in a fresh process, {result['images']:,} images after
        {result['warmup']} steps of warm-up. Medians of the rounds; in brackets their {100 * confidence:.0f} % interval.""")
    columns = _fill("""
        By the clock (`images/s per core`) engines also measure what else ran on the machine; by CPU time they do not, or
        little. CPU time and memory are those of all processes of the engine; pages that they share count once. `framework
        tax`: CPU seconds per 1,000 images beyond those of the native engine in the same round. `first batch`: from the
        start of the process, with its imports; of the native engine from its index on.""")
    where = _fill(f"""
        {machine['cpu']}, {machine['cores']} of {machine['logical_cpus']} cores used, {machine['os']}, Linux
        {machine['kernel']}, Python {result['python']}; load {machine['load_least']:.1f} to {machine['load_most']:.1f}
        (1 min) before each round, on top of what is measured. {result['loaderscope']}, {result['date']}. Made by
        `{result['command']}`; all rounds are in the JSON file next to this one.""")
    rates = _table(["engine", "images per CPU s", "images/s per core", "CPU s per 1,000", "framework tax", "peak MB",
                    "first batch s"], rows)
    ratios = _table(["engine", "CPU time per image, times native's", "time by the clock, times native's",
                     "promise, by both"], [_ratio_row(entry) for entry in measured if entry["engine"] != NATIVE])
    versions = "\n".join(_fill(f"- {entry['engine']}: {entry['what']} ({_versions(result, entry)})", "  ")
                         for entry in measured)
    parts = ["# Against other loaders", _fill(_headline(measured)), method, rates, *reasons, columns, ratios, versions, where]
    return "\n\n".join(parts) + "\n"
