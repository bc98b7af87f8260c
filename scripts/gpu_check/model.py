"""Pipelines whose answer the model knows."""
MODEL_MOST = 0.05  # share of the window, and of the throughput


def pipeline(*words):
    return ["--source", "synthetic", "--workers", "2", "--batch", "4", "--delivered-bytes", "1KB",
            "--compute", "10ms", "--steps", "150", *words]


PIPELINES = {
    "compute": pipeline("--cost", "decode=1ms:sleep"),
    "decode": pipeline("--cost", "decode=8ms:sleep"),
    "read": pipeline("--cost", "read=lognormal:6ms:0.5:sleep"),
    "transport": pipeline("--cost", "decode=1ms:sleep", "--cost", "transport=25ms:sleep"),
    "pin": pipeline("--cost", "decode=1ms:sleep", "--cost", "pin=14ms:sleep", "--memory", "pin-thread"),
    "launch": pipeline("--cost", "decode=1ms:sleep", "--cost", "launch=5ms:sleep", "--in-flight", "1"),
}


def known_answers(part):
    for name, words in PIPELINES.items():
        part.attempt(name, known_answer, name, words)


def known_answer(part, name, words):
    real = part.run_json(part.program("run", *words, "--engine", "native", "--device", "cuda", "--json", "-"), 20)
    model = part.run_json(part.program("run", *words, "--engine", "model", "--device", "sim", "--json", "-"), 20)
    rates = [result["throughput"]["samples_per_s"]["mean"] for result in (real, model)]
    shares = [stall_shares(result) for result in (real, model)]
    off = {"throughput": rates[0] / rates[1] - 1}
    off.update({cause: shares[0][cause] - shares[1][cause] for cause in shares[0]})
    worst = max(off, key=lambda key: abs(off[key]))
    part.check(name, abs(off[worst]) <= MODEL_MOST,
               f"{worst} is {100 * off[worst]:+.2f} % off the model, the rest less (at most "
               f"{100 * MODEL_MOST:.0f} %).", samples_per_s=rates, off=off)


def stall_shares(result):
    window = result["window"]["wall_s"]
    return {cause: seconds / window for cause, seconds in result["account"]["stall_s"].items()}
