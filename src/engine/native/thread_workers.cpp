#include "engine/native/worker.h"
#include "engine/native/worker_group.h"

namespace loaderscope::native {
namespace {

class ThreadWorkers : public WorkerGroup {
 public:
  ThreadWorkers(Job& job, const RankShares& shares) : job_(job), shares_(shares) {
    for (const auto& share : shares) threads_.emplace_back(share->worker_queues.size());
  }
  ~ThreadWorkers() override {
    for (std::size_t rank = 0; rank < shares_.size(); ++rank) {
      shares_[rank]->close();
      join(static_cast<std::int32_t>(rank));
    }
  }
  ThreadWorkers(const ThreadWorkers&) = delete;
  ThreadWorkers& operator=(const ThreadWorkers&) = delete;

  void start(std::int32_t rank, const Start& start) override {
    RankShare& share = *shares_[static_cast<std::size_t>(rank)];
    const std::int32_t index = start.execution.worker;
    Threads& threads = threads_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(index)];
    if (share.has_feeders)
      threads.feeder = job_.start([this, &share, index] {
        job_.bind_worker(share.rank, index);
        feed(job_, share, index);
      });
    threads.worker = job_.start([this, &share, start] {
      job_.bind_worker(share.rank, start.execution.worker);
      Worker(job_, share, start.execution.worker).run(start);
    });
  }

  void join(std::int32_t rank) override {
    for (Threads& threads : threads_[static_cast<std::size_t>(rank)]) {
      if (threads.worker.joinable()) threads.worker.join();
      if (threads.feeder.joinable()) threads.feeder.join();
    }
  }

  bool ended() override { return true; }  // all are threads of the job

 private:
  struct Threads {
    std::thread worker, feeder;
  };

  Job& job_;
  const RankShares& shares_;
  std::vector<std::vector<Threads>> threads_;  // indexed by rank and worker
};

}  // namespace

std::unique_ptr<WorkerGroup> make_thread_workers(Job& job, const RankShares& shares) {
  return std::make_unique<ThreadWorkers>(job, shares);
}

}  // namespace loaderscope::native
