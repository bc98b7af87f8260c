#include "cli/analyse_run.h"

#include "experiment/prediction_history.h"
#include "job/version_text.h"
#include "loaderscope/predict.h"
#include "source/cache_folder.h"

namespace loaderscope {

Analysis analysed(const RunRecord& record, const std::atomic<int>* stop_signal) {
  Analysis analysis = analyse(record);
  add_findings(analysis, record, PredictionHistory(source::user_cache_folder()).summary(),
               stop_signal);
  return analysis;
}

TraceAnswer answer_of_traces(const traces::TraceOptions& options) {
  TraceAnswer answer;
  answer.record = traces::read_traces(options);
  answer.record.tool_version = version_number();
  answer.analysis = analyse(answer.record);
  add_findings(answer.analysis, answer.record, {});
  return answer;
}

}  // namespace loaderscope
