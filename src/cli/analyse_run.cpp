#include "cli/analyse_run.h"

#include "experiment/prediction_history.h"
#include "loaderscope/predict.h"
#include "source/cache_folder.h"

namespace loaderscope {

Analysis analysed(const RunRecord& record, const std::atomic<int>* stop_signal) {
  Analysis analysis = analyse(record);
  add_findings(analysis, record, PredictionHistory(source::user_cache_folder()).summary(),
               stop_signal);
  return analysis;
}

}  // namespace loaderscope
