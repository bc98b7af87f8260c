// The stages that a thread of somebody else's program is in, one within the other.
#pragma once

#include <optional>
#include <vector>

#include "guest/protocol/page.h"
#include "record/stage_scope.h"

namespace loaderscope::guest {

class StageStack {
 public:
  // `doing`: where it says what it is in. Both outlive it.
  StageStack(ThreadLog& log, Doing& doing) : doing_(doing), writer_(&log) {}

  void begin_work(std::int64_t batch);
  // The number of a sample, or: none, but what handles the batch; all of them at once.
  void sample(std::int64_t sample);
  static constexpr std::int64_t kBetweenSamples = -1, kWholeBatch = -2;
  void enter(Stage stage);
  void leave(Bytes bytes);
  void end_work(bool goes_on_elsewhere);

  SpanWriter& writer() { return writer_; }

 private:
  void resume();  // the innermost stage goes on
  void say_stage();

  Doing& doing_;
  SpanWriter writer_;
  std::vector<Stage> stages_;  // empty: the thread makes no batch
  bool in_sample_ = false;
  std::optional<StageScope> scope_;
};

}  // namespace loaderscope::guest
