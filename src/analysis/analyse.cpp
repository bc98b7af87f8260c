// The analysis of a record: account, intervals, first batch, verdict, and the limits of the run.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "analysis/devices.h"
#include "analysis/epochs.h"
#include "analysis/removal.h"
#include "analysis/statistics.h"
#include "analysis/steadiness.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "loaderscope/analysis.h"
#include "loaderscope/run_config.h"
#include "record/config_facts.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

// Returns the number of workers. A block has two steps for each.
std::int64_t block_workers(const RunConfig& config) { return block_steps(config) / 2; }

std::int64_t longest_window(const RunRecord& record) {
  std::int64_t steps = 0;
  for (const RankRecord& rank : record.ranks) steps = std::max(steps, rank.steps());
  return steps;
}

std::int64_t shortest_window(const RunRecord& record) {
  if (record.ranks.empty()) return 0;
  std::int64_t steps = record.ranks.front().steps();
  for (const RankRecord& rank : record.ranks) steps = std::min(steps, rank.steps());
  return std::max<std::int64_t>(steps, 0);
}

constexpr double kMuchOfWindow = 0.1;  // share of the window; one step above it is long
constexpr Nanos kManyMedians = 10;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// Values from one walk over all rows.
struct Walk {
  StepSeries series;
  bool steady = true;  // every rank
  Histogram step_time;
  std::set<std::int32_t> epochs;    // epochs of the window; at most two are counted
  std::int64_t epochs_begun = 0;    // sum over the windows of all ranks
  std::optional<LongStep> longest;  // longest trainer time of all ranks
  std::int64_t long_ones = 0;       // steps of its rank with much of the window
  std::optional<StepRow> first;     // first step of rank 0, warm-up included

  explicit Walk(const RunRecord& record)
      : series(longest_window(record)),
        workers_(block_workers(record.config)),
        ranks_(std::ssize(record.ranks)) {
    for (const RankRecord& rank : record.ranks) add(rank);
  }

 private:
  void add(const RankRecord& rank) {
    Steadiness steadiness(rank.steps(), workers_);
    std::int64_t index = -rank.warmup_steps;
    EpochBegins begins;
    LongStep longest_of_rank;
    std::int64_t long_ones_of_rank = 0;
    rank.rows.for_each([&](const StepRow& row) {
      if (!first) first = row;
      begins.add(row, index >= 0);
      if (index >= 0) {
        add_measured(series_place(index, rank.steps()), row);
        steadiness.add(index, static_cast<double>(row.compute_end - row.idle_begin));
        const Nanos time = row.compute() + row.stall[Cause::launch];
        const double share = ratio(seconds(time), seconds(rank.window()));
        long_ones_of_rank += share > kMuchOfWindow ? 1 : 0;
        if (time > longest_of_rank.time)
          longest_of_rank = {row.step, time, share, row.compute_end - row.idle_begin};
      }
      ++index;
    });
    steady = steady && steadiness.holds(ranks_);
    epochs_begun += begins.count();
    if (longest && longest->time >= longest_of_rank.time) return;
    longest = longest_of_rank;
    long_ones = long_ones_of_rank;
  }

  // Maps the steps of ranks with unequal numbers of steps, so that steps of one time share a place.
  std::int64_t series_place(std::int64_t index, std::int64_t steps) const {
    return index * series.steps() / steps;
  }

  void add_measured(std::int64_t place, const StepRow& row) {
    series.add(place, step_sums(row));
    step_time.add(row.compute_end - row.idle_begin);
    if (epochs.size() < 2) epochs.insert(row.epoch);
  }

  std::int64_t workers_, ranks_;
};

// Returns the single long step of the run, if there is one. Several steps of that length belong to
// the run.
std::optional<LongStep> single_long_step(const Walk& walk, std::int64_t steps) {
  if (!walk.longest || walk.long_ones != 1 || steps < kMinSteps) return std::nullopt;
  const Nanos median = walk.step_time.quantile(0.5);
  LongStep found = *walk.longest;
  if (found.share <= kMuchOfWindow || found.time <= kManyMedians * median) return std::nullopt;
  found.beyond -= median;
  return found;
}

Estimate within_one(Estimate share) {
  share.low = std::clamp(share.low, 0.0, 1.0);
  share.high = std::clamp(share.high, 0.0, 1.0);
  return share;
}

void fill_estimates(Analysis& analysis, const RunRecord& record, const Bootstrap& bootstrap) {
  if (analysis.has_busy) {
    analysis.busy =
        within_one(bootstrap.estimate([](const StepSums& s) { return ratio(s.compute, s.time); }));
  }
  for (std::size_t c = 0; c < kCauses; ++c) {
    analysis.share.at(c) = within_one(
        bootstrap.estimate([c](const StepSums& s) { return ratio(s.stall.at(c), s.time); }));
  }
  // Ranks need not take equally long: the sum of their rates is the answer, the pooled rate gives
  // the interval.
  double sum = 0;
  for (const RankRecord& rank : record.ranks) {
    if (rank.steps() > 0) sum += ratio(static_cast<double>(rank.samples), seconds(rank.window()));
  }
  const auto ranks = static_cast<double>(record.ranks.size());
  Estimate rate = bootstrap.estimate(
      [ranks](const StepSums& s) { return 1e9 * ranks * ratio(s.samples, s.time); });
  const double scale = rate.mean > 0 ? sum / rate.mean : 1;
  analysis.samples_per_s = {sum, std::max(0.0, rate.low * scale), rate.high * scale};
}

// Adds to the cause's entry; an engine may name what happened before the first ask like a cause.
void add_to_first_batch(Analysis& analysis, std::string_view name, Nanos ns) {
  analysis.first_batch_wall += ns;
  if (ns == 0) return;
  for (auto& [known, sum] : analysis.first_batch_by_cause) {
    if (known == name) {
      sum += ns;
      return;
    }
  }
  analysis.first_batch_by_cause.emplace_back(name, ns);
}

void fill_first_batch(Analysis& analysis, const RunRecord& record,
                      const std::optional<StepRow>& first) {
  for (const auto& [name, ns] : record.before_first_ask) add_to_first_batch(analysis, name, ns);
  if (!first) return;
  for (const auto& word : Words<Cause>::table()) {
    add_to_first_batch(analysis, word.name, first->stall[word.value]);
  }
}

// A program without a visible GPU counts as training on one only if a GPU price was given.
bool has_gpu(const RunConfig& config) {
  return device_kind(config.trainer.device.value) != DeviceKind::program ||
         config.answer.gpu_price > 0;
}

IdleCost idle_cost(const RunRecord& record, const Analysis& analysis) {
  IdleCost waste;
  const auto gpus = static_cast<double>(count_gpus(record));
  waste.gpu_hours_per_day = 24 * gpus * (1 - analysis.busy.mean);
  const double price = record.config.answer.gpu_price;
  if (price > 0) waste.price_per_day = waste.gpu_hours_per_day * price;
  return waste;
}

void note_limits(Analysis& analysis, const RunRecord& record) {
  if (analysis.steps == 0 || is_trace_engine(record.engine)) return;
  if (!analysis.has_firm_intervals) {
    const std::string reason = no_firm_interval(record, analysis.steps);
    if (analysis.verdict.withheld_reason != reason) analysis.notes.push_back(reason);
  }
  if (const std::string note = short_run_note(record, analysis); !note.empty())
    analysis.notes.push_back(note);
  if (analysis.is_within_epoch && restarts_workers(record.config)) {
    analysis.notes.push_back(
        "no epoch ended within the window, so what restarting the workers costs was not seen");
  }
  if (!is_model_engine(record.engine) && analysis.account.window < 30 * kSecond) {
    analysis.notes.push_back(
        fmt::format("a window of {} cannot show memory that grows or a page cache that turns warm",
                    format_duration(analysis.account.window)));
  }
}

}  // namespace

std::string short_run_note(const RunRecord& record, const Analysis& analysis) {
  constexpr std::int64_t kMinWindows = 4;
  const std::int64_t window = batches_ahead(record.config);
  if (analysis.steps == 0 || analysis.steps >= kMinWindows * window) return "";
  return fmt::format(
      "{} {} less than four windows of {}, so what was made before them may carry the "
      "rate; give "
      "--steps {}",
      plural(analysis.steps, "step"), analysis.steps == 1 ? "is" : "are", plural(window, "batch"),
      kMinWindows * window);
}

AccountLead account_lead(Bootstrap bootstrap) {
  return [bootstrap = std::move(bootstrap)](Cause first, Cause next) {
    return bootstrap.estimate([first, next](const StepSums& sums) {
      return ratio(sums.stall[first] - sums.stall[next], sums.time);
    });
  };
}

AccountLead account_lead(const RunRecord& record) {
  return account_lead(Bootstrap(Walk(record).series, block_steps(record.config)));
}

std::int64_t steps_of_block(const RunRecord& record) {
  const Walk walk(record);
  return plan_blocks(walk.series, block_steps(record.config)).wanted * walk.series.steps_per_cell();
}

Analysis analyse(const RunRecord& record) {
  Analysis analysis;
  analysis.is_of_trace = is_trace_engine(record.engine);
  for (const RankRecord& rank : record.ranks) {
    analysis.rank_accounts.push_back(rank_account(rank));
    if (rank.steps() > 0) analysis.samples += rank.samples;
  }
  analysis.account = mean_account(analysis.rank_accounts);
  analysis.steps = shortest_window(record);

  Walk walk(record);
  analysis.long_step = single_long_step(walk, analysis.steps);
  analysis.step_time = std::move(walk.step_time);
  analysis.has_busy = device_kind(record.config.trainer.device.value) != DeviceKind::none &&
                      analysis.account.compute > 0;
  analysis.steady = analysis.steps >= kMinSteps && !record.input_ended_in_warmup &&
                    !analysis.long_step && walk.steady;

  const Bootstrap bootstrap(walk.series, block_steps(record.config));
  fill_estimates(analysis, record, bootstrap);
  analysis.has_firm_intervals = bootstrap.plan().firm;
  // A trace begins with the tracing.
  if (!is_trace_engine(record.engine)) fill_first_batch(analysis, record, walk.first);
  SeenEpochs seen = epochs_seen(record, analysis.account, walk.epochs_begun);
  if (analysis.long_step) {
    const bool all_wait = record.config.trainer.sync_ranks;
    seen.apart = analysis.long_step->beyond / (all_wait ? 1 : std::ssize(record.ranks));
  }
  if (const double epoch = epoch_seconds(record.config, seen); epoch > 0)
    analysis.epoch_predicted_s = epoch;
  if (analysis.has_busy && has_gpu(record.config) && !shares_gpus(record))
    analysis.waste = idle_cost(record, analysis);
  analysis.is_within_epoch = record.config.data.samples > 0 && walk.epochs.size() < 2;
  analysis.removals = removal_gains(record, analysis.account);
  analysis.verdict = judge(record, analysis, account_lead(bootstrap));
  note_limits(analysis, record);
  return analysis;
}

}  // namespace loaderscope
