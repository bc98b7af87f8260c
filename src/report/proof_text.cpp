#include "report/proof_text.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/wording.h"
#include "predict/proof_runs.h"

namespace loaderscope {
namespace {

constexpr const char* kInterrupted =
    "the proof was interrupted and is based on what was measured until then";

// " (96.8-97.4)", "" without an interval.
std::string interval(const Measured& value, std::string (*show)(double)) {
  if (!value.low || !value.high) return "";
  const std::string low = show(*value.low), high = show(*value.high);
  return low == high ? "" : " (" + low + "-" + high + ")";
}

std::string format_points(double share) { return fmt::format("{:.1f}", 100 * share); }
std::string format_gain(double gain) { return fmt::format("{:.2f}", gain); }
std::string format_plain_rate(double rate) { return format_rate(rate); }

std::string busy_words(const Measured& busy) {
  return format_percent(busy.mean) + interval(busy, format_points);
}

std::string rate_words(const Measured& rate) {
  return format_rate(rate.mean) + interval(rate, format_plain_rate);
}

std::string what_was_done(const ProofCase& proof_case) {
  return proof_case.changes.empty()
             ? proof_case.name
             : proof_case.name + " (" + changes_to_text(proof_case.changes) + ")";
}

// "predicted 97.0 %, measured 97.1 % busy (96.8-97.4)"
std::string figures(const Proof& proof, const ProofCase& proof_case, const ProofOutcome& outcome) {
  std::string text;
  if (proof_case.predicted) {
    const ProofRun& after = proof_case.predicted->after;
    text = fmt::format("predicted {}, ", proof.has_busy ? format_percent(after.busy)
                                                        : format_rate(after.samples_per_s));
  }
  if (proof.has_busy) {
    return text + fmt::format("measured {} busy{}", format_percent(outcome.busy.mean),
                              interval(outcome.busy, format_points));
  }
  return text + fmt::format("measured {} samples/s{}", format_rate(outcome.samples_per_s.mean),
                            interval(outcome.samples_per_s, format_plain_rate));
}

// "the rate x1.58, measured x1.57 (1.55-1.59)"
std::string gain_words(const ProofCase& proof_case, const ProofOutcome& outcome) {
  if (outcome.gain.mean <= 0) return "";
  std::string text = "; rate ";
  if (proof_case.predicted)
    text += fmt::format("x{} predicted, ", format_gain(proof_case.predicted->gain()));
  return text + fmt::format("x{}{} measured", format_gain(outcome.gain.mean),
                            interval(outcome.gain, format_gain));
}

std::string verdict_words(ProofVerdict verdict) {
  const std::string word(name_of(verdict));
  return verdict == ProofVerdict::refuted ? word + ": leaving it out gives nothing" : word;
}

std::string proof_line(const Proof& proof, const ProofCase& proof_case) {
  if (!proof_case.missing.empty())
    return fmt::format("{} was not proved: {}", proof_case.name, proof_case.missing);
  if (proof_case.runs.empty())
    return fmt::format("{} was not proved: it did not run", what_was_done(proof_case));
  const ProofOutcome outcome = proof_outcome(proof, proof_case);
  return fmt::format("{}: {} -> {}{}{}", verdict_words(outcome.verdict), what_was_done(proof_case),
                     figures(proof, proof_case, outcome), gain_words(proof_case, outcome),
                     proof.exact ? "; both in the model, which is compared with itself" : "");
}

// "num-workers=4 was tried and helps: 571 (560-582) samples/s, 145 (143-147) without; x3.94
// (3.85-4.03), predicted x5.03".
std::string tried_line(const Proof& proof, const ProofCase& proof_case) {
  const std::string what = changes_to_text(proof_case.changes);
  if (!proof_case.missing.empty())
    return fmt::format("{} was not tried: {}", what, proof_case.missing);
  if (proof_case.runs.empty() || proof.base.runs.empty())
    return fmt::format("{} was not tried: it did not run", what);
  const ProofOutcome tried = proof_outcome(proof, proof_case),
                     present = proof_outcome(proof, proof.base);
  const std::string_view verdict = !tried.helps          ? "may help or not"
                                   : *tried.helps        ? "helps"
                                   : tried.gain.high < 1 ? "makes it slower"
                                                         : "does not help";
  std::string text =
      fmt::format("{} was tried and {}: {} samples/s, {} without; x{}{}", what, verdict,
                  rate_words(tried.samples_per_s), rate_words(present.samples_per_s),
                  format_gain(tried.gain.mean), interval(tried.gain, format_gain));
  if (proof_case.predicted)
    text += fmt::format(", x{} predicted", format_gain(proof_case.predicted->gain()));
  if (proof.exact) text += ", both in the model";
  return text;
}

std::string run_remark(const std::string& name, bool has_busy) {
  if (name == "delivered") return "delivered batches given again: copy, compute and trainer";
  if (name == "loader") return "making and moving batches";
  if (name == "device only") return has_busy ? "compute and the trainer" : "the trainer";
  if (name == "memory") return "decode, augment, collate, pin and copy";
  if (name == "cached") return "reading from the page cache";
  return "reading from the disk";
}

double step_seconds(const RunConfig& config, const Measured& rate) {
  return static_cast<double>(config.loader.batch_size * config.trainer.ranks) / rate.mean;
}

std::string format_seconds(double s) { return format_duration(std::llround(std::abs(s) * 1e9)); }

}  // namespace

std::vector<std::string> proof_lines(const Analysis& analysis) {
  if (!analysis.proof) return {};
  const Proof& proof = *analysis.proof;
  std::vector<std::string> lines;
  const bool tries = proof.asked == Prove::fix;
  if (!proof.reason.empty())
    lines.push_back((tries ? "Nothing was tried: " : "Nothing was proved: ") + proof.reason);
  if (proof.reason.empty() && proof.asked != Prove::all) {
    for (const ProofCase& proof_case : proof.cases)
      lines.push_back(tries ? tried_line(proof, proof_case) : proof_line(proof, proof_case));
  }
  if (proof.interrupted) lines.emplace_back(kInterrupted);
  return lines;
}

std::vector<DifferentialRow> differential_rows(const RunRecord& record, const Analysis& analysis) {
  std::vector<DifferentialRow> rows;
  if (!analysis.proof || analysis.proof->asked != Prove::all || !analysis.proof->reason.empty())
    return {};
  const Proof& proof = *analysis.proof;
  double before = 0;
  for (const ProofCase& proof_case : proof.cases) {
    DifferentialRow& row = rows.emplace_back();
    row.name = proof_case.name;
    row.remark = !proof_case.missing.empty() ? proof_case.missing
                 : proof_case.runs.empty()   ? "not run"
                                             : run_remark(proof_case.name, proof.has_busy);
    if (proof_case.runs.empty()) continue;
    const ProofOutcome outcome = proof_outcome(proof, proof_case);
    if (proof.has_busy) row.busy = busy_words(outcome.busy);
    row.rate = rate_words(outcome.samples_per_s);
    const double step = step_seconds(record.config, outcome.samples_per_s);
    row.per_step = format_seconds(step);
    row.costs = (step < before ? "-" : "+") + format_seconds(step - before);
    before = step;
  }
  return rows;
}

}  // namespace loaderscope
