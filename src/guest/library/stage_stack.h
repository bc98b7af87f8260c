// The stages that a thread of somebody else's program is in, one within the other.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "guest/protocol/page.h"
#include "record/stage_scope.h"

namespace loaderscope::guest {

class StageStack {
 public:
  // `current_work`: where it says what it is in. Both outlive it.
  StageStack(ThreadLog& log, CurrentWork& current_work)
      : current_work_(current_work), writer_(&log) {}

  // `is_timed`: calls are told as stages.
  void begin_work(std::int64_t batch, bool is_timed);
  // The number of a sample, or: none, but what handles the batch; all of them at once.
  void sample(std::int64_t sample);
  static constexpr std::int64_t kBetweenSamples = -1, kWholeBatch = -2;
  void enter(Stage stage);
  void leave(Bytes bytes);
  bool is_in_stage() const { return stages_.size() > 1; }
  void end_work(bool goes_on_elsewhere);

  // A call of a function that is a stage. Within the stage itself it is part of the span that runs:
  // small calls of one stage within another cost little.
  struct Call {
    Stage stage;
    std::size_t depth;
    bool is_span;
    Nanos begun;
    Bytes read_around;
    Nanos named_around;
  };
  // `is_part`: of whatever stage it is called in.
  bool takes_call(bool is_part) const {
    return is_timed_ && !stages_.empty() && !(is_part && depth_ > 0);
  }
  Call begin_call(Stage stage);
  // What reads within the call that runs have told, or it tells itself.
  Bytes read_inside() const { return read_inside_; }
  void tell_read(Bytes bytes) { read_inside_ = bytes; }
  // How long it has taken, without the calls in it that have names. `has_name`: it is one of those
  // to the call around it.
  Nanos end_call(const Call& call, bool has_name);

  SpanWriter& writer() { return writer_; }

 private:
  void resume();  // the innermost stage goes on
  void end_span();
  void say_stage();

  CurrentWork& current_work_;
  SpanWriter writer_;
  std::vector<Stage> stages_;  // empty: the thread makes no batch
  std::size_t depth_ = 0;      // of stages and calls
  Bytes read_inside_ = 0;
  Nanos named_inside_ = 0;
  bool is_timed_ = false;
  bool in_sample_ = false;
  std::optional<StageScope> scope_;
};

}  // namespace loaderscope::guest
