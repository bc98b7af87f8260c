#!/usr/bin/python3 -IS
"""The programs that scripts/gpu-check calls, by the name that this file has: they answer as those of a sound machine
do. PRETEND names what is wrong: 'fails at WORDS' and 'hangs at WORDS' are about the commands that hold the words."""
import json, os, signal, sys, time
words, wrong = sys.argv[1:], os.environ.get("PRETEND", "")
folder, program = os.path.split(os.path.abspath(sys.argv[0]))
value = lambda flag, other="": words[words.index(flag) + 1] if flag in words else other
lost = os.path.join(folder, "lost")  # exists once a program hung that took the GPU with it

def go_wrong():
    what, _, where = wrong.partition(" at ")
    if not where or where not in " ".join([program, *words]):
        return
    if what == "fails":
        sys.exit("loaderscope: the device was lost; look at dmesg")
    if what == "prints no JSON":
        print("{")
        sys.exit(0)
    if what == "hangs and loses the GPU":
        open(lost, "w").close()
    print("before it hung", file=sys.stderr, flush=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    time.sleep(600)

def rows(*names):
    return [{"name": name, "help": ".", "available": True} for name in names]

def listed():
    if "memory" in words:
        return [{"family": "memory", "flag": "", "rows": rows("pageable", "pin-thread", "pinned-slots", "registered", "write-combined")}]
    if "decode" in words:
        ways = rows("cpu", "gpu", "hw", "split")
        if wrong == "nvJPEG is not found" and "LOADERSCOPE_NVJPEG" not in os.environ:
            for way in ways[1:]:
                way.update(available=False, reason="no libnvjpeg.")
        if wrong == "no JPEG engine":
            ways[2].update(available=False, reason="Pretend T4 has no JPEG engines.")
        return [{"family": "decode", "flag": "", "rows": ways}]
    devices = rows("cuda", "sim")
    if wrong == "no GPU" or os.path.exists(lost):
        devices[0].update(available=False, reason="no CUDA driver; install one.")
    return [{"family": "device", "flag": "", "rows": devices}]

def probe():
    if wrong == "other schema":
        return {"schema": "loaderscope.probe-link/2"}
    speed = 0.96 if wrong == "slow link" else 0.98
    fallback = "too little may be locked" if wrong == "fallback" else ""
    return {"schema": "loaderscope.probe-link/1", "device": {"name": "Pretend"},
            "link": [{"memory": memory, "copy": copy, "bytes": size, "fallback": fallback if memory == "registered" else "",
                      "bytes_per_s": 1e10 * (speed if copy != "sync" else 0.5), "bare_bytes_per_s": 1e10}
                     for memory in ("pageable", "pinned-slots", "registered", "write-combined")
                     for copy in ("sync", "async", "stream") for size in (65536, 268435456)]}

def kernels():
    # 0.7 s of the window of 1 s that begins at 3 s, one of them twice; and one outside.
    covered = 650 if wrong == "busy apart" else 700
    late = 300_000 if wrong == "clocks apart" else 2_000
    spans = [(2900, 2999), (3000, 3000 + covered // 2), (3100, 3000 + covered // 2),
             (4000 - covered + covered // 2, 4500)]
    with open(os.environ["LOADERSCOPE_CUPTI_FILE"], "w") as file:
        for begin, end in spans:
            end_ns = end * 10**6 + late * (3000 <= begin <= 3100)
            file.write(json.dumps({"kind": "kernel", "begin_ns": begin * 10**6, "end_ns": end_ns}) + "\n")
        file.write('{"kind":"memcpy","begin_ns":3400000000,"end_ns":3600000000}\n{"kind":"lost","count":0}\n')

def step():
    end = 2.35 if wrong != "busy apart" else 2.325
    return {"warmup": False, "compute_begin_s": end - (0.021 if wrong == "slow products" else 0.020), "compute_end_s": end}

def run():
    model = value("--engine") == "model"
    if value("--device") == "null":
        time.sleep(60)
    if value("--memory") == "write-combined" and value("--executor") == "processes":
        print("loaderscope: memory = write-combined: workers cannot share it", file=sys.stderr)
        sys.exit(0 if wrong == "shared memory" else 64)
    if value("--batch") in ("1000000", "4096") and wrong != "too much is accepted":
        print("loaderscope: host memory: 5 batches, and half of the free memory is 60 GB\nhint: give less", file=sys.stderr)
        sys.exit(1)
    if value("--launches") == "600" and wrong != "not refused":
        sys.exit("loaderscope: 600 launches are more than a GPU queues")
    if "LOADERSCOPE_CUPTI_FILE" in os.environ:
        kernels()
    if "--" in words:
        script(sys.stderr)
    decode = 0.2 if wrong == "off the model" and model else 0.3
    rate = 5e9 if wrong == "slow copies" else 9.7e9
    return {"schema": "loaderscope.run/1", "simulated": model or wrong == "simulated", "interrupted": value("--duration") == "60s",
            "config": {"device": "script" if wrong == "no GPU times" else "cuda"},
            "window": {"wall_s": 1.0, "steps": 35, "samples": 400 if wrong == "samples are lost" else 500},
            "throughput": {"samples_per_s": {"mean": images_per_s()}}, "device": {"busy": 0.7},
            "account": {"compute_s": 0.7, "stall_s": {"decode": decode, "other": 0.3 - decode},
                        "clamped_s": 0.02 if wrong == "clamped" else 0.0, "waiting_for_ranks_s": 0.1,
                        "why": {"depth_s": 0.1}},
            "stages": {"h2d": {"bytes": 38e6 * 100, "count": 100, "wall_s": 38e8 / rate, "cpu_s": 0.0}, **device_stages()},
            "process": {"cpu_s": 0.1}, "decode": decoded(), "first_batch": {"by_cause": {"read": 1.5}},
            "memory": {"gpu_data_bytes": 10**9} if value("--resident") else {},
            "verdict": {"sentence": "decode"}, "lost_spans": 0, "errors": {"skipped_samples": 0, "by_kind": {}}, "steps": [step()] * 50,
            "notes": ["memory = x: 1 GB cannot be page-locked, so that"] if wrong == "fallback" else [],
            "ranks": [{"first_ask_ns": 10**9, "window": {"begin_s": 2.0, "end_s": 3.0}}] * int(value("--ranks", "1"))}

def images_per_s():
    # The rungs of the ladder: 4 workers, 8 workers, engines with a short and a long window.
    if "read=+93ms@every=5000" not in words:
        return 22000.0 if "--decode" in words else 4500.0 if value("--memory") == "pageable" else 100.0
    rung = {"4": 4500.0, "8": 8000.0}[value("--workers")] if value("--prefetch-factor") == "" else \
        {"2": 21000.0, "8": 27500.0}[value("--prefetch-factor")]
    return rung * (0.8 if wrong == "a rung is missed" and value("--engine") != "model" else 1)

def decoded():
    images = 1000 if "progressive-share" not in value("--index") else 900
    engines = images - 100 * (wrong == "engines refuse")
    return {"by_engines": engines, "by_cuda": 0, "by_cpu": 1000 - engines, "refused_progressive": 1000 - engines}

def device_stages():
    stage = lambda wall, cpu=0.001: {"count": 35, "wall_s": wall, "mean_s": wall / 35, "p99_s": wall / 35, "cpu_s": cpu, "bytes": 10**6}
    made = {"gpu-decode": stage(0.015, 0.1 if wrong == "costly submission" else 0.001), "gpu-augment": stage(0.0005)}
    is_read = value("--resident") == "" or wrong == "resident data is read"
    return {**({"read": stage(0.01)} if is_read else {}), **(made if value("--decode", "cpu") != "cpu" else {"gpu-augment": made["gpu-augment"]})}

def script(to):
    """train_resnet50.py."""
    figures = {"steps": 150, "step_ms": 20.0, "begin_ns": 3 * 10**9, "end_ns": 4 * 10**9, "loss": 1.0,
               "profiler_events": 0 if wrong == "profiler is blind" else 9}
    if to is sys.stderr and wrong == "costly":
        figures["step_ms"] = 21.0
    if to is sys.stdout and "LOADERSCOPE_CUPTI_FILE" in os.environ:
        kernels()
    print(json.dumps(figures), file=to)

def loaderscope():
    if words == ["--version"]:
        print("loaderscope 0.1.0 (commit abc123-dirty, GNU 12)")
    elif words[:2] == ["data", "make"]:
        os.mkdir(words[2])
        with open(os.path.join(words[2], "a.jpg"), "w") as image:
            image.write("photo " * 100)
    elif words[0] == "list":
        print(json.dumps(listed()))
    elif words[0] == "sweep":
        cases = [{"settings": {"num-workers": n}, "skipped": None, "samples_per_s": {"mean": 100.0}} for n in "12"]
        print(json.dumps({"cases": cases[:1] if wrong == "half a sweep" else cases}))
    else:
        print(json.dumps(probe() if words[0] == "probe" else run()))
        sys.exit(130 if value("--duration") == "60s" else 0)

def gpu_tests():
    if words == ["--gtest_list_tests"]:
        print("GpuTest.\n  Copies\n  Computes\nDriverTest.\n  Ticks  # a comment")
        return
    if "--gtest_list_tests" in words:
        print("GpuTest.\n  MakesAugmentedBytesOfHost")
        return
    name = words[0].partition("=")[2]
    print(f"[ RUN      ] {name}")
    if wrong == "a test fails" and name == "GpuTest.Computes":
        print("x_test.cpp:7: Failure\nExpected: it does\n[  FAILED  ] 1 test")
        sys.exit(1)
    if wrong == "a test is skipped" and name == "GpuTest.Computes":
        print("x_test.cpp:7: Skipped\nno CUPTI\n[  SKIPPED ] 1 test")
        return
    if wrong == "much output":
        sys.stdout.write("first words\n" + "x" * (40 << 20) + "\nlast words\n")
    print("figure tick_ns=32\n[  PASSED  ] 1 test." if name == "DriverTest.Ticks" else "[  PASSED  ] 1 test.")

def python():
    if words[0].endswith("decode_jpegs.py"):
        print(json.dumps({"images": 80000 if wrong == "fast peer" else 8000, "wall_s": 1.0, "cpu_s": 1.0, "device": "cuda:0"}))
    elif words[0] != "-c":
        script(sys.stdout)
    elif "is_available" in words[1]:
        print(json.dumps({"cuda": wrong != "no CUDA in torch"}))
    elif "versions" in words[1]:
        print(json.dumps({name: None if wrong == "no torch" else "2.11" for name in ("torch", "torchvision", "PIL")}))
    else:
        print(folder)

def nvjpeg():
    good = {"created": True, "hardware_engines": 7, "images_per_s": 3000.0, "roi": True, "scale": False, "error": ""}
    none = {**good, "created": False, "images_per_s": 0, "error": "nvjpegCreateEx gives 9"}
    print(json.dumps({"version": "13.0.0", "backends": [{"name": "default", **good},
                      {"name": "hardware", **(none if wrong == "no JPEG engine" else good)}]}))

go_wrong()
{"loaderscope": loaderscope, "loaderscope_gpu_tests": gpu_tests, "python3": python, "loaderscope_nvjpeg_check": nvjpeg,
 "nvidia-smi": lambda: print(", ".join(["Pretend H100", "580.1"] + ["x"] * (words[0].count(",") - 1)))}[program]()
