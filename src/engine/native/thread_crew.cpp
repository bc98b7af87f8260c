#include "engine/native/crew.h"
#include "engine/native/worker.h"

namespace loaderscope::native {
namespace {

class ThreadCrew : public Crew {
 public:
  ThreadCrew(Job& job, const Workshops& shops) : job_(job), shops_(shops) {
    for (const auto& shop : shops) threads_.emplace_back(shop->posts.size());
  }
  ~ThreadCrew() override {
    for (std::size_t rank = 0; rank < shops_.size(); ++rank) {
      shops_[rank]->close();
      join(static_cast<std::int32_t>(rank));
    }
  }
  ThreadCrew(const ThreadCrew&) = delete;
  ThreadCrew& operator=(const ThreadCrew&) = delete;

  void start(std::int32_t rank, const Start& start) override {
    Workshop& shop = *shops_[static_cast<std::size_t>(rank)];
    const std::int32_t index = start.execution.worker;
    Threads& threads = threads_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(index)];
    if (shop.has_feeders)
      threads.feeder = job_.start([this, &shop, index] { feed(job_, shop, index); });
    threads.worker =
        job_.start([this, &shop, start] { Worker(job_, shop, start.execution.worker).run(start); });
  }

  void join(std::int32_t rank) override {
    for (Threads& threads : threads_[static_cast<std::size_t>(rank)]) {
      if (threads.worker.joinable()) threads.worker.join();
      if (threads.feeder.joinable()) threads.feeder.join();
    }
  }

  bool ended() override { return true; }  // they are the job's threads

 private:
  struct Threads {
    std::thread worker, feeder;
  };

  Job& job_;
  const Workshops& shops_;
  std::vector<std::vector<Threads>> threads_;  // by rank and worker
};

}  // namespace

std::unique_ptr<Crew> make_thread_crew(Job& job, const Workshops& shops) {
  return std::make_unique<ThreadCrew>(job, shops);
}

}  // namespace loaderscope::native
