// State that all threads and processes of a job share.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engine/native/sample_maker.h"
#include "machine/binding.h"
#include "record/recorder.h"

namespace loaderscope::native {

class Job {
 public:
  Job(const LoaderPlan& p, Recorder* r, MakerFactory makers, bool writes, SlotFiller fill,
      std::atomic<int>& shared_stop)
      : plan(p),
        recorder(r),
        make_maker(std::move(makers)),
        writes_samples(writes),
        fill_slot(std::move(fill)),
        stop(shared_stop) {}

  const LoaderPlan& plan;
  Recorder* recorder;  // null: nothing is measured
  MakerFactory make_maker;
  bool writes_samples;               // samples are written to host memory
  SlotFiller fill_slot;              // may be empty
  std::vector<RankBinding> binding;  // one per rank; empty: nothing is bound
  std::atomic<int>& stop;            // not 0: every thread and process is to end soon

  // A thread of the job. What it throws stops the job: the first failure counts.
  std::thread start(std::function<void()> body);
  int alive() const { return alive_.load(std::memory_order_acquire); }  // threads not at their end
  void rethrow();
  // Binds the calling thread of that worker by --bind; -1: the pin thread.
  void bind_worker(std::int32_t rank, std::int32_t worker) const;
  // Reports of trainers for the job's own thread: the times of their first requests, and the steps
  // whose device times are known, in order per rank. A rank's first request comes no later than its
  // first step.
  struct Reports {
    std::vector<std::pair<std::int32_t, Nanos>> first_asks;
    std::vector<std::pair<std::int32_t, StepEvents>> steps;
  };
  void put_first_ask(std::int32_t rank, Nanos at);
  void put_step(std::int32_t rank, const StepEvents& events);
  const Reports& take_reports();  // valid until the next call

 private:
  void fail(std::exception_ptr failure);

  std::atomic<int> alive_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
  Reports reports_, taken_;
};

}  // namespace loaderscope::native
