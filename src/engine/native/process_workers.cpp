#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>

#include "base/failure_text.h"
#include "base/shared_memory.h"
#include "engine/native/worker.h"
#include "engine/native/worker_group.h"
#include "engine/native/zygote.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

using State = WorkerProcess::State;

constexpr Nanos kLookAtStopEvery = 50 * kMillisecond;  // interval of polls of the job's stop flag

class ProcessWorkers : public WorkerGroup {
 public:
  ProcessWorkers(Job& job, const RankShares& shares, SharedMemory& memory)
      : job_(job),
        shares_(shares),
        workers_(static_cast<std::size_t>(job.plan.workers)),
        table_(place<ProcessTable>(memory, shares.size() * workers_, memory)),
        bodies_{[this](Zygote::Order& order) { before_fork(order.start); },
                [this](const Zygote::Order& order) { work(order); }} {
    memory.close();
    zygote_ = std::make_unique<Zygote>(*table_, job.stop, bodies_);
  }

  void start(std::int32_t rank, const Start& start) override;
  void join(std::int32_t rank) override;
  void look() override;
  bool ended() override;
  void kill() override;
  OtherProcesses processes() const override;

 private:
  std::size_t first_process(std::int32_t rank) const {
    return static_cast<std::size_t>(rank) * workers_;
  }
  void before_fork(Start& start);
  void work(const Zygote::Order& order);
  void complain(std::size_t index) const;  // throws if the process at that place did not end well
  std::string describe_task(std::size_t index) const;
  template <class Done>
  void wait_until(std::unique_lock<ProcessMutex>& lock, Done done) const;

  Job& job_;
  const RankShares& shares_;
  const std::size_t workers_;  // per rank
  ArenaPtr<ProcessTable> table_;
  Zygote::Bodies bodies_;
  std::unique_ptr<Zygote> zygote_;
  bool killed_ = false;
};

// In the zygote, and in the processes that it forks.

// A fork server does itself what otherwise the trainer does.
void ProcessWorkers::before_fork(Start& start) {
  const LoaderPlan& plan = job_.plan;
  if (!plan.server_forks) return;
  start.parent_time.begin = monotonic_now();
  if (!plan.startup_parent.active()) return;
  use_exact_sleeps();
  Sleeper sleeper(job_.stop);
  spend(plan.startup_parent, start.execution, sleeper);
}

void ProcessWorkers::work(const Zygote::Order& order) {
  Start start = order.start;
  start.parent_time.end = monotonic_now();
  nvtx::connect();
  RankShare& share = *shares_[static_cast<std::size_t>(start.execution.rank)];
  const std::int32_t index = start.execution.worker;
  WorkerFailure& failure = table_->processes[order.process].failure;
  const auto end_on_failure = [&failure](const auto& body) {
    try {
      body();
    } catch (...) {
      failure.keep(std::current_exception());
      ::_exit(1);  // ends the process even if the other thread waits
    }
  };
  end_on_failure([&] { job_.bind_worker(share.rank, index); });  // the feeder follows
  std::thread feeder([&] { end_on_failure([&] { feed(job_, share, index); }); });
  end_on_failure([&] { Worker(job_, share, index).run(start); });
  feeder.join();
}

// The rest runs in the trainer's process.

template <class Done>
void ProcessWorkers::wait_until(std::unique_lock<ProcessMutex>& lock, Done done) const {
  while (!done() && job_.stop.load(std::memory_order_relaxed) == 0)
    table_->changed.wait_for(lock, kLookAtStopEvery);
}

void ProcessWorkers::start(std::int32_t rank, const Start& start) {
  const std::size_t index = first_process(rank) + static_cast<std::size_t>(start.execution.worker);
  WorkerProcess& process = table_->processes[index];
  std::unique_lock lock(table_->mutex);
  complain(index);
  process.failure.clear();
  process.state = State::ordered;
  process.pid = 0;
  lock.unlock();
  zygote_->order({index, start});
  if (job_.plan.server_forks) return;
  lock.lock();
  wait_until(lock, [&] { return process.state != State::ordered; });
}

void ProcessWorkers::join(std::int32_t rank) {
  std::unique_lock lock(table_->mutex);
  for (std::size_t i = 0; i < workers_; ++i) {
    const WorkerProcess& process = table_->processes[first_process(rank) + i];
    wait_until(lock, [&] { return !process.busy(); });
  }
}

void ProcessWorkers::look() {
  if (killed_) return;
  if (const auto death = zygote_->death())
    throw RunError(*death, "run again, or give --executor threads");
  const std::lock_guard lock(table_->mutex);
  for (std::size_t index = 0; index < table_->processes.size(); ++index) complain(index);
}

void ProcessWorkers::complain(std::size_t index) const {
  const WorkerProcess& process = table_->processes[index];
  if (process.state != State::ended) return;
  if (process.failure.kept()) process.failure.rethrow();
  if (process.not_started != 0) {
    throw RunError("a worker process cannot be started (" +
                       std::string(std::strerror(process.not_started)) + ")",
                   "use fewer --num-workers or --ranks, or raise the limit with ulimit -u");
  }
  if (process.status == 0) return;
  const bool kernel_killed = WIFSIGNALED(process.status) && (WTERMSIG(process.status) == SIGKILL ||
                                                             WTERMSIG(process.status) == SIGBUS);
  throw RunError("worker " + std::to_string(index % workers_) + " of rank " +
                     std::to_string(index / workers_) + " (pid " + std::to_string(process.pid) +
                     ") " + describe_exit(process.status) + " " + describe_task(index),
                 kernel_killed ? "where memory ran out (see dmesg), use fewer --num-workers or a "
                                 "smaller --batch-size"
                               : "run it again with --executor threads in a debugger");
}

std::string ProcessWorkers::describe_task(std::size_t index) const {
  const WorkerQueues& queues =
      shares_[index / workers_]->queues(static_cast<std::int32_t>(index % workers_));
  const std::int64_t batch = queues.at_batch.load(), sample = queues.at_sample.load();
  if (batch < 0) return "between two batches";
  return "while making batch " + std::to_string(batch) +
         (sample < 0 ? "" : ", sample " + std::to_string(sample));
}

// Workers do not outlive the zygote.
bool ProcessWorkers::ended() {
  if (zygote_->death()) return true;
  const std::lock_guard lock(table_->mutex);
  return std::none_of(table_->processes.begin(), table_->processes.end(),
                      [](const WorkerProcess& process) { return process.busy(); });
}

void ProcessWorkers::kill() {
  killed_ = true;
  zygote_->end();
}

OtherProcesses ProcessWorkers::processes() const {
  OtherProcesses others;
  const std::lock_guard lock(table_->mutex);
  for (const WorkerProcess& process : table_->processes) {
    if (process.state == State::running) others.running.push_back(process.pid);
  }
  others.ended = table_->used;
  return others;
}

}  // namespace

std::unique_ptr<WorkerGroup> make_process_workers(Job& job, const RankShares& shares,
                                                  SharedMemory& memory) {
  return std::make_unique<ProcessWorkers>(job, shares, memory);
}

}  // namespace loaderscope::native
