// The verdict in a sentence.
#include <fmt/format.h>

#include <algorithm>

#include "analysis/contention.h"
#include "analysis/devices.h"
#include "analysis/gap_kinds.h"
#include "analysis/removal.h"
#include "analysis/totals.h"
#include "analysis/verdict.h"
#include "analysis/wording.h"
#include "loaderscope/run_config.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

std::string no_gain_words(const Verdict& verdict) {
  return verdict.candidates.size() > 1 ? "; leaving out one of them gives nothing"
                                       : "; leaving it out gives nothing";
}

std::string why_words(Why why, const RunConfig& config) {
  switch (why) {
    case Why::capacity:
      if (config.loader.executor == Executor::opaque)
        return "its loader, which has workers of its own, does not keep up";
      return config.loader.num_workers == 0 ? "without workers the trainer makes every batch itself"
                                            : "the workers never rest";
    case Why::depth:
      return "the workers rest once enough batches are ready, and are late later";
    case Why::latency:
      return "one slow batch takes longer than the ready batches cover";
    case Why::epoch:
      return "each epoch starts without a finished batch";
  }
  return "";
}

// Says why a step waits for batches that the device makes.
std::string device_why_words(Why why) {
  switch (why) {
    case Why::capacity:
      return "the GPU makes batches without a pause";
    case Why::depth:
      return "the GPU has no room for more batches, and is late later";
    case Why::latency:
      return "a batch takes the GPU longer than the batches cover that it has ready";
    case Why::epoch:
      return "each epoch starts without a finished batch";
  }
  return "";
}

// "decode", "decode or read", "decode, read or augment"
std::string join(const std::vector<Cause>& causes, std::string_view last, const RunRecord& record,
                 const Analysis& analysis) {
  std::string text;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (i > 0) text += i + 1 == causes.size() ? fmt::format(" {} ", last) : ", ";
    text += describe_cause(causes[i], record, analysis.account);
  }
  return text;
}

Cause first_cause(const RemovalGains& removals) { return removals.list.front().causes.front(); }

bool is_seen_from_host(const RunRecord& record) {
  return device_kind(record.config.trainer.device.value) == DeviceKind::program;
}

// "the 3 ranks, which share 1 GPU,"
std::string sharing_words(const RunRecord& record) {
  return fmt::format("the {} ranks, which share {},", record.ranks.size(),
                     plural(count_gpus(record), "GPU"));
}

std::string waiting_words(const RunRecord& record, const Analysis& analysis) {
  const double stall = 1 - analysis.busy.mean;
  const std::string who = is_seen_from_host(record) ? "training waits"
                          : shares_gpus(record)     ? sharing_words(record) + " wait"
                          : count_gpus(record) > 1  ? "the GPUs wait"
                                                    : "the GPU waits";
  const Estimate& busy = analysis.busy;
  return fmt::format("{} {} of the time ({})", who, format_percent(stall),
                     format_interval({stall, 1 - busy.high, 1 - busy.low}));
}

// Returns "decode (24.9 %)", with a cause of about the same share: "decode (46.9 %) and contention
// (46.9 %)".
std::string describe_main_cause(const RunRecord& record, const Account& account, Cause cause) {
  constexpr double kAsLong = 0.95;
  std::string text;
  for (const auto& word : Words<Cause>::table()) {
    const bool is_chief = word.value == cause;
    const auto least = kAsLong * static_cast<double>(account.stall[cause]);
    if (!is_chief && static_cast<double>(account.stall[word.value]) < least) continue;
    const std::string one =
        fmt::format("{} ({})", describe_cause(word.value, record, account),
                    format_percent(window_share(account.stall[word.value], account)));
    if (is_chief)
      text = text.empty() ? one : one + " and " + text;
    else
      text += (text.empty() ? "" : " and ") + one;
  }
  return text;
}

// Returns " for decode: the workers never rest" if the cause is nearly all of it. Otherwise returns
// the cause with its share and its reason.
std::string cause_words(const RunRecord& record, const Analysis& analysis, Cause cause) {
  const Account& account = analysis.account;
  const double part = static_cast<double>(account.stall[cause]);
  const bool nearly_all = part >= 0.95 * static_cast<double>(account.idle());
  std::string text = nearly_all ? " for " + describe_cause(cause, record, account)
                                : ", mostly for " + describe_main_cause(record, account, cause);
  const std::string why = explain(cause, account, record);
  return why.empty() ? text : text + ": " + why;
}

double account_share(Cause cause, const Analysis& analysis) {
  return window_share(analysis.account.stall[cause], analysis.account);
}

// "decode 25.0 %"
std::string with_share(Cause cause, const RunRecord& record, const Analysis& analysis) {
  return fmt::format("{} {}", describe_cause(cause, record, analysis.account),
                     format_percent(account_share(cause, analysis)));
}

// Returns true if the cause is a small part of the wait, but its removal would gain much.
bool is_small_cause(const Analysis& analysis, const Verdict& verdict) {
  if (!verdict.bound_by) return false;
  const Cause cause = verdict.candidates.front();
  const double share = account_share(cause, analysis);
  return share < kModerateStall && 2 * share < analysis.removals.saves(cause);
}

// "the limit is decode (the workers never rest)"
std::string describe_limit(const RunRecord& record, const Analysis& analysis,
                           const Verdict& verdict) {
  const std::string text = join(verdict.candidates, "or", record, analysis);
  if (text == name_of(Cause::other)) return "the limit is not known";
  if (!verdict.bound_by) return "the limit is " + text + " (cannot tell which)";
  const Cause cause = verdict.candidates.front();
  const std::string why = explain(cause, analysis.account, record);
  const std::string because = why.empty() ? "" : " (" + why + ")";
  if (!is_small_cause(analysis, verdict)) return "the limit is " + text + because;
  return fmt::format("for {} itself only {}, but without it {} of the time is gained{}", text,
                     format_percent(account_share(cause, analysis)),
                     format_percent(analysis.removals.saves(cause)), because);
}

// Describes the largest part of the account, if another cause is the limit.
std::string describe_hidden(const RunRecord& record, const Analysis& analysis, Cause hidden) {
  const std::string text = with_share(hidden, record, analysis);
  const double saves = analysis.removals.saves(hidden);
  if (saves < kMinUsefulGain) return text + ", but without it nothing is gained";
  const bool is_less = saves < account_share(hidden, analysis);
  return text +
         fmt::format(", {} {} of the time is gained, without {} {}",
                     is_less ? "but without it only" : "and without it", format_percent(saves),
                     describe_cause(first_cause(analysis.removals), record, analysis.account),
                     format_percent(analysis.removals.list.front().saves));
}

// Names the causes that cannot be distinguished, with their shares, or with the gains without them.
std::string undecided_words(const RunRecord& record, const Analysis& analysis,
                            const Verdict& verdict) {
  if (!speaks_of_gains(analysis, verdict))
    return ", mostly for " + join(verdict.candidates, "or", record, analysis) +
           " (cannot tell which)";
  std::string text;
  for (const Cause cause : verdict.candidates) {
    if (cause == Cause::other) continue;
    text += fmt::format("{}without {} {}{}", text.empty() ? ": " : ", ",
                        describe_cause(cause, record, analysis.account),
                        format_percent(analysis.removals.saves(cause)),
                        text.empty() ? " of the time is gained" : "");
  }
  return text + " (cannot tell which)";
}

// "h2d and decode hide one another: ..."
std::string together_words(const RunRecord& record, const Analysis& analysis,
                           const Verdict& verdict) {
  const double saves = analysis.removals.list.empty() ? 0 : analysis.removals.list.front().saves;
  std::string text = join(verdict.candidates, "and", record, analysis) +
                     " hide one another: without one of them nothing is gained";
  if (saves >= kMinUsefulGain) text += ", without both " + format_percent(saves) + " of the time";
  return text;
}

// Half of `launch` at least: the trainer launched nothing and was not busy with something else, but
// a rank that all wait for computed a longer step.
bool waits_for_longer_steps(const RunRecord& record, const Account& account) {
  const Nanos launch = account.stall[Cause::launch];
  if (launch <= 0 || 2 * account.waiting_for_ranks < launch) return false;
  Nanos launched = 0;
  for (const RankRecord& rank : record.ranks) launched += rank.stages[Stage::launch].wall;
  const std::int64_t ranks = std::max<std::int64_t>(std::ssize(record.ranks), 1);
  return 2 * (launch - account.not_asking - launched / ranks) >= launch;
}

std::string busy_sentence(const RunRecord& record, const Analysis& analysis,
                          const Verdict& verdict) {
  if (verdict.withheld_reason) {
    // Figures of so few steps mean nothing.
    if (analysis.steps < kMinSteps) return "no verdict: " + *verdict.withheld_reason;
    return waiting_words(record, analysis) + "; no verdict: " + *verdict.withheld_reason;
  }
  if (verdict.bound_by == "compute") {
    return fmt::format("{}: busy {} ({})", limit_words(record), format_percent(analysis.busy.mean),
                       format_interval(analysis.busy));
  }
  if (verdict.together)
    return waiting_words(record, analysis) + ": " + together_words(record, analysis, verdict);
  if (verdict.no_gain) {
    const Cause cause = verdict.candidates.front();
    const bool is_of_ranks = cause == Cause::launch && verdict.candidates.size() == 1 &&
                             waits_for_longer_steps(record, analysis.account);
    return waiting_words(record, analysis) + ", mostly for " +
           join(verdict.candidates, "or", record, analysis) +
           (is_of_ranks ? ": " + explain(cause, analysis.account, record) : "") +
           no_gain_words(verdict);
  }
  if (verdict.hidden) {
    return waiting_words(record, analysis) + ": " + describe_limit(record, analysis, verdict) +
           "; " + describe_hidden(record, analysis, *verdict.hidden);
  }
  if (verdict.bound_by) {
    return waiting_words(record, analysis) +
           cause_words(record, analysis, verdict.candidates.front());
  }
  return waiting_words(record, analysis) + undecided_words(record, analysis, verdict);
}

std::string rate_sentence(const RunRecord& record, const Analysis& analysis,
                          const Verdict& verdict) {
  if (verdict.withheld_reason && analysis.steps < kMinSteps)
    return "no verdict: " + *verdict.withheld_reason;
  std::string text = "the loader gives " + format_rate(analysis.samples_per_s);
  if (verdict.withheld_reason) return text + "; no verdict: " + *verdict.withheld_reason;
  if (verdict.together) return text + "; " + together_words(record, analysis, verdict);
  text += ", limited by " + join(verdict.candidates, "or", record, analysis);
  if (verdict.no_gain) return text + no_gain_words(verdict);
  return verdict.hidden ? text + "; " + describe_hidden(record, analysis, *verdict.hidden) : text;
}

// Returns whether the rate suffices, with the margin, as far as its interval allows.
std::string demand_words(const RunRecord& record, const Analysis& analysis) {
  const double demand = record.config.trainer.demand;
  if (demand <= 0 || analysis.steps < kMinSteps) return "";
  const Estimate& rate = analysis.samples_per_s;
  const std::string needed = "; " + count_rate_to_text(demand) + " needed: ";
  if (rate.low >= demand) {
    return needed + "enough, " + format_percent(rate.mean / demand - 1) + " to spare";
  }
  if (rate.high < demand)
    return needed + "not enough, " + format_percent(rate.mean / demand) + " of it";
  return needed + "cannot tell, " + format_percent(rate.mean / demand) + " of it";
}

}  // namespace

bool speaks_of_gains(const Analysis& analysis, const Verdict& verdict) {
  const auto is_known = [](Cause cause) { return cause != Cause::other; };
  return !verdict.withheld_reason && !verdict.bound_by && !verdict.no_gain && !verdict.together &&
         analysis.removals.basis != RemovalBasis::account &&
         std::any_of(verdict.candidates.begin(), verdict.candidates.end(), is_known);
}

std::string_view what_computes(const RunConfig& config) {
  return device_kind(config.trainer.device.value) == DeviceKind::program ? "training" : "the GPU";
}

std::string limit_words(const RunRecord& record) {
  if (is_seen_from_host(record)) return "the training itself is the limit";
  return count_gpus(record) > 1 ? "the GPUs are the limit" : "the GPU is the limit";
}

std::string explain(Cause cause, const Account& account, const RunRecord& record) {
  switch (cause) {
    case Cause::transport:
      return "finished batches are on their way to the trainer";
    case Cause::pin:
      return "batches are copied into page-locked memory";
    case Cause::h2d:
      return "the device computes nothing during the copies";
    case Cause::launch:
      if (waits_for_other_loaders(record, account))
        return "the training waits for the batches of another loader";
      if (waits_for_sampler(record, account))
        return "the sampler chooses samples in the trainer's own thread";
      if (waits_for_wrapper(record, account))
        return "what the loader is wrapped in handles its batches in the trainer's own thread";
      if (waits_for_notifications(record, account))
        return "notifications from other hosts arrive late";
      if (waits_for_longer_steps(record, account))
        return "steps last unequally long, and each rank waits for the rank whose step is longest";
      return account.not_asking > account.launching
                 ? "a batch is ready and the trainer is busy with something else"
                 : "the trainer is slow between taking a batch and its compute";
    case Cause::contention: {
      if (const double stopped = stopped_by_quota(record); stopped >= kMinReportedShare)
        return "the CPU quota stops the threads " + format_percent(stopped) + " of the time";
      const std::string others = describe_others(record);
      return others.empty() ? "more threads want to run than there are cores" : others;
    }
    case Cause::other:
      return "";
    default:
      break;
  }
  const auto most = std::max_element(account.why.begin(), account.why.end());
  if (*most <= 0) return "";
  if (waits_for_device(account) && !record.config.makes_on_device())
    return "the GPU decodes or augments each batch right before it computes";
  if (waits_for_device(account))
    return device_why_words(static_cast<Why>(most - account.why.begin()));
  return why_words(static_cast<Why>(most - account.why.begin()), record.config);
}

namespace {

// Returns ": it waits" with the main gap, its share and its steps: "the DataLoader (27.1 %), in 212
// of 300 steps"
std::string gap_words(const RunRecord& record, const Analysis& analysis, std::string_view waits) {
  const traces::GapRow* most = nullptr;
  double most_s = 0, steps = 0, all_steps = 0;
  for (std::size_t k = 0; k < traces::kGapKinds; ++k) {
    const auto kind = static_cast<traces::GapKind>(k);
    const auto fact = [&](traces::GapFact what) {
      return value_of(record.metrics, traces::metric_name(kind, what)).value_or(0);
    };
    if (fact(traces::GapFact::seconds) <= most_s) continue;
    most = &gap_row(kind);
    most_s = fact(traces::GapFact::seconds);
    steps = fact(traces::GapFact::steps);
  }
  if (most == nullptr || analysis.account.window <= 0) return "";
  for (const RankRecord& rank : record.ranks) all_steps += static_cast<double>(rank.steps());
  const double share = 1e9 * most_s / static_cast<double>(analysis.account.window);
  std::string text =
      fmt::format(": {} mostly for {} ({})", waits, most->phrase, format_percent(share));
  if (all_steps > static_cast<double>(record.ranks.size()))
    text += fmt::format(", in {:.0f} of {:.0f} steps", steps, all_steps);
  return text;
}

// Returns the sentence for a trace: what the GPU did, and what it waited for in the words of its
// gaps.
std::string trace_sentence(const RunRecord& record, const Analysis& analysis,
                           const Verdict& verdict) {
  if (analysis.steps == 0) return "no verdict: " + verdict.withheld_reason.value_or("");
  const bool are_gpus = !is_seen_from_host(record) && record.ranks.size() > 1;
  const std::string_view who = are_gpus ? "GPUs" : is_seen_from_host(record) ? "training" : "GPU";
  std::string text = fmt::format("{} busy {} of the time", who, format_percent(analysis.busy.mean));
  if (analysis.steps > 1) text += fmt::format(" ({})", format_interval(analysis.busy));
  if (verdict.bound_by == "compute") return limit_words(record) + ": " + text;
  text += gap_words(record, analysis, are_gpus ? "they wait" : "it waits");
  if (verdict.withheld_reason) text += "; no verdict: " + *verdict.withheld_reason;
  return text;
}

}  // namespace

namespace {

// Adds to the sentence whether the rate suffices, an interruption, and a simulated device.
std::string completed(std::string text, const RunRecord& record, const Analysis& analysis) {
  text += demand_words(record, analysis);
  if (record.interrupted) {
    text += "; interrupted after " +
            plural(analysis.steps, record.input_ended_in_warmup ? "step" : "measured step");
  }
  if (!record.simulated) return capitalised(std::move(text));
  const auto& why = record.machine.unusable_gpu;
  return why ? fmt::format("Simulated ({}): {}", *why, text) : "Simulated: " + text;
}

}  // namespace

std::string verdict_sentence(const RunRecord& record, const Analysis& analysis,
                             const Verdict& verdict) {
  if (is_trace_engine(record.engine)) return capitalised(trace_sentence(record, analysis, verdict));
  return completed(analysis.has_busy ? busy_sentence(record, analysis, verdict)
                                     : rate_sentence(record, analysis, verdict),
                   record, analysis);
}

std::string fix_sentence(const RunRecord& record, const Analysis& analysis, Cause fixed) {
  const std::string begin = analysis.has_busy
                                ? waiting_words(record, analysis)
                                : "the loader gives " + format_rate(analysis.samples_per_s);
  const std::string why = explain(fixed, analysis.account, record);
  return completed(
      fmt::format("{}; what can be changed is {}{}", begin, with_share(fixed, record, analysis),
                  why.empty() ? "" : " (" + why + ")"),
      record, analysis);
}

}  // namespace loaderscope
