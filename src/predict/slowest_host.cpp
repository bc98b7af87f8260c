#include "predict/slowest_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/findings/finding_input.h"
#include "analysis/host_rates.h"
#include "analysis/host_subset.h"
#include "analysis/wording.h"
#include "predict/search_fix.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxRanks = 64;  // limit for the other hosts; further hosts resemble them

double rate_of_rank(const Prediction& prediction) {
  return prediction.samples_per_s / static_cast<double>(prediction.config.trainer.ranks.value);
}

// Returns the other hosts, up to the ranks that a model may have. Hosts that the rest waits for
// come first.
std::vector<std::size_t> other_hosts(const std::vector<HostRate>& hosts, std::size_t slowest) {
  std::vector<std::size_t> others;
  std::size_t ranks = 0;
  for (const std::size_t host : slowest_first(hosts)) {
    if (host == slowest || !hosts[host].is_measured()) continue;
    ranks += hosts[host].ranks;
    if (!others.empty() && ranks > kMaxRanks) break;
    others.push_back(host);
  }
  std::sort(others.begin(), others.end());
  return others;
}

// In units of `predicted`, which is of other ranks.
Prediction replace_host(const Prediction& predicted, Prediction others) {
  const auto ranks = static_cast<double>(predicted.config.trainer.ranks.value);
  others.samples_per_s = rate_of_rank(others) * ranks;
  others.config = predicted.config;
  others.base_samples_per_s = predicted.base_samples_per_s;
  others.base_busy = predicted.base_busy;
  others.base_measure = predicted.base_measure;
  others.is_unknown |= predicted.is_unknown;
  others.may_be_off = std::max(others.may_be_off, predicted.may_be_off);
  return others;
}

const FindingRow& row_of_host() {
  return *std::find_if(finding_table().begin(), finding_table().end(),
                       [](const FindingRow& row) { return row.look == straggler_host; });
}

std::string gain_words(const ScaledPrediction& promise) {
  std::string text = "; as fast as the others: ";
  if (promise.busy_after > 0)
    text += fmt::format("{} to {} busy, ", format_percent(promise.busy_before),
                        format_percent(promise.busy_after));
  return text + fmt::format("{} to {} samples/s", format_rate(promise.rate_before),
                            format_rate(promise.rate_after));
}

}  // namespace

std::optional<SlowestHost> slowest_host(const RunRecord& job, const Analysis& analysis) {
  if (is_model_engine(job.engine)) return std::nullopt;
  const std::vector<HostRate> hosts = host_rates(job, analysis);
  const std::optional<std::size_t> number = limiting_host(hosts);
  if (!number) return std::nullopt;
  SlowestHost slowest;
  slowest.name = hosts[*number].name;
  slowest.record = part_on_hosts(job, {*number});
  slowest.analysis = analyse(slowest.record);
  slowest.others = part_on_hosts(job, other_hosts(hosts, *number));
  return slowest;
}

OtherHosts::OtherHosts(const RunRecord& others, const std::atomic<int>* stop_signal)
    : model_(others, stop_signal) {}

Prediction OtherHosts::hold_back(Prediction predicted, const Changes& changes,
                                 const Knockouts& knockouts) const {
  Prediction others = model_.predict(changes, kSamplesOfPrediction, knockouts);
  if (rate_of_rank(others) >= rate_of_rank(predicted)) return predicted;
  return replace_host(predicted, std::move(others));
}

Prediction OtherHosts::predict_slowest(const Prediction& base) const {
  return replace_host(base, model_.predict({}));
}

void rewrite_for_job(const RunRecord& job, const Analysis& job_analysis, const SlowestHost& slowest,
                     const std::optional<Prediction>& as_the_others,
                     std::vector<Finding>& findings) {
  const double own = slowest.analysis.samples_per_s.mean;
  const double times = own > 0 ? job_analysis.samples_per_s.mean / own : 1;
  for (Finding& finding : findings) {
    finding.evidence = fmt::format("on {}: {}", slowest.name, finding.evidence);
    finding.rate_before *= times;
    finding.rate_after *= times;
  }
  const FindingInput facts(job, job_analysis);
  const std::optional<Candidate> seen = straggler_host(facts);
  if (!seen) return;
  Finding host = build_finding(facts, row_of_host(), *seen, {});
  if (as_the_others) add_figures(host, job_analysis, *as_the_others);
  // Inserts it after settings with about the same known gain.
  const double alike = kAboutAsMuch * seconds(job_analysis.account.window);
  const auto place = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return !finding.has_setting() || !finding.has_figures() ||
           finding.regained_s < host.regained_s - alike;
  });
  findings.insert(place, std::move(host));
}

void add_figures(Finding& finding, const Analysis& job_analysis, const Prediction& as_the_others) {
  const double regained = regained_share(as_the_others);
  if (regained < kMinReportedShare) return;
  const ScaledPrediction promise = scale_prediction(job_analysis, as_the_others);
  finding.rate_before = promise.rate_before;
  finding.rate_after = promise.rate_after;
  finding.busy_before = promise.busy_before;
  finding.busy_after = promise.busy_after;
  finding.regained_s = regained * seconds(job_analysis.account.window);
  finding.pytorch += gain_words(promise);
}

}  // namespace loaderscope
