#include "analysis/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/removal.h"
#include "analysis/totals.h"
#include "analysis/wording.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

constexpr std::int64_t kMaxWorkers = 1 << 20;  // keeps products of absurd settings small

std::string describe_long_step(const LongStep& step) {
  return fmt::format(
      "step {} took the trainer {}, {} of the window (a profiler, a checkpoint or "
      "a validation?), and no mean holds for it and the others",
      step.step, format_duration(step.time), format_percent(step.share));
}

std::string too_wide(const Analysis& analysis) {
  return fmt::format(
      "busy may be anything from {:.1f} to {:.1f} %, more than the ±{:.0f} points that a verdict "
      "allows",
      100 * analysis.busy.low, 100 * analysis.busy.high, 100 * kMaxWidthOfBusy);
}

// The reason why there is no verdict: the sentence of the long answer, one clause for the short
// one, and the next step. An empty `next` means that a command follows.
struct Withheld {
  std::string reason, briefly, next = {};
};

constexpr const char* kUnsteady = "step times changed by more than 10 % during the run";
constexpr const char* kTooVaried = "the busy share varies too much";

std::string too_few_steps(const Analysis& analysis) {
  return fmt::format("{} of the {} steps that a verdict needs", analysis.steps, kMinSteps);
}

std::string briefly(const LongStep& step) {
  return fmt::format("step {} took {}, which is {:.0f} % of the run", step.step,
                     format_duration(step.time), 100 * step.share);
}

// For a trace, the recorded steps are all there is.
std::optional<Withheld> reason_of_trace(const RunRecord& record, const Analysis& analysis) {
  const Account& account = analysis.account;
  if (value_of(record.metrics, metric::profile_samples))
    return Withheld{
        "samples of stacks show shares of the time but no steps; 'loaderscope run -- python "
        "train.py' shows steps",
        "samples of stacks show no steps", "loaderscope run -- python train.py"};
  if (value_of(record.metrics, metric::trace_steps_known).value_or(1) == 0)
    return Withheld{
        "the trace does not show where steps begin; give --step-range NAME with the name of "
        "the program's own range around a step, or record with prof.step() after each",
        "the trace does not show where a step ends",
        "--step-range NAME, or call prof.step() after each step"};
  if (analysis.steps < kMinSteps)
    return Withheld{fmt::format("{} {} recorded and a verdict needs {}; record more of them",
                                plural(analysis.steps, "step"),
                                analysis.steps == 1 ? "was" : "were", kMinSteps),
                    "the trace has " + too_few_steps(analysis), "record more steps"};
  const double other = window_share(account.stall[Cause::other], account);
  if (other > kMaxOther)
    return Withheld{fmt::format("what {} of the window was waited for was not recorded, more than "
                                "the {:.0f} % that a verdict allows; the notes say what to record",
                                format_percent(other), 100 * kMaxOther),
                    "the trace does not show what the GPU waited for", "-v says what to record"};
  if (analysis.long_step)
    return Withheld{describe_long_step(*analysis.long_step) + "; record more steps, without it",
                    briefly(*analysis.long_step), "record more steps, without it"};
  if (!analysis.steady)
    return Withheld{
        "the run is not steady: the step time changed by 10 % or more between its two "
        "halves; record later steps, or more of them",
        kUnsteady, "record later steps, or more of them"};
  if (analysis.busy.half_width() > kMaxWidthOfBusy)
    return Withheld{too_wide(analysis) + "; record more steps", kTooVaried, "record more steps"};
  return std::nullopt;
}

std::string next_step(const RunRecord& record) {
  return ran_to_its_end(record) ? "let the program train longer" : "";
}

// Returns nothing if a verdict may be given.
std::optional<Withheld> reason_to_withhold(const RunRecord& record, const Analysis& analysis) {
  if (is_trace_engine(record.engine)) return reason_of_trace(record, analysis);
  const Account& account = analysis.account;
  if (record.input_ended_in_warmup && record.interrupted)
    return Withheld{
        "it was interrupted inside the warm-up, so nothing was measured in a steady "
        "state",
        "it was interrupted during the warm-up", "let it run longer"};
  if (record.input_ended_in_warmup) {
    return Withheld{
        "the input ended inside the warm-up, so nothing was measured in a steady "
        "state; give more --samples or --epochs, or a shorter --warmup",
        "the data ended during the warm-up", next_step(record)};
  }
  if (analysis.steps == 0) {
    if (record.interrupted)
      return Withheld{"no step was measured", "no step was measured", "let it run longer"};
    return Withheld{
        fmt::format("no step was measured; give --steps {}", enough_steps(record.config)),
        "no step was measured", next_step(record)};
  }
  if (record.lost_spans > 0) {
    return Withheld{
        fmt::format("{} of the measurement {} lost, so the account has holes; measure with less "
                    "other load on this machine or with a shorter --duration",
                    plural(record.lost_spans, "span"), record.lost_spans == 1 ? "was" : "were"),
        "a part of the measurement was lost, as the machine was too busy",
        "end other programs, or give a shorter --duration"};
  }
  if (analysis.steps < kMinSteps) {
    const std::string few =
        fmt::format("{} {} measured and a verdict needs {}", plural(analysis.steps, "step"),
                    analysis.steps == 1 ? "was" : "were", kMinSteps);
    const std::string clause = "the run has " + too_few_steps(analysis);
    if (record.interrupted) return Withheld{few, clause, "let it run longer"};
    return Withheld{few + how_to_run(record, longer_run(record.config, analysis.steps)), clause,
                    next_step(record)};
  }
  const double still = value_of(record.metrics, metric::host_standstill_s).value_or(0);
  if (still > kMaxStandstill * seconds(account.window)) {
    return Withheld{fmt::format("for {} of the window nothing of this program could run: it was "
                                "stopped, or the machine was, and that is no waiting for data; "
                                "measure again",
                                format_duration(std::llround(still * 1e9))),
                    "the program or the machine was stopped during the run", "measure again"};
  }
  const double gpu_share = value_of(record.metrics, metric::gpu_seen_share).value_or(0);
  if (is_gpu_unseen(record) && gpu_share > kMaxOfGpu) {
    return Withheld{
        fmt::format("compute is the GPU's own time in {} of the window and in the rest what the "
                    "host saw of it, and no mean of the two says how busy anything was; run it "
                    "without the program's own profiler, or measure steps before it with --steps",
                    format_percent(gpu_share)),
        "the GPU's own times are known for a part of the run only",
        "run it without the program's own profiler"};
  }
  if (analysis.long_step)
    return Withheld{describe_long_step(*analysis.long_step) + "; measure more steps, or without it",
                    briefly(*analysis.long_step), "measure more steps, or without that step"};
  if (!analysis.steady) {
    return Withheld{
        "the run is not steady: the step time changed by 10 % or more between its two "
        "halves; give a longer --warmup or --duration",
        kUnsteady, next_step(record)};
  }
  if (!is_firm(analysis))
    return Withheld{no_firm_interval(record, analysis.steps),
                    fmt::format("{} steps are too few for a firm figure", analysis.steps),
                    next_step(record)};
  if (analysis.busy.half_width() > kMaxWidthOfBusy)
    return Withheld{
        too_wide(analysis) + how_to_run(record, {"steps", kTimesAsLong * analysis.steps}),
        kTooVaried, next_step(record)};
  const double other = window_share(account.stall[Cause::other], account);
  if (other > kMaxOther) {
    return Withheld{
        fmt::format("{} of the window has no known cause, more than the {:.0f} % that a verdict "
                    "allows; look at the worst steps of a result saved with --json",
                    format_percent(other), 100 * kMaxOther),
        fmt::format("{:.0f} % of the time has no known cause", 100 * other),
        "look at the slowest steps: --html page.html"};
  }
  const double clamped = window_share(account.clamped, account);
  if (clamped > kMaxClamped) {
    return Withheld{
        fmt::format("the clocks of host and device disagree by {} of the window, more than the "
                    "{:.0f} % that a verdict allows; measure again with a longer --duration",
                    format_percent(clamped), 100 * kMaxClamped),
        "the clocks of host and GPU disagree", "measure again with a longer --duration"};
  }
  return std::nullopt;
}

std::vector<Cause> largest_first(const Account& account) {
  std::vector<Cause> causes;
  for (std::size_t c = 0; c < kCauses; ++c) {
    const auto cause = static_cast<Cause>(c);
    if (cause != Cause::other && account.stall[cause] > 0) causes.push_back(cause);
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [&](Cause a, Cause b) { return account.stall[a] > account.stall[b]; });
  return causes;
}

// Returns the leading cause and those that cannot be distinguished from it: the lead's interval
// reaches 0, or the time without a cause exceeds the lead.
std::vector<Cause> leaders_of_account(const Account& account, const AccountLead& lead) {
  const std::vector<Cause> causes = largest_first(account);
  if (causes.empty()) return {Cause::other};
  const Cause first = causes.front();
  std::vector<Cause> result = {first};
  for (Cause next : std::span(causes).subspan(1)) {
    const bool hidden_by_other =
        account.stall[first] - account.stall[next] <= account.stall[Cause::other];
    if (lead(first, next).low <= 0 || hidden_by_other) result.push_back(next);
  }
  if (result.size() > kMaxNamed) result.resize(kMaxNamed);
  if (account.stall[first] <= account.stall[Cause::other]) result.push_back(Cause::other);
  return result;
}

// Returns half the width of the difference between the savings of `first` and `next`. It combines
// the interval of the account's lead, scaled by the share that is saved, and the error of the
// model.
double unsure_by(const Removal& first, const Removal& next, const Analysis& analysis,
                 const AccountLead& lead) {
  const Cause cause = first.causes.front();
  const double share = window_share(analysis.account.stall[cause], analysis.account);
  const double saved = share > 0 ? std::min(1.0, first.saves / share) : 1;
  return std::hypot(saved * lead(cause, next.causes.front()).half_width(),
                    first.saves * analysis.removals.error);
}

std::vector<Cause> leaders_by_removal(const Analysis& analysis, const AccountLead& lead) {
  constexpr double kAlike = 0.001;  // share of the window
  const std::vector<Removal>& removals = analysis.removals.list;
  const Removal& first = removals.front();
  const double other = window_share(analysis.account.stall[Cause::other], analysis.account);
  std::vector<Cause> result = {first.causes.front()};
  for (const Removal& next : std::span(removals).subspan(1)) {
    if (result.size() == kMaxNamed || next.causes.size() > 1) break;
    const double unsure = unsure_by(first, next, analysis, lead);
    if (first.saves - next.saves <= std::max({kAlike, unsure, other}))
      result.push_back(next.causes.front());
  }
  if (first.saves <= other) result.push_back(Cause::other);
  return result;
}

double cause_worth(Cause cause, const Analysis& analysis) {
  return std::max(window_share(analysis.account.stall[cause], analysis.account),
                  analysis.removals.saves(cause));
}

// At most three are named, `other` among them, and a third only where mending it could matter.
void name_few(std::vector<Cause>& causes, const Analysis& analysis) {
  if (causes.size() > kMaxNamed) causes.erase(causes.begin() + kMaxNamed - 1, causes.end() - 1);
  if (causes.size() < kMaxNamed || causes.back() == Cause::other) return;
  if (cause_worth(causes.back(), analysis) < kMinUsefulGain) causes.pop_back();
}

// Returns the largest parts of the account, if no cause gains anything.
std::vector<Cause> largest_parts(const Analysis& analysis) {
  constexpr double kAlsoLarge = 0.1;  // share of the largest
  std::vector<Cause> causes = largest_first(analysis.account);
  const auto is_small = [&](Cause cause) {
    const PerCause<Nanos>& stall = analysis.account.stall;
    return static_cast<double>(stall[cause]) < kAlsoLarge * static_cast<double>(stall[causes[0]]);
  };
  const auto end = std::find_if(causes.begin(), causes.end(), is_small);
  causes.resize(std::min<std::size_t>(static_cast<std::size_t>(end - causes.begin()), kMaxNamed));
  return causes;
}

void name_causes(Verdict& verdict, const Analysis& analysis, const AccountLead& lead) {
  const Account& account = analysis.account;
  const RemovalGains& removals = analysis.removals;
  const bool gains = !removals.list.empty() && removals.list.front().saves >= kMinUsefulGain;
  verdict.together = gains && removals.list.front().causes.size() > 1;
  if (removals.basis == RemovalBasis::account) {
    verdict.candidates = leaders_of_account(account, lead);
  } else if (verdict.together) {
    verdict.candidates = removals.list.front().causes;
  } else if (gains) {
    verdict.candidates = leaders_by_removal(analysis, lead);
  } else {
    // No removal gains anything, so only the largest parts can be named.
    verdict.candidates = largest_parts(analysis);
    verdict.no_gain = true;
  }
  if (verdict.candidates.empty()) verdict.candidates = {Cause::other};
  name_few(verdict.candidates, analysis);
  if (!verdict.no_gain && verdict.candidates.size() == 1 &&
      verdict.candidates.front() != Cause::other)
    verdict.bound_by = std::string(name_of(verdict.candidates.front()));
  const std::vector<Cause> largest = largest_first(account);
  const auto& named = verdict.candidates;
  if (!largest.empty() && std::find(named.begin(), named.end(), largest.front()) == named.end())
    verdict.hidden = largest.front();
}

}  // namespace

LongerRun longer_run(const RunConfig& config, std::int64_t steps, std::int64_t wanted) {
  const std::int64_t enough = std::max(enough_steps(config), wanted);
  const bool input_ended = config.measure.epochs > 0 && steps > 0 &&
                           !config.measure.duration.given &&
                           (config.measure.steps == 0 || steps < config.measure.steps);
  if (!input_ended) return {"steps", enough};
  return {"epochs", (config.measure.epochs * enough + steps - 1) / steps};
}

bool Analysis::is_too_short() const {
  return verdict.withheld_reason && steps < kMinSteps && !is_of_trace;
}

bool ran_to_its_end(const RunRecord& record) {
  constexpr double kWhole = 0.8;  // share of --duration; the warm-up may be part of it
  const RunConfig& config = record.config;
  if (!config.program.command.given || record.interrupted) return false;
  Nanos window = 0;
  std::int64_t steps = 0;
  for (const RankRecord& rank : record.ranks) {
    window = std::max(window, rank.window());
    steps = std::max(steps, rank.steps());
  }
  const bool has_steps = config.measure.steps > 0;
  if (has_steps) return steps < config.measure.steps;
  return static_cast<double>(window) < kWhole * static_cast<double>(config.measure.duration) ||
         config.measure.duration == 0;
}

// Two halves that agree by chance do so within a few points.
bool is_firm(const Analysis& analysis) {
  constexpr double kAgree = 0.01;  // share of the window, or of the rate
  if (analysis.has_firm_intervals) return true;
  if (analysis.has_busy) return analysis.busy.half_width() <= kAgree;
  return analysis.samples_per_s.half_width() <= kAgree * analysis.samples_per_s.mean;
}

std::string how_to_run(const RunRecord& record, const LongerRun& longer) {
  if (ran_to_its_end(record)) return "; let the program train longer";
  return fmt::format("; give --{} {}", longer.flag, longer.value);
}

std::string no_firm_interval(const RunRecord& record, std::int64_t steps) {
  const std::int64_t least = block_steps(record.config);
  const std::int64_t block = std::max(least, steps_of_block(record));
  const double blocks = static_cast<double>(steps) / static_cast<double>(block);
  return fmt::format("{} are {:.1f} blocks of {}{}, which gives no firm interval",
                     plural(steps, "step"), std::floor(10 * blocks) / 10, format_count(block),
                     block > least ? ", as slow and fast steps come in stretches" : "") +
         how_to_run(record, longer_run(record.config, steps, kEnoughBlocks * block));
}

std::int64_t block_steps(const RunConfig& config) {
  return 2 * std::clamp<std::int64_t>(config.loader.num_workers, 1, kMaxWorkers);
}

std::int64_t enough_steps(const RunConfig& config) {
  return std::max<std::int64_t>(100, kEnoughBlocks * block_steps(config));
}

Verdict judge(const RunRecord& record, const Analysis& analysis, const AccountLead& lead) {
  Verdict verdict;
  if (std::optional<Withheld> withheld = reason_to_withhold(record, analysis)) {
    verdict.withheld_reason = std::move(withheld->reason);
    verdict.withheld_briefly = std::move(withheld->briefly);
    verdict.withheld_next = std::move(withheld->next);
  }
  if (!verdict.withheld_reason) {
    const double stall = window_share(analysis.account.idle(), analysis.account);
    if (analysis.has_busy && stall < kModerateStall) {
      verdict.bound_by = "compute";
    } else {
      name_causes(verdict, analysis, lead);
    }
    if (analysis.has_busy) {
      verdict.severity = stall < kModerateStall ? "none" : stall < kHighStall ? "moderate" : "high";
    }
  }
  verdict.sentence = verdict_sentence(record, analysis, verdict);
  return verdict;
}

}  // namespace loaderscope
