#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>

#include "base/process_end.h"
#include "base/shared_memory.h"
#include "engine/native/crew.h"
#include "engine/native/worker.h"
#include "engine/native/zygote.h"
#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

using State = Berth::State;

constexpr Nanos kLookAtStopEvery = 50 * kMillisecond;  // whether the job is to stop

class ProcessCrew : public Crew {
 public:
  ProcessCrew(Job& job, const Workshops& shops, SharedMemory& memory)
      : job_(job),
        shops_(shops),
        workers_(static_cast<std::size_t>(job.plan.workers)),
        roll_(place<Roll>(memory, shops.size() * workers_, memory)),
        bodies_{[this](Zygote::Order& order) { before_fork(order.start); },
                [this](const Zygote::Order& order) { work(order); }} {
    memory.close();
    zygote_ = std::make_unique<Zygote>(*roll_, job.stop, bodies_);
  }

  void start(std::int32_t rank, const Start& start) override;
  void join(std::int32_t rank) override;
  void look() override;
  bool ended() override;
  void kill() override;
  OtherProcesses processes() const override;

 private:
  std::size_t first_berth(std::int32_t rank) const {
    return static_cast<std::size_t>(rank) * workers_;
  }
  void before_fork(Start& start);
  void work(const Zygote::Order& order);
  void complain(std::size_t index) const;  // if the worker at that berth did not end well
  std::string in_hand(std::size_t index) const;
  template <class Done>
  void wait_until(std::unique_lock<ProcessMutex>& lock, Done done) const;

  Job& job_;
  const Workshops& shops_;
  const std::size_t workers_;  // per rank
  Placed<Roll> roll_;
  Zygote::Bodies bodies_;
  std::unique_ptr<Zygote> zygote_;
  bool killed_ = false;
};

// In the zygote, and in the processes that it forks.

// A fork server does itself what otherwise the trainer does.
void ProcessCrew::before_fork(Start& start) {
  const Plan& plan = job_.plan;
  if (!plan.server_forks) return;
  start.by_parent.begin = monotonic_now();
  if (!plan.startup_parent.active()) return;
  use_exact_sleeps();
  Sleeper sleeper(job_.stop);
  spend(plan.startup_parent, start.execution, sleeper);
}

void ProcessCrew::work(const Zygote::Order& order) {
  Start start = order.start;
  start.by_parent.end = monotonic_now();
  trace::connect();
  Workshop& shop = *shops_[static_cast<std::size_t>(start.execution.rank)];
  const std::int32_t index = start.execution.worker;
  WorkerFailure& failure = roll_->berths[order.berth].failure;
  const auto end_on_failure = [&failure](const auto& body) {
    try {
      body();
    } catch (...) {
      failure.keep(std::current_exception());
      ::_exit(1);  // whatever the other thread waits for
    }
  };
  std::thread feeder([&] { end_on_failure([&] { feed(job_, shop, index); }); });
  end_on_failure([&] { Worker(job_, shop, index).run(start); });
  feeder.join();
}

// In the trainer's process.

template <class Done>
void ProcessCrew::wait_until(std::unique_lock<ProcessMutex>& lock, Done done) const {
  while (!done() && job_.stop.load(std::memory_order_relaxed) == 0)
    roll_->changed.wait_for(lock, kLookAtStopEvery);
}

void ProcessCrew::start(std::int32_t rank, const Start& start) {
  const std::size_t index = first_berth(rank) + static_cast<std::size_t>(start.execution.worker);
  Berth& berth = roll_->berths[index];
  std::unique_lock lock(roll_->mutex);
  complain(index);
  berth.failure.clear();
  berth.state = State::ordered;
  berth.pid = 0;
  lock.unlock();
  zygote_->order({index, start});
  if (job_.plan.server_forks) return;
  lock.lock();
  wait_until(lock, [&] { return berth.state != State::ordered; });
}

void ProcessCrew::join(std::int32_t rank) {
  std::unique_lock lock(roll_->mutex);
  for (std::size_t i = 0; i < workers_; ++i) {
    const Berth& berth = roll_->berths[first_berth(rank) + i];
    wait_until(lock, [&] { return !berth.busy(); });
  }
}

void ProcessCrew::look() {
  if (killed_) return;
  if (const auto death = zygote_->death())
    throw RunError(*death + "; run again, or give --executor threads");
  const std::lock_guard lock(roll_->mutex);
  for (std::size_t index = 0; index < roll_->berths.size(); ++index) complain(index);
}

void ProcessCrew::complain(std::size_t index) const {
  const Berth& berth = roll_->berths[index];
  if (berth.state != State::ended) return;
  if (berth.failure.kept()) berth.failure.rethrow();
  if (berth.not_started != 0) {
    throw RunError("a worker process cannot be started (" +
                   std::string(std::strerror(berth.not_started)) +
                   "); use fewer --num-workers or --ranks, or raise the limit with ulimit -u");
  }
  if (berth.status == 0) return;
  const bool by_kernel = WIFSIGNALED(berth.status) &&
                         (WTERMSIG(berth.status) == SIGKILL || WTERMSIG(berth.status) == SIGBUS);
  throw RunError("worker " + std::to_string(index % workers_) + " of rank " +
                 std::to_string(index / workers_) + " (pid " + std::to_string(berth.pid) + ") " +
                 spell_end(berth.status) + " " + in_hand(index) +
                 (by_kernel ? "; where memory ran out (see dmesg), use fewer --num-workers or a "
                              "smaller --batch-size"
                            : "; run it again with --executor threads in a debugger"));
}

std::string ProcessCrew::in_hand(std::size_t index) const {
  const Post& post = shops_[index / workers_]->post(static_cast<std::int32_t>(index % workers_));
  const std::int64_t batch = post.at_batch.load(), sample = post.at_sample.load();
  if (batch < 0) return "with no batch in hand";
  return "while making batch " + std::to_string(batch) +
         (sample < 0 ? "" : ", sample " + std::to_string(sample));
}

// Workers do not outlive the zygote.
bool ProcessCrew::ended() {
  if (zygote_->death()) return true;
  const std::lock_guard lock(roll_->mutex);
  return std::none_of(roll_->berths.begin(), roll_->berths.end(),
                      [](const Berth& berth) { return berth.busy(); });
}

void ProcessCrew::kill() {
  killed_ = true;
  zygote_->end();
}

OtherProcesses ProcessCrew::processes() const {
  OtherProcesses others;
  const std::lock_guard lock(roll_->mutex);
  for (const Berth& berth : roll_->berths) {
    if (berth.state == State::running) others.running.push_back(berth.pid);
  }
  others.ended = roll_->used;
  return others;
}

}  // namespace

std::unique_ptr<Crew> make_process_crew(Job& job, const Workshops& shops, SharedMemory& memory) {
  return std::make_unique<ProcessCrew>(job, shops, memory);
}

}  // namespace loaderscope::native
