#include "engine/native/job.h"

#include <string>
#include <system_error>

#include "loaderscope/errors.h"

namespace loaderscope::native {

void Job::fail(std::exception_ptr failure) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(failure);
  stop.store(1);
}

std::thread Job::start(std::function<void()> body) {
  alive_.fetch_add(1, std::memory_order_relaxed);
  try {
    return std::thread([this, body = std::move(body)] {
      try {
        body();
      } catch (...) {
        fail(std::current_exception());
      }
      alive_.fetch_sub(1, std::memory_order_release);
    });
  } catch (const std::system_error& error) {
    alive_.fetch_sub(1, std::memory_order_relaxed);
    throw RunError("a thread of the loader cannot be started (" + error.code().message() +
                   "); use fewer --workers or --ranks, or raise the limit with ulimit -u");
  }
}

void Job::rethrow() {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
}

void Job::bind_worker(std::int32_t rank, std::int32_t worker) const {
  if (binding.empty()) return;
  const RankBinding& of_rank = binding[static_cast<std::size_t>(rank)];
  const CpuSet& cpus = worker < 0 ? of_rank.all : of_rank.workers[static_cast<std::size_t>(worker)];
  if (run_on(cpus)) return;
  throw RunError("bind: the kernel refuses CPUs " + cpu_list_to_text(cpus) +
                 ", which it allowed before; run again, or give --bind none");
}

void Job::put_first_ask(std::int32_t rank, Nanos at) {
  const std::lock_guard lock(mutex_);
  reports_.first_asks.emplace_back(rank, at);
}

void Job::put_step(std::int32_t rank, const StepEvents& events) {
  const std::lock_guard lock(mutex_);
  reports_.steps.emplace_back(rank, events);
}

// Both at once: a trainer may begin at any time.
const Job::Reports& Job::take_reports() {
  taken_.first_asks.clear();
  taken_.steps.clear();
  const std::lock_guard lock(mutex_);
  taken_.first_asks.swap(reports_.first_asks);
  taken_.steps.swap(reports_.steps);
  return taken_;
}

}  // namespace loaderscope::native
