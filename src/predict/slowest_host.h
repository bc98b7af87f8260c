// Slowest host of a job. It limits the job, so a fix of that host fixes the job, until the other
// hosts are slower.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "predict/fitted_model.h"

namespace loaderscope {

// The host that the others wait for, and these, each as a job of its own.
struct SlowestHost {
  std::string name;
  RunRecord record;
  Analysis analysis;
  RunRecord others;
};

// Returns nothing if no host limits the job, or if the job was run in the model, which contains all
// hosts.
std::optional<SlowestHost> slowest_host(const RunRecord& job, const Analysis& analysis);

// Model of the other hosts on their own.
class OtherHosts {
 public:
  // Throws what FittedModel throws.
  OtherHosts(const RunRecord& others, const std::atomic<int>* stop_signal);

  // `predicted` of the slowest host, or of the others with the same changes, whichever is slower.
  Prediction hold_back(Prediction predicted, const Changes& changes,
                       const Knockouts& knockouts) const;
  // Were the slowest host like them; `base` is of it.
  Prediction in_its_place(const Prediction& base) const;

 private:
  FittedModel model_;
};

// Puts what was found on the slowest host in words of the job, with a finding of the host itself,
// and what it would give `as_the_others`, where that is known.
void rewrite_for_job(const RunRecord& job, const Analysis& of_job, const SlowestHost& slowest,
                     const std::optional<Prediction>& as_the_others,
                     std::vector<Finding>& findings);

}  // namespace loaderscope
