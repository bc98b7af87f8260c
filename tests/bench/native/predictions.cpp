#include "bench/native/predictions.h"

#include <algorithm>
#include <cmath>

#include "bench/native/photos.h"
#include "engine/native/native_engine.h"
#include "predict/fitted_model.h"

namespace loaderscope::bench {
namespace {

struct Configuration {
  const char* name;
  const char* lines;
};

// Defaults of the declared configurations: 16 samples per batch, 16 ms of compute.
constexpr const char* kDeclared =
    "batch-size = 16\ncompute = 16ms\nnum-workers = 2\ndevice = sim\nwarmup = 8\n";

constexpr Configuration kDeclaredConfigurations[] = {
    {"0 workers", "num-workers = 0\ncost = read=500us\ncost = decode=1ms:sleep\n"},
    {"1 worker, prefetch 1", "num-workers = 1\nprefetch-factor = 1\ncost = decode=1500us:sleep\n"},
    {"2 workers, lognormal", "cost = decode=lognormal:2500us:0.5:sleep\n"},
    {"2 workers, prefetch 8, late reads",
     "prefetch-factor = 8\ncost = decode=1500us:sleep\ninject = read=+60ms@every=160\n"},
    {"3 workers, pageable, collate",
     "num-workers = 3\nmemory = pageable\ncost = read=3ms\ncost = collate=10ms:sleep\n"},
    {"4 workers, sync copies",
     "num-workers = 4\ncopy = sync\ncost = decode=2ms:sleep\ncost = h2d=6ms\n"},
    {"2 workers, own stream", "copy = stream\ncost = decode=1ms:sleep\ncost = h2d=24ms\n"},
    {"2 workers, pin thread",
     "memory = pin-thread\ncost = decode=500us:sleep\n"
     "cost = pin=24ms:sleep\n"},
    {"2 workers, transport", "cost = decode=500us:sleep\ncost = transport=45ms:sleep\n"},
    {"2 workers, sample tasks",
     "task = sample\nwindow = 4\ncost = read=1ms\n"
     "cost = decode=2ms:sleep\n"},
    {"4 workers, sample tasks, lognormal",
     "num-workers = 4\ntask = sample\nwindow = 2\ncost = decode=lognormal:5ms:1:sleep\n"},
    {"2 ranks in step", "ranks = 2\nsync-ranks = true\ncost = decode=lognormal:2500us:0.5:sleep\n"},
    {"any order, lognormal",
     "num-workers = 4\nno-in-order = true\ncost = decode=lognormal:5ms:1:sleep\n"},
    {"2 workers that burn a core", "cost = decode=1200us:cpu\n"},
};

// The base and what is changed on it.
constexpr const char* kImages =
    "batch-size = 16\ncompute = 8ms\nnum-workers = 2\nprefetch-factor = 2\ndevice = sim\n"
    "warmup = 8\ncache = warm\n";

constexpr Configuration kImageConfigurations[] = {
    {"base: 2 workers, prefetch 2", ""},
    {"0 workers", "num-workers = 0\n"},
    {"0 workers, pageable, sync copies", "num-workers = 0\nmemory = pageable\ncopy = sync\n"},
    {"1 worker, prefetch 1", "num-workers = 1\nprefetch-factor = 1\n"},
    {"1 worker, prefetch 8", "num-workers = 1\nprefetch-factor = 8\n"},
    {"2 workers, prefetch 8", "prefetch-factor = 8\n"},
    {"3 workers", "num-workers = 3\n"},
    {"4 workers, prefetch 4", "num-workers = 4\nprefetch-factor = 4\n"},
    {"2 workers, pageable", "memory = pageable\n"},
    {"2 workers, pin thread", "memory = pin-thread\n"},
    {"2 workers, sync copies", "copy = sync\n"},
    {"2 workers, own stream, 4 in flight", "copy = stream\nin-flight = 4\n"},
    {"2 workers, sample tasks", "task = sample\nwindow = 4\n"},
    {"4 workers, sample tasks, pin thread",
     "num-workers = 4\ntask = sample\nwindow = 2\nmemory = pin-thread\n"},
    {"2 ranks, 1 worker each", "ranks = 2\nnum-workers = 1\n"},
    {"2 ranks in step, 2 workers each", "ranks = 2\nsync-ranks = true\n"},
    {"1 worker, compute-bound", "num-workers = 1\ncompute = 30ms\n"},
};

// Results of a configuration in one round.
struct Round {
  double predicted, measured, contention;
  GoodnessOfFit error;
};

Round compare(const RunRecord& record, const Prediction& prediction) {
  const Analysis analysis = analyse(record);
  const Account& account = analysis.account;
  const double contention =
      static_cast<double>(account.stall[Cause::contention]) / static_cast<double>(account.window);
  return {prediction.samples_per_s, analysis.samples_per_s.mean, contention,
          goodness_of_fit(analysis, prediction)};
}

double median(const std::vector<Round>& rounds, double (*value)(const Round&)) {
  std::vector<double> values;
  for (const Round& round : rounds) values.push_back(value(round));
  return median_interval(std::move(values)).median;
}

PredictionError summary(const char* name, bool from_images, const std::vector<Round>& rounds) {
  PredictionError summary;
  summary.name = name;
  summary.from_images = from_images;
  summary.predicted = median(rounds, [](const Round& r) { return r.predicted; });
  summary.measured = median(rounds, [](const Round& r) { return r.measured; });
  summary.rate_error = median(rounds, [](const Round& r) { return r.error.rate_error; });
  summary.contention = median(rounds, [](const Round& r) { return r.contention; });
  std::vector<Round> sorted = rounds;
  std::sort(sorted.begin(), sorted.end(), [](const Round& a, const Round& b) {
    return std::abs(a.error.worst_share) < std::abs(b.error.worst_share);
  });
  const GoodnessOfFit& middle = sorted[sorted.size() / 2].error;
  summary.worst_cause = middle.worst_part;
  summary.worst_share = middle.worst_share;
  return summary;
}

std::string duration_line(double seconds) {
  return "duration = " + std::to_string(static_cast<int>(1000 * seconds)) + "ms\n";
}

// The folder often enough that no window ends an epoch.
std::string data_lines(const std::string& folder, double seconds) {
  constexpr double kMaxPerSecond = 4000;
  std::string lines;
  for (double listed = 0; listed < (seconds + 1) * kMaxPerSecond; listed += 2000)
    lines += "data = " + folder + "\n";
  return lines;
}

std::vector<Change> parse_changes(std::string_view lines) {
  std::vector<Change> changes;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    const std::size_t equals = line.find(" = ");
    changes.push_back({std::string(line.substr(0, equals)), std::string(line.substr(equals + 3))});
    lines.remove_prefix(end + 1);
  }
  return changes;
}

std::vector<PredictionError> compare_declared(int rounds, double seconds) {
  std::vector<PredictionError> errors;
  for (const Configuration& one : kDeclaredConfigurations) {
    const RunConfig config = config_of_lines(one.lines, kDeclared + duration_line(seconds));
    std::vector<Round> found;
    for (int round = 0; round < rounds; ++round) {
      const RunRecord record = run_native(config, {});
      found.push_back(compare(record, FittedModel(record).fitted()));
    }
    errors.push_back(summary(one.name, false, found));
  }
  return errors;
}

std::vector<PredictionError> compare_images(const std::string& folder, int rounds, double seconds) {
  const std::string common = kImages + duration_line(seconds) + data_lines(folder, seconds);
  std::vector<std::vector<Round>> found(std::size(kImageConfigurations));
  for (int round = 0; round < rounds; ++round) {
    const FittedModel model(run_native(config_of_lines("", common), {}));
    for (std::size_t i = 0; i < found.size(); ++i) {
      const RunRecord record =
          run_native(config_of_lines(kImageConfigurations[i].lines, common), {});
      const Prediction prediction =
          model.predict_under_load(record, parse_changes(kImageConfigurations[i].lines));
      found[i].push_back(compare(record, prediction));
    }
  }
  std::vector<PredictionError> errors;
  for (std::size_t i = 0; i < found.size(); ++i)
    errors.push_back(summary(kImageConfigurations[i].name, true, found[i]));
  return errors;
}

}  // namespace

std::vector<PredictionError> compare_predictions(const std::string& folder, int rounds,
                                                 double seconds) {
  std::vector<PredictionError> errors = compare_declared(rounds, seconds);
  const std::vector<PredictionError> images = compare_images(folder, rounds, seconds);
  errors.insert(errors.end(), images.begin(), images.end());
  return errors;
}

}  // namespace loaderscope::bench
