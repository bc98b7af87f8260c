// The spans of one worker that may still be asked for: a queue whose content is contiguous.
#pragma once

#include <cstdint>
#include <vector>

#include "record/book_step.h"

namespace loaderscope {

class SpanQueue {
 public:
  void push(const Span& span) { spans_.push_back(span); }

  void drop_front() {
    ++head_;
    dropped_ = true;
    // Moving the rest to the front costs each span less than one move on average.
    if (head_ >= 16 && head_ * 2 >= spans_.size()) {
      spans_.erase(spans_.begin(), spans_.begin() + static_cast<std::ptrdiff_t>(head_));
      head_ = 0;
    }
  }

  bool empty() const { return head_ == spans_.size(); }
  const Span& front() const { return spans_[head_]; }
  bool has_dropped() const { return dropped_; }

  WorkerTimeline timeline() const { return WorkerTimeline(spans_).subspan(head_); }
  std::int64_t held() const { return static_cast<std::int64_t>(spans_.size() - head_); }

 private:
  std::vector<Span> spans_;
  std::size_t head_ = 0;  // spans_[0, head_) are dropped
  bool dropped_ = false;  // ever
};

}  // namespace loaderscope
