// Promises of the native engine: its rate against a bare loop, the cost of its measuring, images
// per second of one core, allocations, its account against the model's, and predictions.
//
//   bench_native [--pairs N] [--seconds S] [--only
//   bare,measure,antialias,allocations,model,predictions]
//               [--rounds N]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/native/allocations.h"
#include "bench/native/known_answers.h"
#include "bench/native/pairs.h"
#include "bench/native/photos.h"
#include "bench/native/predictions.h"

namespace {

using namespace loaderscope;
using namespace loaderscope::bench;
using Json = nlohmann::ordered_json;

struct Options {
  int pairs = 20;
  int rounds = 3;      // rounds of predictions
  double seconds = 2;  // length of one run
  std::string only;

  bool wants(const char* part) const {
    return only.empty() || ("," + only + ",").find("," + std::string(part) + ",") != only.npos;
  }
};

Json interval_json(const Interval95& value) {
  return {{"median", value.median}, {"low", value.low}, {"high", value.high}};
}

Json format_pair(const char* name, double promise, const Ratios& r) {
  fmt::print("{:<36} {:>6.4f} [{:.4f}, {:.4f}]  {:>6.4f} [{:.4f}, {:.4f}]  {:>6}\n", name,
             r.wall.median, r.wall.low, r.wall.high, r.cpu.median, r.cpu.low, r.cpu.high,
             promise > 0 ? fmt::format(">= {:.2f}", promise) : "");
  fmt::print("{:<36} {:>6.0f} / {:.0f} images/s      {:>6.0f} / {:.0f} per CPU second\n", "",
             r.a_wall.median, r.b_wall.median, r.a_cpu.median, r.b_cpu.median);
  std::fflush(stdout);
  return {{"promise", promise},
          {"wall", interval_json(r.wall)},
          {"cpu", interval_json(r.cpu)},
          {"a_wall", interval_json(r.a_wall)},
          {"b_wall", interval_json(r.b_wall)},
          {"a_cpu", interval_json(r.a_cpu)},
          {"b_cpu", interval_json(r.b_cpu)}};
}

Json measure_pairs(const Options& options, const std::string& folder) {
  Load load;
  load.folder = folder;
  load.steps = 20;
  load.steps = static_cast<std::int64_t>(run_rate(run_loader(load)).wall * options.seconds /
                                         static_cast<double>(load.batch_size) / kThreads) *
               kThreads;
  Load plain = load, untimed = load;
  plain.antialias = false;
  untimed.time_stages = false;
  const auto engine = [](const Load& chosen) {
    return [&chosen] { return run_rate(run_loader(chosen)); };
  };
  const auto bare = [](const Load& chosen) { return [&chosen] { return run_bare_loop(chosen); }; };

  Json json;
  fmt::print("{:<36} {:<23}  {:<23}\n", "ratio, 95 % interval", "of rates", "of rates per CPU");
  if (options.wants("bare")) {
    json["engine_to_bare"] =
        format_pair("engine / bare loop", 0.95, run_pairs(options.pairs, engine(load), bare(load)));
    json["engine_to_bare_two_tap"] =
        format_pair("engine / bare loop, antialias off", 0.95,
                    run_pairs(options.pairs, engine(plain), bare(plain)));
  }
  if (options.wants("measure")) {
    json["timed_to_untimed"] = format_pair("stages timed / not timed", 0.99,
                                           run_pairs(options.pairs, engine(load), engine(untimed)));
    const auto short_stages = [&](bool timed) {
      return [&, timed] { return run_rate(run_short_stages(options.seconds, timed)); };
    };
    json["timed_to_untimed_100us"] =
        format_pair("the same, three stages of 100 us", 0.99,
                    run_pairs(options.pairs, short_stages(true), short_stages(false)));
  }
  if (options.wants("antialias")) {
    json["antialias_to_two_tap"] = format_pair(
        "antialias on / off", 0.95, run_pairs(options.pairs, engine(load), engine(plain)));
  }
  return json;
}

Json measure_allocations(const std::string& folder) {
  const Allocations found = count_allocations(folder);
  fmt::print(
      "allocations per batch after warm-up: loader {:.3f}, collector {:.3f} "
      "(libjpeg's own pools not counted)\n",
      found.loader, found.collector);
  return {{"loader_per_batch", found.loader}, {"collector_per_batch", found.collector}};
}

Json measure_answers() {
  fmt::print("{:<26} {:<11} {:>8} {:>8} {:>11} {:>13}\n", "native against model", "worst cause",
             "model", "native", "difference", "window ratio");
  Json json = Json::array();
  double worst = 0;
  for (const Answer& answer : compare_with_model(3)) {
    fmt::print("{:<26} {:<11} {:>7.2f}% {:>7.2f}% {:>10.2f}% {:>13.4f}\n", answer.name,
               answer.cause, 100 * answer.model, 100 * answer.native, 100 * answer.difference,
               answer.window);
    worst = std::max(worst, answer.difference);
    json.push_back({{"pipeline", answer.name},
                    {"cause", answer.cause},
                    {"model", answer.model},
                    {"native", answer.native},
                    {"difference", answer.difference},
                    {"window_ratio", answer.window}});
  }
  fmt::print("{:<26} {:.2f} % of the window (promise: <= 2 %)\n", "worst", 100 * worst);
  return json;
}

// Median and worst of the errors of the rate.
Json summarise(const char* what, const std::vector<PredictionError>& errors, bool from_images) {
  std::vector<double> sizes;
  for (const PredictionError& error : errors) {
    if (error.from_images == from_images) sizes.push_back(std::abs(error.rate_error));
  }
  const double median = median_interval(sizes).median,
               worst = *std::max_element(sizes.begin(), sizes.end());
  fmt::print(
      "{:<36} {} configurations: median {:.1f} % (promise: <= 5 %), worst {:.1f} % (<= 15 %)\n",
      what, sizes.size(), 100 * median, 100 * worst);
  return {{"configurations", sizes.size()}, {"median", median}, {"worst", worst}};
}

Json measure_predictions(const Options& options, const std::string& folder) {
  fmt::print("{:<36} {:>9} {:>9} {:>8}  {:<18} {:>10}\n", "configuration", "predicted", "measured",
             "error", "worst cause", "contention");
  Json rows = Json::array();
  const auto errors = compare_predictions(folder, options.rounds, options.seconds);
  for (const PredictionError& error : errors) {
    fmt::print("{:<36} {:>9.1f} {:>9.1f} {:>+7.1f}%  {:<11} {:>+5.1f}% {:>9.1f}%\n", error.name,
               error.predicted, error.measured, 100 * error.rate_error, error.worst_cause,
               100 * error.worst_share, 100 * error.contention);
    rows.push_back({{"configuration", error.name},
                    {"from_images", error.from_images},
                    {"predicted", error.predicted},
                    {"measured", error.measured},
                    {"rate_error", error.rate_error},
                    {"worst_cause", error.worst_cause},
                    {"worst_share", error.worst_share},
                    {"contention", error.contention}});
  }
  Json declared = summarise("declared costs", errors, false);
  Json images = summarise("fitted to one record of images", errors, true);
  return {{"rounds", options.rounds}, {"declared", declared}, {"images", images}, {"rows", rows}};
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--pairs") == 0) options.pairs = std::max(1, std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--rounds") == 0) options.rounds = std::max(1, std::atoi(argv[i + 1]));
    if (std::strcmp(argv[i], "--seconds") == 0) options.seconds = std::atof(argv[i + 1]);
    if (std::strcmp(argv[i], "--only") == 0) options.only = argv[i + 1];
  }
  return options;
}

void run(const Options& options) {
  Json json = {{"pairs", options.pairs}, {"seconds", options.seconds}};
  const bool needs_photos =
      options.wants("bare") || options.wants("measure") || options.wants("antialias");
  if (needs_photos) json["rates"] = measure_pairs(options, make_photos());
  if (options.wants("allocations")) json["allocations"] = measure_allocations(make_photos());
  if (options.wants("model")) json["model"] = measure_answers();
  if (options.wants("predictions"))
    json["predictions"] = measure_predictions(options, make_photos());
  fmt::print("{}\n", json.dump());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_native: %s\n", error.what());
    return 1;
  }
}
