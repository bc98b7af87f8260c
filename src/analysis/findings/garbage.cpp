// Findings about the collections of garbage by Python's interpreter.
#include <fmt/format.h>

#include "analysis/findings/finding_input.h"

namespace loaderscope {
namespace {

constexpr double kWorthFreezing = 0.02;  // share of the time of a process

struct Collected {
  const char* who;
  double share, full;
};

Collected worst_collected(const FindingInput& facts) {
  const Collected worker = {"a worker", facts.metric(metric::gc_worker_share),
                            facts.metric(metric::gc_worker_full)};
  const Collected trainer = {"the trainer", facts.metric(metric::gc_trainer_share),
                             facts.metric(metric::gc_trainer_full)};
  return worker.share >= trainer.share ? worker : trainer;
}

}  // namespace

std::optional<Candidate> garbage_collection(const FindingInput& facts) {
  const Collected worst = worst_collected(facts);
  if (worst.share < kWorthFreezing) return std::nullopt;
  Candidate candidate;
  candidate.evidence = fmt::format("Python collects garbage for {} of the time of {}",
                                   format_percent(worst.share), worst.who);
  if (const double each = facts.metric(metric::gc_full_s); each > 0 && worst.full > 0) {
    candidate.evidence +=
        fmt::format("; a full collection takes {}, and {} had {:.1f} of them",
                    format_duration(static_cast<Nanos>(each * kSecond)), worst.who, worst.full);
  }
  candidate.pytorch =
      "import gc; gc.collect(); gc.freeze(), when the model and the data set are made and before "
      "the first batch: collections then leave out all objects that are there";
  return candidate;
}

}  // namespace loaderscope
