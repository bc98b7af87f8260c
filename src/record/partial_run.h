// A run that failed after it had measured some steps, which are saved nevertheless.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "loaderscope/errors.h"
#include "loaderscope/run_record.h"

namespace loaderscope {

// First words of the message of a run that --timeout ended.
inline constexpr std::string_view kNoBatchCame = "no batch came for ";

class PartialRunError : public RunError {
 public:
  PartialRunError(const RunError& failure, RunRecord measured)
      : RunError(failure), record(std::make_shared<RunRecord>(std::move(measured))) {
    record->interrupted = true;
    record->notes.push_back(std::string("broken off: ") + what());
  }
  std::shared_ptr<RunRecord> record;  // shared, as exceptions are copied
};

}  // namespace loaderscope
