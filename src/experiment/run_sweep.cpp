// All cases, in random order, round after round.
#include <algorithm>
#include <numeric>

#include "base/hash.h"
#include "experiment/case_run.h"
#include "experiment/case_statistics.h"
#include "loaderscope/errors.h"
#include "loaderscope/experiment.h"

namespace loaderscope {
namespace {

constexpr int kMinRounds = 2;
constexpr int kMaxRounds = 20;

// Fisher-Yates: the same order from every standard library.
std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) {
    std::swap(order[i - 1], order[next_bits(seed) % i]);
  }
  return order;
}

bool ran_round(const Case& one, int round) {
  return std::any_of(one.runs.begin(), one.runs.end(),
                     [&](const CaseRun& run) { return run.round == round; });
}

class Sweep {
 public:
  Sweep(Experiment& experiment, const ExperimentContext& context, const SweepOptions& options)
      : experiment_(experiment),
        options_(options),
        runner_(experiment, context, length_of_sweep(options.budget, experiment.cases.size()),
                options.budget) {}

  void run() {
    for (int round = 0; round < kMaxRounds && !is_over(); ++round) {
      const std::vector<bool> wanted = wanted_cases(round);
      if (std::none_of(wanted.begin(), wanted.end(), [](bool w) { return w; })) continue;
      const auto seed = options_.seed * 1000 + static_cast<std::uint64_t>(round);
      for (const std::size_t i : shuffled(wanted.size(), seed)) {
        if (wanted[i] && !is_over()) run_case(experiment_.cases[i], round);
      }
    }
  }

 private:
  bool is_over() const {
    return runner_.stopped() || experiment_.interrupted || experiment_.budget_spent;
  }

  // Returns the cases whose interval is not narrow enough yet. Leaves out cases that already ran in
  // this round before a resumption.
  std::vector<bool> wanted_cases(int round) const {
    const CaseStatistics judgement(experiment_.cases);
    std::vector<bool> wanted;
    for (std::size_t i = 0; i < experiment_.cases.size(); ++i) {
      const Case& one = experiment_.cases[i];
      bool wants = one.skipped.empty() && !ran_round(one, round);
      if (wants && one.runs.size() >= kMinRounds) {
        const Estimate rate = judgement.rate(i);
        wants = rate.half_width() > options_.precision * rate.mean;
      }
      wanted.push_back(wants);
    }
    return wanted;
  }

  void run_case(Case& one, int round) {
    if (runner_.left() <= runner_.next_run(one)) {
      experiment_.budget_spent = true;
      return;
    }
    runner_.run(one, round);
    if (runner_.stopped()) experiment_.interrupted = true;
  }

  Experiment& experiment_;
  SweepOptions options_;
  CaseRunner runner_;
};

}  // namespace

void run_sweep(Experiment& experiment, const ExperimentContext& context,
               const SweepOptions& options) {
  experiment.spent = 0;
  experiment.interrupted = experiment.budget_spent = false;
  Sweep(experiment, context, options).run();
}

}  // namespace loaderscope
