// The samples of a run that could not be used: counted by kind, the first ones named.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "engine/native/blocking_queue.h"
#include "loaderscope/run_record.h"
#include "loaderscope/source.h"

namespace loaderscope::native {

// Shared by all workers of a job.
class SampleErrors {
 public:
  void count(std::int64_t epoch, std::int64_t sample, const std::string& name,
             const SampleError& error);
  SkippedSamples summary() const;

  struct Forwarded {
    std::int64_t epoch, sample;
    SampleError::Kind kind;
    std::array<char, 1000> sentence;
  };
  using Outbox = BlockingQueue<Forwarded>;
  static constexpr std::size_t kUnderWay = 256;  // capacity of an outbox

  // Makes processes that are forked later put their counts into `outbox`, too. They wait while it
  // is full. If `stop` is not 0, they no longer wait.
  void share(Outbox& outbox, const std::atomic<int>& stop);
  void take_forwarded();  // call it often, in the process that shares

 private:
  bool add(std::int64_t epoch, std::int64_t sample, SampleError::Kind kind,
           const std::string& sentence);
  void forward(const Forwarded& error);

  Outbox* outbox_ = nullptr;  // null: there is one process
  const std::atomic<int>* stop_ = nullptr;
  pid_t owner_ = 0;
  mutable std::mutex mutex_;
  std::set<std::pair<std::int64_t, std::int64_t>> seen_;  // (epoch, sample): each counts once
  std::set<std::int64_t> named_;  // in summary_.first, once whatever the epoch
  SkippedSamples summary_;
};

}  // namespace loaderscope::native
