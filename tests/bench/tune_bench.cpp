// What tune promises: within 3 % of the best of the whole grid, in at most 15 % of its time, and
// the same again.
//
//   bench_tune [--budget S] [--engine model|native] [--only NAME,...] [--data FOLDER]
//
// --budget: of the whole grid, in seconds; a tune gets 15 % of it. --data adds a workload of real
// images.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiment/judgement.h"
#include "loaderscope/engine.h"
#include "loaderscope/tune.h"
#include "measure/machine.h"
#include "measure/thread_meter.h"

namespace {

using namespace loaderscope;
using Json = nlohmann::ordered_json;

constexpr double kShareOfGrid = 0.15;

struct Options {
  double budget_s = 120;
  std::string engine = "native";
  std::string only, data;

  bool wants(const std::string& name) const {
    return only.empty() || ("," + only + ",").find("," + name + ",") != only.npos;
  }
};

struct Workload {
  std::string name;
  std::string lines;
};

// Costs sleep, so that a machine of two cores can have sixteen workers.
std::vector<Workload> workloads(const Options& options) {
  std::vector<Workload> all = {
      {"decode-bound",
       "cost = decode=lognormal:4ms:0.5:sleep\nbatch = 8\ncompute = 5ms\nlink = gen4x16"},
      {"read-latency-bound", "cost = read=9ms:sleep\nbatch = 4\ncompute = 4ms\nlink = gen4x16"},
      {"h2d-bound", "cost = decode=1ms:sleep\nlink = 1/0.5\nbatch = 8\ncompute = 2ms"},
      {"compute-bound", "cost = decode=0.5ms:sleep\nbatch = 8\ncompute = 10ms"},
      {"serialisation-bound",
       "cost = decode=1ms:sleep\ncost = transport=4ms:sleep\ncost = transport.recv=6ms:sleep\n"
       "batch = 8\ncompute = 4ms"},
      {"bursty",
       "cost = decode=0.5ms:sleep\ninject = read=+60ms@p=0.005\nbatch = 8\ncompute = 5ms"},
  };
  if (!options.data.empty())
    all.push_back({"photographs", "data = " + options.data + "\ndevice = sim\ncompute = 36ms"});
  return all;
}

RunConfig base_of(const Workload& workload, const Options& options, int seed) {
  RunConfig base;
  const bool real = workload.lines.starts_with("data");
  parse_scenario("engine = " + (real ? "native" : options.engine) +
                     "\nseed = " + std::to_string(seed) + "\n" + workload.lines,
                 workload.name, base);
  return base;
}

Laboratory laboratory() {
  Laboratory result;
  result.run = [](const RunConfig& config) {
    return find_row(config.engine.value, engine_table()).run(config, {});
  };
  result.now = monotonic_now;
  return result;
}

Experiment grid_of(const RunConfig& base) {
  const Axes axes = parse_axes(
      {"workers=0,1,2,4,8,12,16", "prefetch=1,2,4,8", "memory=pageable,pin-thread,pinned-slots"});
  MachineLimits limits;
  limits.cores = read_machine().cores;
  return plan_experiment(base, axes, false, limits);
}

struct Outcome {
  std::string settings;
  double of_best = 0;  // its rate in the grid / the best rate of the grid
  double time = 0;     // its time / that of the grid
  bool proven = false;
};

Outcome tune_against(const Workload& workload, const Options& options, const Experiment& grid,
                     int seed) {
  TuneOptions tuning;
  tuning.budget = static_cast<Nanos>(kShareOfGrid * static_cast<double>(grid.spent));
  const Tune found =
      tune(grid_of(base_of(workload, options, seed)), laboratory(), tuning, fit_guesser);
  Outcome outcome;
  if (!found.recommended) return outcome;
  const Judgement judgement(grid.cases);
  outcome.settings = spell_changes(found.experiment.cases[*found.recommended].changes);
  outcome.of_best =
      judgement.rate(*found.recommended).mean / judgement.rate(*judgement.best()).mean;
  outcome.time = static_cast<double>(found.experiment.spent) / static_cast<double>(grid.spent);
  outcome.proven = found.proven;
  return outcome;
}

Json compare(const Workload& workload, const Options& options) {
  Experiment grid = grid_of(base_of(workload, options, 1));
  SweepOptions sweeping;
  sweeping.budget = static_cast<Nanos>(options.budget_s * 1e9);
  sweeping.precision = 1;  // two rounds of each case
  run_sweep(grid, laboratory(), sweeping);
  Json tunes = Json::array();
  std::string first;
  bool agree = true;
  for (int seed = 1; seed <= 2; ++seed) {
    const Outcome found = tune_against(workload, options, grid, seed);
    fmt::print("{:<20} {:>6.1f} % of best  {:>5.1f} % of time  {:<10}  {}\n", workload.name,
               100 * found.of_best, 100 * found.time, found.proven ? "proven" : "not proven",
               found.settings);
    std::fflush(stdout);
    if (seed == 1) first = found.settings;
    agree = agree && found.settings == first;
    tunes.push_back({{"settings", found.settings},
                     {"of_best", found.of_best},
                     {"of_time", found.time},
                     {"proven", found.proven}});
  }
  return {{"workload", workload.name},
          {"grid_s", seconds(grid.spent)},
          {"tunes", tunes},
          {"agree", agree}};
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--budget") == 0) options.budget_s = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--engine") == 0) options.engine = argv[i + 1];
    if (std::strcmp(argv[i], "--only") == 0) options.only = argv[i + 1];
    if (std::strcmp(argv[i], "--data") == 0) options.data = argv[i + 1];
  }
  return options;
}

void run(const Options& options) {
  fmt::print("promise: >= 97 % of the best of the grid in <= 15 % of its time, the same twice\n");
  Json json = {{"engine", options.engine}, {"budget_s", options.budget_s}};
  for (const Workload& workload : workloads(options)) {
    if (options.wants(workload.name)) json["workloads"].push_back(compare(workload, options));
  }
  fmt::print("{}\n", json.dump());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_tune: %s\n", error.what());
    return 1;
  }
}
