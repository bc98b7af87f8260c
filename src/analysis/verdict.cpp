#include "analysis/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/wording.h"

namespace loaderscope {
namespace {

double share_of_window(Nanos part, const Account& account) {
  return account.window > 0 ? static_cast<double>(part) / static_cast<double>(account.window) : 0;
}

// One sentence with the next step, or nothing when a verdict may be given.
std::optional<std::string> reason_to_withhold(const RunRecord& record, const Analysis& analysis) {
  const Account& account = analysis.account;
  if (record.input_ended_in_warmup) {
    return "the input ended inside the warm-up, so nothing was measured in a steady state; give "
           "more --samples or --epochs, or a shorter --warmup";
  }
  if (analysis.steps == 0) {
    if (record.interrupted) return "no step was measured";
    return fmt::format("no step was measured; give --steps {}", enough_steps(record.config));
  }
  if (record.lost_spans > 0) {
    return fmt::format(
        "{} of the measurement {} lost, so the account has holes; measure with less other load on "
        "this machine or with a shorter --duration",
        plural(record.lost_spans, "span"), record.lost_spans == 1 ? "was" : "were");
  }
  if (analysis.steps < kFewestSteps) {
    const std::string few =
        fmt::format("{} {} measured and a verdict needs {}", plural(analysis.steps, "step"),
                    analysis.steps == 1 ? "was" : "were", kFewestSteps);
    if (record.interrupted) return few;
    const LongerRun longer = longer_run(record.config, analysis.steps);
    return few + fmt::format("; give --{} {}", longer.flag, longer.value);
  }
  const double still = value_of(record.metrics, "host.standstill_s").value_or(0);
  if (still > kMostStandstill * seconds(account.window)) {
    return fmt::format(
        "for {} of the window nothing of this program could run: it was stopped, or the machine "
        "was, and that is no waiting of the GPU; measure again",
        show_duration(std::llround(still * 1e9)));
  }
  if (!analysis.steady) {
    return "the run is not steady: the step time changed by 10 % or more between its two halves; "
           "give a longer --warmup or --duration";
  }
  const double other = share_of_window(account.stall[Cause::other], account);
  if (other > kMostOther) {
    return fmt::format(
        "{} of the window has no known cause, more than the {:.0f} % that a verdict allows; look "
        "at the worst steps of a result saved with --json",
        show_percent(other), 100 * kMostOther);
  }
  const double clamped = share_of_window(account.clamped, account);
  if (clamped > kMostClamped) {
    return fmt::format(
        "the clocks of host and device disagree by {} of the window, more than the {:.0f} % that a "
        "verdict allows; measure again with a longer --duration",
        show_percent(clamped), 100 * kMostClamped);
  }
  return std::nullopt;
}

std::vector<Cause> by_seconds(const Account& account) {
  std::vector<Cause> causes;
  for (std::size_t c = 0; c < kCauses; ++c) {
    const auto cause = static_cast<Cause>(c);
    if (cause != Cause::other && account.stall[cause] > 0) causes.push_back(cause);
  }
  std::stable_sort(causes.begin(), causes.end(),
                   [&](Cause a, Cause b) { return account.stall[a] > account.stall[b]; });
  return causes;
}

// The leading cause and those that it cannot be told apart from: the lead's interval reaches 0, or
// what no cause explains could make up for it.
std::vector<Cause> leaders(const Analysis& analysis, const Bootstrap& bootstrap) {
  const Account& account = analysis.account;
  const std::vector<Cause> causes = by_seconds(account);
  if (causes.empty()) return {Cause::other};
  const Cause first = causes.front();
  std::vector<Cause> result = {first};
  for (Cause next : std::span(causes).subspan(1)) {
    const Estimate lead = bootstrap.estimate([&](const StepSums& sums) {
      return sums.time > 0 ? (sums.stall[first] - sums.stall[next]) / sums.time : 0.0;
    });
    const bool hidden_by_other =
        account.stall[first] - account.stall[next] <= account.stall[Cause::other];
    if (lead.low <= 0 || hidden_by_other) result.push_back(next);
  }
  if (account.stall[first] <= account.stall[Cause::other]) result.push_back(Cause::other);
  return result;
}

// "decode", "decode or read", "decode, read or augment"
std::string either(const std::vector<Cause>& causes) {
  std::string text;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    if (i > 0) text += i + 1 == causes.size() ? " or " : ", ";
    text += name_of(causes[i]);
  }
  return text;
}

// Of somebody else's program the host sees its training, not its GPU.
bool is_seen_from_host(const RunRecord& record) { return record.config.device.value == "script"; }

std::string waiting_words(const RunRecord& record, const Analysis& analysis) {
  const double stall = 1 - analysis.busy.mean;
  const std::string_view who = is_seen_from_host(record) ? "training waits"
                               : record.ranks.size() > 1 ? "the GPUs wait"
                                                         : "the GPU waits";
  return fmt::format("{} {} of the time ({})", who, show_percent(stall),
                     show_points(analysis.busy.half_width()));
}

std::string limit_words(const RunRecord& record) {
  if (is_seen_from_host(record)) return "the training itself is the limit";
  return record.ranks.size() > 1 ? "the GPUs are the limit" : "the GPU is the limit";
}

// " for decode: capacity, ..." when that is nearly all of it, else ", chiefly for decode (24.9 %):
// ...".
std::string cause_words(const RunRecord& record, const Analysis& analysis, Cause cause) {
  const Account& account = analysis.account;
  const double part = static_cast<double>(account.stall[cause]);
  const bool nearly_all = part >= 0.95 * static_cast<double>(account.idle());
  std::string text =
      nearly_all ? fmt::format(" for {}", name_of(cause))
                 : fmt::format(", chiefly for {} ({})", name_of(cause),
                               show_percent(share_of_window(account.stall[cause], account)));
  const std::string why = explain(cause, account, record.config);
  return why.empty() ? text : text + ": " + why;
}

std::string busy_sentence(const RunRecord& record, const Analysis& analysis,
                          const Verdict& verdict) {
  if (verdict.withheld_reason) {
    if (analysis.steps == 0) return "no verdict: " + *verdict.withheld_reason;
    return waiting_words(record, analysis) + "; no verdict: " + *verdict.withheld_reason;
  }
  if (verdict.bound_by == "compute") {
    return fmt::format("{}: busy {} ({})", limit_words(record), show_percent(analysis.busy.mean),
                       show_points(analysis.busy.half_width()));
  }
  if (verdict.bound_by) {
    return waiting_words(record, analysis) +
           cause_words(record, analysis, verdict.candidates.front());
  }
  return waiting_words(record, analysis) + ", chiefly for " + either(verdict.candidates) +
         ", which cannot be told apart";
}

std::string rate_sentence(const Analysis& analysis, const Verdict& verdict) {
  if (analysis.steps == 0) return "no verdict: " + *verdict.withheld_reason;
  std::string text = "the loader gives " + show_rate(analysis.samples_per_s);
  if (verdict.withheld_reason) return text + "; no verdict: " + *verdict.withheld_reason;
  return text + ", limited by " + either(verdict.candidates);
}

// Whether the rate suffices, with the margin, as far as its interval allows.
std::string demand_words(const RunRecord& record, const Analysis& analysis) {
  const double demand = record.config.demand;
  if (demand <= 0 || analysis.steps == 0) return "";
  const Estimate& rate = analysis.samples_per_s;
  const std::string needed = "; " + spell_count_rate(demand) + " needed: ";
  if (rate.low >= demand) {
    return needed + "enough, " + show_percent(rate.mean / demand - 1) + " to spare";
  }
  if (rate.high < demand)
    return needed + "not enough, " + show_percent(rate.mean / demand) + " of it";
  return needed + "cannot tell, " + show_percent(rate.mean / demand) + " of it";
}

std::string sentence_of(const RunRecord& record, const Analysis& analysis, const Verdict& verdict) {
  std::string text = analysis.has_busy ? busy_sentence(record, analysis, verdict)
                                       : rate_sentence(analysis, verdict);
  text += demand_words(record, analysis);
  if (record.interrupted) {
    text += "; interrupted after " + plural(analysis.steps, "measured step");
  }
  return record.simulated ? "Simulated: " + text : capitalised(std::move(text));
}

std::string why_words(Why why, const RunConfig& config) {
  switch (why) {
    case Why::capacity:
      if (config.executor == Executor::opaque)
        return "capacity, the loader, which cannot be looked into, does not keep up";
      return config.num_workers == 0
                 ? "capacity, without workers the trainer makes every batch itself"
                 : "capacity, the workers never rest";
    case Why::depth:
      return "depth, the workers rested because the window was full";
    case Why::latency:
      return "latency, one batch takes longer than the window covers";
    case Why::epoch:
      return "epoch, its first batch is made from a standing start";
  }
  return "";
}

}  // namespace

LongerRun longer_run(const RunConfig& config, std::int64_t steps) {
  const std::int64_t enough = enough_steps(config);
  const bool input_ended = config.epochs > 0 && steps > 0 && !config.duration.given &&
                           (config.steps == 0 || steps < config.steps);
  if (!input_ended) return {"steps", enough};
  return {"epochs", (config.epochs * enough + steps - 1) / steps};
}

std::int64_t enough_steps(const RunConfig& config) {
  return std::max<std::int64_t>(100, 20 * std::clamp<std::int64_t>(config.num_workers, 1, 1 << 20));
}

std::string explain(Cause cause, const Account& account, const RunConfig& config) {
  switch (cause) {
    case Cause::transport:
      return "finished batches are on their way to the trainer";
    case Cause::pin:
      return "batches are copied into page-locked memory";
    case Cause::h2d:
      return "copies to the device are not hidden behind the compute";
    case Cause::launch:
      return account.not_asking > account.launching
                 ? "a batch is ready and the trainer is busy with something else"
                 : "the trainer is slow between taking a batch and its compute";
    case Cause::contention:
      return "more threads want to run than there are cores";
    case Cause::other:
      return "";
    default:
      break;
  }
  const auto most = std::max_element(account.why.begin(), account.why.end());
  if (*most <= 0) return "";
  return why_words(static_cast<Why>(most - account.why.begin()), config);
}

Verdict judge(const RunRecord& record, const Analysis& analysis, const Bootstrap& bootstrap) {
  Verdict verdict;
  verdict.withheld_reason = reason_to_withhold(record, analysis);
  if (!verdict.withheld_reason) {
    const double stall = share_of_window(analysis.account.idle(), analysis.account);
    if (analysis.has_busy && stall < kModerateStall) {
      verdict.bound_by = "compute";
    } else {
      verdict.candidates = leaders(analysis, bootstrap);
      if (verdict.candidates.size() == 1 && verdict.candidates.front() != Cause::other) {
        verdict.bound_by = std::string(name_of(verdict.candidates.front()));
      }
    }
    if (analysis.has_busy) {
      verdict.severity = stall < kModerateStall ? "none" : stall < kHighStall ? "moderate" : "high";
    }
  }
  verdict.sentence = sentence_of(record, analysis, verdict);
  return verdict;
}

}  // namespace loaderscope
