#include "source/parallel.h"

#include <algorithm>
#include <atomic>

#include "base/thread_team.h"
#include "loaderscope/errors.h"

namespace loaderscope {

void SourceContext::throw_if_stopped() const {
  if (stopped()) throw RunError("the data set: stopped while it was being opened", "start again");
}

namespace source {
namespace {

constexpr std::int64_t kIndexesAtOnce = 32;  // indexes that a thread takes at a time

}  // namespace

void for_each_index(std::int64_t count, std::string_view doing, const SourceContext& context,
                    const std::function<void(std::int64_t)>& work) {
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  const auto take_turns = [&] {
    for (std::int64_t first = 0; (first = next.fetch_add(kIndexesAtOnce)) < count;) {
      const std::int64_t end = std::min(first + kIndexesAtOnce, count);
      for (std::int64_t i = first; i < end && !context.stopped() && !failed; ++i) {
        try {
          work(i);
        } catch (...) {
          failed = true;
          throw;
        }
      }
    }
  };
  const std::int64_t wanted = (count + kIndexesAtOnce - 1) / kIndexesAtOnce;
  const int threads = static_cast<int>(std::min<std::int64_t>(wanted, kWaitingThreads));
  ThreadTeam(nullptr).run(threads, take_turns, [&] {
    if (context.on_progress) context.on_progress({doing, std::min(next.load(), count), count});
  });
  context.throw_if_stopped();
}

}  // namespace source
}  // namespace loaderscope
