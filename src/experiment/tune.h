// Tuning: the cheapest setting of a grid that is as good as the best, found by running few of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "loaderscope/experiment.h"

namespace loaderscope {

// The goal: a rate, or a GPU that is kept busy.
struct TuneGoal {
  double within = 0.03;        // share of the best rate
  std::optional<double> busy;  // instead

  double share() const { return 1 - within; }
};

// "gpu:0.95" or "gpu:95%". Throws ValueError.
double parse_busy_goal(std::string_view text);

struct TuneOptions {
  TuneGoal goal;
  Nanos budget = 2 * 60 * kSecond;
  std::optional<std::int64_t> max_workers;  // limit per rank
  std::optional<Bytes> max_memory;          // limit for all ranks
  // Free memory of the machine; nothing if it is unknown.
  std::optional<Bytes> free_memory, free_shared, lockable;
  Bytes resident_before = 0;  // memory of this process
  std::uint64_t seed = 0;
  bool grows = false;      // axes grow while a larger rate is expected past their ends
  bool with_now = false;   // the base case is measured too, whatever the axes are
  MachineLimits limits{};  // limits for the cases of both
};

// The prediction of a model for one case.
struct Forecast {
  double samples_per_s = 0;
  double busy = 0;  // 0 without a compute
};
// A model fitted to one run: changes of the axes that it knows. Throws RunError if it cannot say
// the rate.
using Forecaster = std::function<Forecast(const Changes&)>;
using FitForecaster = std::function<Forecaster(const RunRecord&)>;
// Uses FittedModel.
Forecaster fit_forecaster(const RunRecord& record);

// Facts about one case of the grid besides its runs.
struct TunedCase {
  std::size_t stratum = 0;  // number of the group of cases that one model can predict
  std::optional<Forecast> predicted;
  std::string refused;  // reason why it was not run, although it is valid: it would not fit
};

// A setting past the end of an axis, of which more is expected than of all the grid.
struct BeyondGrid {
  Change change;
  std::optional<Forecast> predicted;  // missing if the last value of the axis was the best by far
  std::string left_out;               // reason why it may not be run; "": the axis ends
};

// The change of the answer with the compute, in the model.
struct ComputeShift {
  double factor = 1;                    // factor on the time of a step
  std::optional<std::size_t> cheapest;  // case that reaches the goal
};

// The answer for the machine without the other programs that ran on it meanwhile: by the CPU time
// that samples take, in the model.
struct AloneAnswer {
  double other_cores = 0;               // cores used by other programs
  std::optional<std::size_t> cheapest;  // case that reaches the goal; nothing without a model
  double samples_per_s = 0;             // rate of that case
};

struct Tune {
  Experiment experiment;
  TuneGoal goal;
  std::vector<TunedCase> candidates;  // one per case
  std::optional<std::size_t> best, recommended;
  std::optional<std::size_t> now;    // the settings of the base case
  std::optional<BeyondGrid> beyond;  // the grid was cut: its best is the best so far
  bool proven = false;               // true if the recommended case is proven to reach the goal
  double probability = 0;            // probability that it reaches the goal
  bool goal_reached = true;          // false: no case of the grid keeps the GPU as busy as that
  // |predicted / measured - 1| of what ran; nothing where nothing was predicted.
  std::optional<double> error_median, error_worst;
  std::string limit;  // limit of the recommended case: compute, a cause, or "" if unknown
  std::string limit_sentence;
  Changes next_step;  // changes that would move the limit
  std::optional<Forecast> after_next_step;
  std::vector<ComputeShift> shifts;
  std::optional<AloneAnswer> alone;  // set if others took at least a tenth of the cores
  Nanos grid_time = 0;               // time for two runs of each case
  bool grid_spent = false;  // ended with work left, when it had taken as long as the plain grid
};

// The default axes on a machine: workers, prefetch factors, memory modes.
Axes default_axes(const RunConfig& base, const MachineLimits& limits,
                  std::optional<std::int64_t> max_workers);

// `experiment` holds the grid and no run. Throws UsageError when the budget is too short for one
// case.
Tune tune(Experiment experiment, const ExperimentContext& context, const TuneOptions& options,
          const FitForecaster& fit = fit_forecaster);

// Returns the most frequent reason why no case could be run. "" when one was.
std::string reason_for_nothing(const Tune& tune);

}  // namespace loaderscope
