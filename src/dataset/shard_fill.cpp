#include "dataset/shard_fill.h"

#include <mutex>

#include "base/thread_team.h"
#include "dataset/files.h"

namespace loaderscope::dataset {
namespace {

constexpr std::size_t kNamed = 10;  // samples that are left out

class ShardTeam {
 public:
  explicit ShardTeam(const ShardFilling& filling) : filling_(filling), team_(filling.stop_signal) {}

  ShardsFilled run() {
    team_.run(
        filling_.threads, [this] { write_shards(); },
        [this] {
          if (filling_.on_progress) filling_.on_progress(done_);
        });
    filled_.complete = filled_.written + filled_.found == plan().shards;
    if (filled_.complete && filling_.writer->finish != nullptr)
      filling_.writer->finish(filling_.container);
    return std::move(filled_);
  }

 private:
  const ShardPlan& plan() const { return filling_.container.plan; }

  // One thread's share: the next shard, until there is none.
  void write_shards() {
    SampleMaker& maker = filling_.make_maker();
    for (std::int64_t shard = next_++; shard < plan().shards && !team_.stopping();
         shard = next_++) {
      if (is_written(filling_.writer->stored_path(filling_.container, shard))) {
        const std::lock_guard lock(mutex_);
        ++filled_.found;
        const std::int64_t places = plan().first(shard + 1) - plan().first(shard);
        filled_.samples_found += places;
        done_ += places;
      } else {
        write_shard(maker, shard);
      }
    }
  }

  void write_shard(SampleMaker& maker, std::int64_t shard) {
    const auto writer = filling_.writer->open(filling_.container, shard);
    std::int64_t samples = 0;
    for (std::int64_t place = plan().first(shard); place < plan().first(shard + 1); ++place) {
      if (team_.stopping()) return;
      samples += add(maker, place, *writer) ? 1 : 0;
      ++done_;
    }
    writer->finish();
    const std::lock_guard lock(mutex_);
    ++filled_.written;
    filled_.samples += samples;
    filled_.bytes += writer->bytes();
  }

  bool add(SampleMaker& maker, std::int64_t place, ShardWriter& writer) {
    try {
      writer.add(maker.make(place));
      return true;
    } catch (const SampleError& error) {
      skip(place, error);
      return false;
    }
  }

  void skip(std::int64_t place, const SampleError& error) {
    const std::lock_guard lock(mutex_);
    ++filled_.skipped.samples;
    ++filled_.skipped.kind_counts[std::string(name_of(error.kind))];
    if (filled_.skipped.first.size() >= kNamed) return;
    filled_.skipped.first.push_back(shown_text(filling_.describe(place)) + ": " + error.what());
  }

  const ShardFilling& filling_;
  ThreadTeam team_;
  std::atomic<std::int64_t> next_{0}, done_{0};
  std::mutex mutex_;
  ShardsFilled filled_;  // protected by mutex_
};

}  // namespace

ShardsFilled fill_shards(const ShardFilling& filling) { return ShardTeam(filling).run(); }

}  // namespace loaderscope::dataset
