// Slowest host of a job. It limits the job, so a fix of that host fixes the job, until the other
// hosts are slower.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "loaderscope/predict.h"
#include "predict/fitted_model.h"

namespace loaderscope {

// The host that the others wait for, and the others, each as a job of its own.
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
  // Throws the errors of FittedModel.
  OtherHosts(const RunRecord& others, const std::atomic<int>* stop_signal);

  // Returns the slower of two predictions with the same changes: `predicted` of the slowest host,
  // and that of the others.
  Prediction hold_back(Prediction predicted, const Changes& changes,
                       const Knockouts& knockouts) const;
  // Predicts the slowest host as if it were like the others. `base`: prediction of the slowest
  // host.
  Prediction predict_slowest(const Prediction& base) const;

 private:
  FittedModel model_;
};

// Rewrites the findings of the slowest host for the job. Adds a finding about the host itself, with
// its gain `as_the_others` if known.
void rewrite_for_job(const RunRecord& job, const Analysis& job_analysis, const SlowestHost& slowest,
                     const std::optional<Prediction>& as_the_others,
                     std::vector<Finding>& findings);

// Adds the rate of the job if its slow part were as fast as the others, also to the advice. Adds
// nothing if that is hardly more.
void add_figures(Finding& finding, const Analysis& job_analysis, const Prediction& as_the_others);

}  // namespace loaderscope
