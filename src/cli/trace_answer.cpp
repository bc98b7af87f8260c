#include "cli/trace_answer.h"

#include "job/version_text.h"
#include "loaderscope/predict.h"

namespace loaderscope {

TraceAnswer answer_of_traces(const traces::TraceOptions& options) {
  TraceAnswer answer;
  answer.record = traces::read_traces(options);
  answer.record.tool_version = version_number();
  answer.analysis = analyse(answer.record);
  add_findings(answer.analysis, answer.record, {});
  return answer;
}

}  // namespace loaderscope
