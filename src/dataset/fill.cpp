#include "dataset/fill.h"

#include <atomic>

#include "base/thread_team.h"
#include "dataset/files.h"

namespace loaderscope::dataset {
namespace {

struct Counters {
  std::atomic<std::int64_t> next{0}, made{0}, found{0}, bytes{0};
};

// One thread's share: the next image, until there is none.
void make_images(const ShardFill& filling, Counters& counters, const ThreadTeam& team) {
  const std::unique_ptr<ImageMaker> maker = filling.make_maker();
  while (!team.stopping()) {
    const std::int64_t index = counters.next.fetch_add(1);
    if (index >= filling.count) return;
    const std::string path = filling.folder + "/" + filling.path_of(index);
    if (is_written(path)) {
      counters.found.fetch_add(1);
      continue;
    }
    const std::span<const std::byte> bytes = maker->make(index);
    write_whole(path, bytes);
    counters.bytes.fetch_add(std::ssize(bytes));
    counters.made.fetch_add(1);
  }
}

}  // namespace

MakeResult fill_folder(const ShardFill& filling, const MakeContext& context) {
  Counters counters;
  ThreadTeam team(context.stop_signal);
  const auto show = [&] {
    if (!context.on_progress) return;
    context.on_progress({counters.made + counters.found, filling.count, counters.bytes});
  };
  team.run(
      filling.threads, [&] { make_images(filling, counters, team); }, show);
  MakeResult result;
  result.made = counters.made;
  result.found = counters.found;
  result.bytes = counters.bytes;
  result.complete = result.made + result.found == filling.count;
  return result;
}

}  // namespace loaderscope::dataset
