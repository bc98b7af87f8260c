// The nested stages of a thread of the user's program.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "guest/protocol/page.h"
#include "record/stage_scope.h"

namespace loaderscope::guest {

class StageStack {
 public:
  // `current_work` receives the current work. Both outlive the object.
  StageStack(ThreadLog& log, CurrentWork& current_work)
      : current_work_(current_work), writer_(&log) {}

  // `is_timed`: calls are reported as stages.
  void begin_work(std::int64_t batch, bool is_timed);
  // Begins a sample by its number. kBetweenSamples handles the batch, kWholeBatch all samples at
  // once.
  void sample(std::int64_t sample);
  static constexpr std::int64_t kBetweenSamples = -1, kWholeBatch = -2;
  void enter(Stage stage);
  void leave(Bytes bytes);
  bool is_in_stage() const { return stages_.size() > 1; }
  void end_work(bool continues_elsewhere);

  // A call of a function that is a stage. A call within the same stage extends the current span, so
  // nested small calls cost little.
  struct Call {
    Stage stage;
    std::size_t depth;
    bool is_span;
    Nanos begun;
    Bytes read_around;
    Nanos named_around;
  };
  // `is_part`: the call belongs to any stage that it is called in.
  bool takes_call(bool is_part) const {
    return is_timed_ && !stages_.empty() && !(is_part && depth_ > 0);
  }
  Call begin_call(Stage stage);
  // Bytes that reads within the current call have reported, or that the call reports itself.
  Bytes read_inside() const { return read_inside_; }
  void set_read(Bytes bytes) { read_inside_ = bytes; }
  // Returns the duration without the named calls in it. `has_name`: the call is a named one for the
  // call around it.
  Nanos end_call(const Call& call, bool has_name);

  SpanWriter& writer() { return writer_; }

 private:
  void resume();  // continues the innermost stage
  void end_span();
  void say_stage();

  CurrentWork& current_work_;
  SpanWriter writer_;
  std::vector<Stage> stages_;  // empty: the thread makes no batch
  std::size_t depth_ = 0;      // stages and calls
  Bytes read_inside_ = 0;
  Nanos named_inside_ = 0;
  bool is_timed_ = false;
  bool is_in_sample_ = false;
  std::optional<StageScope> scope_;
};

}  // namespace loaderscope::guest
