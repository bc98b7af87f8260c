// Promises of tune: within 3 % of the best of the whole grid, in at most 15 % of its time, and the
// same answer in each call.
//
//   bench_tune [--quick] [--tunes N] [--grid S] [--only NAME,...] [--engine native|model]
//              [--loader FILE.py:FUNCTION [--python PROGRAM] [--compute 10ms]]
//
// Costs are declared and sleep, so that a machine of two cores can have sixteen workers. The model
// gives the true rate of each setting, and the answers are compared with it. The whole grid is
// measured too (--grid: its seconds, default 120). --quick leaves that out, and takes the time that
// two runs of each case would need. With --loader the workload is a DataLoader, and only the
// measured grid is the truth.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/thread_meter.h"
#include "experiment/axes.h"
#include "experiment/case_statistics.h"
#include "experiment/tune.h"
#include "loaderscope/engine.h"
#include "loaderscope/settings.h"
#include "machine/machine.h"

namespace {

using namespace loaderscope;
using Json = nlohmann::ordered_json;

constexpr double kShareOfGrid = 0.15;
constexpr double kShareOfTune = 0.14;  // a last run may take longer than it was expected to
// The limit is loose for a program, because its starts take most of a short run.
constexpr double kShareOfProgram = 0.7;
constexpr double kGoodEnough = 0.97;

struct Options {
  bool quick = false;
  int tunes = 2;
  double grid_s = 120;
  std::string engine = "native", only, loader, python = "python3", compute = "10ms";

  bool wants(const std::string& name) const {
    return only.empty() || ("," + only + ",").find("," + name + ",") != only.npos;
  }
};

struct Workload {
  std::string name;
  std::string lines;
  std::vector<std::string> axes = {"workers=0,1,2,4,8,12,16", "prefetch=1,2,4,8",
                                   "memory=pageable,pin-thread,pinned-slots"};

  bool is_declared() const { return !lines.starts_with("loader"); }
};

std::vector<Workload> workloads(const Options& options) {
  if (!options.loader.empty())
    return {{"loader",
             "loader = " + options.loader + "\npython = " + options.python +
                 "\ncompute = " + options.compute,
             {"workers=0,1,2,3,4,6"}}};
  return {
      {"decode-bound", "cost = decode=lognormal:6ms:0.5:sleep\nbatch = 4\ncompute = 5ms"},
      {"read-latency-bound", "cost = read=18ms:sleep\nbatch = 2\ncompute = 5ms"},
      {"h2d-bound", "cost = decode=1ms:sleep\nlink = 1/0.5\nbatch = 16\ncompute = 4ms"},
      {"compute-bound", "cost = decode=0.5ms:sleep\nbatch = 4\ncompute = 12ms"},
      {"serialisation-bound",
       "cost = decode=4ms:sleep\ncost = transport=6ms:sleep\ncost = transport.recv=9ms:sleep\n"
       "batch = 4\ncompute = 6ms"},
      {"bursty", "cost = decode=1ms:sleep\ninject = read=+60ms@p=0.02\nbatch = 4\ncompute = 6ms"},
  };
}

RunConfig base_config(const Workload& workload, const Options& options, int seed) {
  RunConfig base;
  const std::string engine = workload.is_declared() ? "engine = " + options.engine + "\n" : "";
  parse_scenario(engine + "seed = " + std::to_string(seed) + "\n" + workload.lines, workload.name,
                 base);
  return base;
}

ExperimentContext context() {
  ExperimentContext result;
  result.run = [](const RunConfig& case_config) {
    std::string output;
    RunConfig config = case_config;
    config.measure.hook_cost.value = false;
    RunContext context;
    context.guest.program_output = &output;
    return run_engine(config, context);
  };
  result.now = monotonic_now;
  return result;
}

Experiment plan_grid(const Workload& workload, const RunConfig& base) {
  MachineLimits limits;
  limits.cores = read_machine().cores;
  return plan_experiment(base, parse_axes(workload.axes), false, limits);
}

// Rates of the cases in virtual time, on enough cores. All costs must be declared.
std::vector<double> true_rates(const Experiment& grid) {
  std::vector<double> rates;
  for (const Case& one : grid.cases) {
    RunConfig config = one.config;
    config.engine.set("model");
    config.trainer.device.given = false;
    config.declared.cores.value = 64;
    config.measure.steps.set(1500);
    config.measure.duration.given = false;
    config.measure.warmup.set({100, 0});
    config.measure.seed.set(12345);
    rates.push_back(analyse(run_engine(config, {})).samples_per_s.mean);
  }
  return rates;
}

std::vector<double> measured_rates(const Experiment& grid) {
  const CaseStatistics judgement(grid.cases);
  std::vector<double> rates;
  for (std::size_t i = 0; i < grid.cases.size(); ++i)
    rates.push_back(judgement.measured(i) ? judgement.rate(i).mean : 0);
  return rates;
}

double share_of_best(const std::vector<double>& rates, std::size_t i) {
  const double best = rates.empty() ? 0 : *std::max_element(rates.begin(), rates.end());
  return best > 0 ? rates[i] / best : 0;
}

// Runs each case of the grid twice. With --quick, the grid is only planned.
Experiment run_grid(const Workload& workload, const Options& options) {
  Experiment grid = plan_grid(workload, base_config(workload, options, 1));
  if (options.quick) return grid;
  SweepOptions sweeping;
  sweeping.budget = static_cast<Nanos>(options.grid_s * 1e9);
  sweeping.precision = 0.99;
  run_sweep(grid, context(), sweeping);
  return grid;
}

struct Tally {
  int tunes = 0, good = 0, timely = 0, agree = 0;
};

Json compare(const Workload& workload, const Options& options, Tally& tally) {
  const Experiment grid = run_grid(workload, options);
  const std::vector<double> truth =
      workload.is_declared() ? true_rates(grid) : std::vector<double>();
  const std::vector<double> measured = options.quick ? std::vector<double>() : measured_rates(grid);
  const double grid_s = options.quick ? options.grid_s : seconds(grid.spent);
  std::map<std::string, int> answers;
  Json tunes = Json::array();
  for (int seed = 1; seed <= options.tunes; ++seed) {
    TuneOptions tuning;
    const double allowed = workload.is_declared() ? kShareOfTune : kShareOfProgram;
    tuning.budget = static_cast<Nanos>(allowed * grid_s * 1e9);
    const Tune found =
        tune(plan_grid(workload, base_config(workload, options, seed)), context(), tuning);
    if (!found.recommended) throw std::runtime_error(workload.name + ": no answer");
    const std::size_t i = *found.recommended;
    const std::string settings = changes_to_text(found.experiment.cases[i].changes);
    const double good = share_of_best(truth.empty() ? measured : truth, i);
    const double share = seconds(found.experiment.spent) / grid_s;
    const std::string measured_share =
        measured.empty() ? "" : fmt::format("{:.1f}", 100 * share_of_best(measured, i));
    fmt::print("{:<20} {:>6.1f} {:>9} {:>6.1f}  {:<10}  {}\n", workload.name, 100 * good,
               measured_share, 100 * share, found.proven ? "proven" : "not proven", settings);
    std::fflush(stdout);
    ++answers[settings];
    ++tally.tunes;
    tally.good += good >= kGoodEnough ? 1 : 0;
    tally.timely += share <= kShareOfGrid ? 1 : 0;
    tunes.push_back(
        {{"settings", settings},
         {"of_best", good},
         {"of_best_measured", measured.empty() ? Json() : Json(share_of_best(measured, i))},
         {"of_time", share},
         {"proven", found.proven}});
  }
  int most = 0;
  for (const auto& [settings, count] : answers) most = std::max(most, count);
  tally.agree += most;
  return {{"workload", workload.name}, {"grid_s", grid_s}, {"tunes", tunes}, {"same", most}};
}

Options parse(const std::vector<std::string>& words) {
  Options options;
  const std::map<std::string, std::string*> texts = {{"--engine", &options.engine},
                                                     {"--only", &options.only},
                                                     {"--loader", &options.loader},
                                                     {"--python", &options.python},
                                                     {"--compute", &options.compute}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--quick") {
      options.quick = true;
      continue;
    }
    if (i + 1 == words.size()) throw std::runtime_error(words[i] + ": a value is missing");
    const std::string& value = words[i + 1];
    if (words[i] == "--tunes") {
      options.tunes = std::max(1, std::atoi(value.c_str()));
    } else if (words[i] == "--grid") {
      options.grid_s = std::max(1.0, std::atof(value.c_str()));
    } else if (texts.count(words[i]) > 0) {
      *texts.at(words[i]) = value;
    } else {
      throw std::runtime_error(words[i] + ": unknown flag");
    }
    ++i;
  }
  if (options.quick && !options.loader.empty())
    throw std::runtime_error("--quick: nothing says what a DataLoader truly gives; leave it out");
  return options;
}

void run(const Options& options) {
  fmt::print("promise: >= 97 % of the best, in <= 15 % of the grid's time, the same in 9 of 10\n");
  fmt::print("{:<20} {:>6} {:>9} {:>6}\n", "workload", "% best", "measured", "% time");
  Json json = {{"engine", options.engine}, {"quick", options.quick}};
  Tally tally;
  for (const Workload& workload : workloads(options)) {
    if (options.wants(workload.name))
      json["workloads"].push_back(compare(workload, options, tally));
  }
  fmt::print("{} of {} good, {} in time, {} with the answer that its workload mostly gets\n",
             tally.good, tally.tunes, tally.timely, tally.agree);
  fmt::print("{}\n", json.dump());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse({argv + 1, argv + argc}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_tune: %s\n", error.what());
    return 1;
  }
}
