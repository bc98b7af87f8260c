// Results of a what-if, for people and as JSON.
#pragma once

#include <optional>
#include <ostream>

#include "loaderscope/predict.h"
#include "loaderscope/report.h"
#include "predict/gpu_work.h"
#include "predict/storage_values.h"
#include "report/result_visitor.h"

namespace loaderscope {

// One column: how the GPU's time is spent and at which rate.
struct WhatIfCase {
  std::string name;  // measured, fitted, predicted, verified
  double samples_per_s = 0;
  bool has_busy = false;
  Account account;
};

struct WhatIf {
  Changes changes;
  double gain = 1;                      // gain of the rate, in the model
  bool at_most = false;                 // only of results of older versions
  double may_be_off = 0;                // largest error of the predicted rate in both directions; 0
                                        // if unknown
  std::string why_not;                  // reason for a missing prediction; "" if there is one
  std::string why_not_run;              // reason why --verify cannot run the changes, or ""
  std::optional<WhatIfCase> measured;   // the base case; not when it was only declared
  WhatIfCase fitted;                    // the base case in the model
  std::optional<WhatIfCase> predicted;  // empty if its rate is too uncertain to print
  std::optional<WhatIfCase> verified;   // the changes, run for real
  std::vector<StorageValue> storage;    // changed values of the storage, and their values in the
                                        // base case
  std::optional<GpuWork> gpu;           // price of work that moves to the GPU; empty if none does
  std::optional<WorkerMemory> memory;   // memory of the added workers, if it is much
  std::optional<GoodnessOfFit> fit;
  std::optional<ResidentGain> resident;  // set if the change keeps the data set on the device
  PastPredictions history;               // accuracy of earlier predictions
  std::vector<std::string> notes;
};

WhatIfCase what_if_case(std::string name, const Prediction& prediction);
WhatIfCase what_if_case(std::string name, const Analysis& analysis);
// The prediction for a measured run; see scale_prediction().
WhatIfCase what_if_case(std::string name, const Prediction& prediction, const Analysis& measured);

void write_what_if_text(TextReport& reading, const WhatIf& answer, const ReportStyle& style);
std::string draw_what_if(const WhatIf& answer);
void describe_what_if(ResultVisitor& form, WhatIf& answer);

}  // namespace loaderscope
