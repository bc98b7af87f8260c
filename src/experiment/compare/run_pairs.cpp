#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "experiment/case_run.h"
#include "experiment/compare/compare.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"

namespace loaderscope::compare {
namespace {

constexpr Nanos kShortestWindow = 3 * kSecond / 10, kMaxWindow = 5 * kSecond;
constexpr std::int64_t kUsualPairs = 12, kMaxPairs = 80;
// A window is limited to this many times its start, unless there are enough pairs. More pairs
// reduce the noise between processes and between seconds. Longer windows do not.
constexpr std::int64_t kMaxOfStart = 2;
// If the time is too short for the usual number, a window is half its start as long as these fit. A
// shorter window measures less than the starts cost.
constexpr std::int64_t kFewPairs = 8, kWorth = 2;
// Divisor for the part of a start that two concurrent starts save. Most of a start is imports.
constexpr Nanos kSavedOfStart = 4;
// While one is measured the other waits; for longer it would be taken for one that hangs.
constexpr Nanos kMaxWaiting = 60 * kSecond;
constexpr std::int64_t kMinOfStart = 5;  // least window: this fraction of the run's start
using TwoArms = std::array<std::int64_t, 2>;
constexpr std::array<TwoArms, kPairsOfBlock> kOrder = {{{0, 1}, {1, 0}}};

// Writes all times for the user's whole budget, of which this comparison has a share.
std::string too_short(const Options& options, Nanos needed, Nanos run) {
  const auto budget_text = [&](Nanos part, Nanos unit) {
    const double all = static_cast<double>(part) / options.share;
    return duration_to_text(std::llround(all / static_cast<double>(unit)) * unit);
  };
  const std::string part =
      options.share < 1 ? ": " + duration_to_text(options.budget) + " of it are" : "";
  return fmt::format(
      "--budget {}: is too short{} for {} pairs of runs of {} each; give --budget {}",
      budget_text(options.budget, kMillisecond), part, kMinPairs, format_duration(run),
      budget_text(needed + kSecond, kSecond));
}

// The length of a run of either arm.
struct Pilot {
  Nanos start = 0, window = 0, step = 0;
  std::int64_t fewest_steps = 0, warmup = 0;
  bool is_exact = false;  // virtual time: one block is enough
  bool may_wait = true;   // for another one, before its loader is made

  void take(const RunRecord& record, Nanos took);
};

void Pilot::take(const RunRecord& record, Nanos took) {
  const RankRecord& rank = record.ranks.front();
  const Nanos one = rank.window() / std::max<std::int64_t>(1, rank.steps());
  const RunConfig& config = record.config;
  is_exact = is_model_engine(record.engine);
  step = std::max(step, one);
  window = std::max(window, rank.window());
  start = std::max(start, is_exact ? took : took - rank.window());
  may_wait = may_wait && is_guest_engine(record.engine) && record.config.program.loader.given &&
             record.machine.cores >= 2;
  fewest_steps = std::max(fewest_steps, loaderscope::fewest_steps(config));
  if (config.measure.warmup.given) return;
  const std::int64_t ahead = config.loader.num_workers * config.loader.prefetch_factor;
  warmup = std::max({warmup, warmup_steps(config), ahead});
}

class PairRunner {
 public:
  PairRunner(Comparison& comparison, const Context& context)
      : comparison_(comparison), context_(context) {}

  void run() {
    const Nanos begin = context_.now();
    const bool may_continue = learn();
    comparison_.spent = context_.now() - begin;
    if (!may_continue) return;
    const RunLength length = plan();
    for (std::int64_t block = 0; block * kPairsOfBlock < comparison_.planned_pairs; ++block) {
      for (const auto& arms : kOrder) {
        if (!measure(arms, block, length)) return;
        comparison_.spent = context_.now() - begin;
        if (context_.after_run) context_.after_run(comparison_);
      }
    }
  }

 private:
  // Warms the cache, too, with files that a run writes or reads for the first time.
  bool learn() {
    for (const std::int64_t arm : {0, 1}) {
      RunLength length;
      if (!context_.has_length)
        length.duration = std::clamp(comparison_.options.budget / 40, kShortestWindow, 2 * kSecond);
      const Nanos begin = context_.now();
      const RunRecord record = context_.run(arm, length);
      if (record.interrupted || context_.stopped()) return stop();
      refuse_nothing(arm, record);
      pilot_.take(record, context_.now() - begin);
      take_workers(record, arm, comparison_);
      comparison_.cores = record.machine.cores;
      if (arm == 0 && is_same()) return false;
    }
    return true;
  }

  bool is_same() {
    if (context_.same_by_construction) comparison_.same_because = context_.same_by_construction();
    return !comparison_.same_because.empty();
  }

  bool stop() {
    comparison_.interrupted = true;
    return false;
  }

  void refuse_nothing(std::int64_t arm, const RunRecord& record) const {
    if (!record.ranks.empty() && record.ranks.front().steps() > 0 &&
        record.ranks.front().samples > 0)
      return;
    throw RunError(
        comparison_.arms.at(static_cast<std::size_t>(arm)).name + ": no step was measured",
        "give longer runs with --steps or more data");
  }

  bool overlaps_starts() const {
    return pilot_.may_wait && pilot_.window < kMaxWaiting && context_.run_two;
  }

  // Fixed by how long runs take, never by what they measure.
  RunLength plan() {
    RunLength length;
    length.warmup = context_.has_length ? 0 : pilot_.warmup;
    const Nanos least =
        std::max({kShortestWindow, pilot_.fewest_steps * pilot_.step, pilot_.start / kMinOfStart});
    const Nanos saved = overlaps_starts() ? pilot_.start / kSavedOfStart : 0;
    const Nanos start = pilot_.start - saved + length.warmup * pilot_.step;
    const Nanos left = comparison_.options.budget - comparison_.spent;
    const std::int64_t given = comparison_.options.pairs;
    const auto window_for = [&](std::int64_t pairs) {
      return left / (2 * (given > 0 ? given : pairs)) - start;
    };
    const Nanos worth_a_start = std::min(start / kWorth, window_for(kFewPairs));
    const Nanos enough =
        std::max(window_for(kMaxPairs),
                 std::min(kMaxOfStart * start, std::max(worth_a_start, window_for(kUsualPairs))));
    Nanos window = std::clamp(enough, least, std::max(least, kMaxWindow));
    if (context_.has_length) window = pilot_.window;
    if (pilot_.is_exact) window = 0;
    comparison_.planned_pairs = kPairsOfBlock * blocks(left, start + window);
    if (pilot_.is_exact && given > comparison_.planned_pairs)
      comparison_.notes.push_back(
          fmt::format("in virtual time all pairs are alike, so that {} say all, and not {}",
                      comparison_.planned_pairs, given));
    if (context_.has_length || pilot_.is_exact) return length;
    length.steps = std::max(pilot_.fewest_steps, window / std::max<Nanos>(1, pilot_.step));
    comparison_.steps = length.steps;
    return length;
  }

  std::int64_t blocks(Nanos left, Nanos run) const {
    if (pilot_.is_exact) return 1;
    if (comparison_.options.pairs > 0)
      return (comparison_.options.pairs + kPairsOfBlock - 1) / kPairsOfBlock;
    const std::int64_t fit = left / (kRunsOfBlock * std::max<Nanos>(1, run));
    const std::int64_t fewest = kMinPairs / kPairsOfBlock;
    if (fit < fewest) {
      const Nanos needed = comparison_.spent + fewest * kRunsOfBlock * run;
      throw UsageError(too_short(comparison_.options, needed, run));
    }
    return std::min(fit, kMaxPairs / kPairsOfBlock);
  }

  bool measure(const TwoArms& arms, std::int64_t block, RunLength length) {
    length.block = block + 1;
    if (overlaps_starts()) return measure_overlapped(arms, block, length);
    return measure_one(arms[0], block, length) && measure_one(arms[1], block, length);
  }

  bool measure_one(std::int64_t arm, std::int64_t block, const RunLength& length) {
    if (context_.stopped()) return stop();
    const Nanos begin = context_.now();
    const RunRecord record = context_.run(arm, length);
    return take(arm, block, record, context_.now() - begin);
  }

  bool measure_overlapped(const TwoArms& arms, std::int64_t block, const RunLength& length) {
    if (context_.stopped()) return stop();
    const Nanos begin = context_.now();
    const std::array<RunRecord, 2> records = context_.run_two(arms, length);
    const Nanos each = (context_.now() - begin) / 2;
    return take(arms[0], block, records[0], each) && take(arms[1], block, records[1], each);
  }

  bool take(std::int64_t arm, std::int64_t block, const RunRecord& record, Nanos took) {
    if (record.interrupted || context_.stopped()) return stop();
    refuse_nothing(arm, record);
    SideRun run = make_side_run(record, arm, block);
    run.took = took;
    comparison_.runs.push_back(std::move(run));
    return true;
  }

  Comparison& comparison_;
  const Context& context_;
  Pilot pilot_;
};

}  // namespace

void run_pairs(Comparison& comparison, const Context& context) {
  PairRunner(comparison, context).run();
}

}  // namespace loaderscope::compare
