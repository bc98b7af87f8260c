#include "dataset/info.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "dataset/inspector.h"
#include "dataset/team.h"
#include "dataset/walk.h"

namespace loaderscope::dataset {
namespace {

// Paths on their way from the thread that walks to those that look; holds a bounded number of them.
class PathQueue {
 public:
  using Batch = std::vector<std::string>;
  static constexpr std::size_t kBatch = 128;

  explicit PathQueue(const Team& team) : team_(team) {}

  // False when the work is to stop.
  bool put(Batch batch) {
    std::unique_lock lock(mutex_);
    while (batches_.size() >= kMost) {
      if (team_.stopping()) return false;
      changed_.wait_for(lock, kPatience);
    }
    batches_.push_back(std::move(batch));
    changed_.notify_all();
    return !team_.stopping();
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  // Empty when there is no more, or the work is to stop.
  Batch take() {
    std::unique_lock lock(mutex_);
    while (batches_.empty() && !closed_ && !team_.stopping()) changed_.wait_for(lock, kPatience);
    if (batches_.empty() || team_.stopping()) return {};
    Batch batch = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_all();
    return batch;
  }

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::chrono::milliseconds kPatience{100};  // a signal handler wakes nobody

  const Team& team_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  bool closed_ = false;
};

class Inspection {
 public:
  Inspection(const std::string& path, const InfoContext& context)
      : context_(context), team_(context.stop_signal), queue_(team_) {
    info_.path = path;
    info_.checked = static_cast<bool>(context.make_decoder);
  }

  DatasetInfo run() {
    team_.run_beside(
        context_.threads, [&] { look(); }, [&] { lead(); });
    show();
    info_.interrupted = team_.stopping();
    return std::move(info_);
  }

 private:
  void look() {
    Inspector inspector(info_.path, context_.make_decoder ? context_.make_decoder() : nullptr);
    for (PathQueue::Batch batch = queue_.take(); !batch.empty(); batch = queue_.take()) {
      for (const std::string& path : batch) {
        if (team_.stopping()) break;
        bytes_ += inspector.inspect(path);
        ++files_;
      }
    }
    const std::lock_guard lock(mutex_);
    info_.merge(inspector.seen());
  }

  void lead() {
    struct Closer {
      PathQueue& queue;
      ~Closer() { queue.close(); }
    } closer{queue_};
    PathQueue::Batch batch;
    const auto hand_over = [&] {
      show_sometimes();
      return queue_.put(std::exchange(batch, {}));
    };
    const auto take_file = [&](std::string path) {
      batch.push_back(std::move(path));
      return batch.size() < PathQueue::kBatch || hand_over();
    };
    walk_files(info_.path,
               {take_file, [&](std::string path, int error) {
                  const std::lock_guard lock(mutex_);
                  ++info_.unreadable_folders;
                  info_.name_damaged(
                      {std::move(path), std::string("it cannot be read: ") + std::strerror(error)});
                }});
    if (!batch.empty()) hand_over();
  }

  void show() {
    if (context_.on_progress) context_.on_progress({files_, bytes_});
  }

  void show_sometimes() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_show_) return;
    next_show_ = now + std::chrono::milliseconds(100);
    show();
  }

  const InfoContext& context_;
  Team team_;
  PathQueue queue_;
  std::mutex mutex_;
  DatasetInfo info_;  // path and checked are constant while threads run; the rest is behind mutex_
  std::atomic<std::int64_t> files_{0}, bytes_{0};
  std::chrono::steady_clock::time_point next_show_;
};

}  // namespace

DatasetInfo inspect_dataset(const std::string& path, const InfoContext& context) {
  return Inspection(path, context).run();
}

}  // namespace loaderscope::dataset
