#include "report/proof_text.h"

#include <fmt/format.h>

#include <cmath>

#include "analysis/wording.h"
#include "predict/proof_runs.h"

namespace loaderscope {
namespace {

constexpr const char* kInterrupted = "interrupted: the proof rests on what was measured until then";

// " (96.8-97.4)", "" without an interval.
std::string interval(const Measured& value, std::string (*show)(double)) {
  if (!value.low || !value.high) return "";
  const std::string low = show(*value.low), high = show(*value.high);
  return low == high ? "" : " (" + low + "-" + high + ")";
}

std::string format_points_of(double share) { return fmt::format("{:.1f}", 100 * share); }
std::string format_gain(double gain) { return fmt::format("{:.2f}", gain); }
std::string format_rate_of(double rate) { return format_rate(rate); }

std::string busy_words(const Measured& busy) {
  return format_percent(busy.mean) + interval(busy, format_points_of);
}

std::string rate_words(const Measured& rate) {
  return format_rate(rate.mean) + interval(rate, format_rate_of);
}

std::string what_was_done(const ProofCase& of) {
  return of.changes.empty() ? of.name : of.name + " (" + changes_to_text(of.changes) + ")";
}

// "predicted 97.0 %, measured 97.1 % busy (96.8-97.4)"
std::string figures(const Proof& proof, const ProofCase& of, const ProofOutcome& outcome) {
  std::string text;
  if (of.predicted) {
    const ProofRun& after = of.predicted->after;
    text = fmt::format("predicted {}, ", proof.has_busy ? format_percent(after.busy)
                                                        : format_rate(after.samples_per_s));
  }
  if (proof.has_busy) {
    return text + fmt::format("measured {} busy{}", format_percent(outcome.busy.mean),
                              interval(outcome.busy, format_points_of));
  }
  return text + fmt::format("measured {} samples/s{}", format_rate(outcome.samples_per_s.mean),
                            interval(outcome.samples_per_s, format_rate_of));
}

// "the rate x1.58, measured x1.57 (1.55-1.59)"
std::string gain_words(const ProofCase& of, const ProofOutcome& outcome) {
  if (outcome.gain.mean <= 0) return "";
  std::string text = "; rate ";
  if (of.predicted) text += fmt::format("x{} predicted, ", format_gain(of.predicted->gain()));
  return text + fmt::format("x{}{} measured", format_gain(outcome.gain.mean),
                            interval(outcome.gain, format_gain));
}

std::string words_of(ProofVerdict verdict) {
  const std::string word(name_of(verdict));
  return verdict == ProofVerdict::refuted ? word + ": leaving it out gives nothing" : word;
}

std::string line_of(const Proof& proof, const ProofCase& of) {
  if (!of.missing.empty()) return fmt::format("not proved: {}: {}", of.name, of.missing);
  if (of.runs.empty()) return fmt::format("not proved: {}: not run", what_was_done(of));
  const ProofOutcome outcome = outcome_of(proof, of);
  return fmt::format("{}: {} -> {}{}{}", words_of(outcome.verdict), what_was_done(of),
                     figures(proof, of, outcome), gain_words(of, outcome),
                     proof.exact ? "; both in the model, which is compared with itself" : "");
}

// "num-workers=4 helps: 571 (560-582) samples/s, 145 (143-147) without; x3.94 (3.85-4.03),
// predicted x5.03".
std::string tried_line(const Proof& proof, const ProofCase& of) {
  const std::string what = changes_to_text(of.changes);
  if (!of.missing.empty()) return fmt::format("not tried: {}: {}", what, of.missing);
  if (of.runs.empty() || proof.base.runs.empty())
    return fmt::format("not tried: {}: not run", what);
  const ProofOutcome tried = outcome_of(proof, of), present = outcome_of(proof, proof.base);
  const std::string_view verdict = !tried.helps          ? "may help or not"
                                   : *tried.helps        ? "helps"
                                   : tried.gain.high < 1 ? "makes it slower"
                                                         : "does not help";
  std::string text = fmt::format("tried: {} {}: {} samples/s, {} without; x{}{}", what, verdict,
                                 rate_words(tried.samples_per_s), rate_words(present.samples_per_s),
                                 format_gain(tried.gain.mean), interval(tried.gain, format_gain));
  if (of.predicted) text += fmt::format(", x{} predicted", format_gain(of.predicted->gain()));
  if (proof.exact) text += ", both in the model";
  return text;
}

std::string remark_of(const std::string& name, bool has_busy) {
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
    lines.push_back((tries ? "not tried: " : "not proved: ") + proof.reason);
  if (proof.reason.empty() && proof.asked != Prove::all) {
    for (const ProofCase& of : proof.cases)
      lines.push_back(tries ? tried_line(proof, of) : line_of(proof, of));
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
  for (const ProofCase& of : proof.cases) {
    DifferentialRow& row = rows.emplace_back();
    row.name = of.name;
    row.remark = !of.missing.empty() ? of.missing
                 : of.runs.empty()   ? "not run"
                                     : remark_of(of.name, proof.has_busy);
    if (of.runs.empty()) continue;
    const ProofOutcome outcome = outcome_of(proof, of);
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
