#include "experiment/data_facts.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "dataset/pack.h"
#include "experiment/settings.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"
#include "source/cache_state.h"
#include "source/registry.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLookedAt = 1000;  // files, by which the space of all is estimated
constexpr std::int64_t kMaxPacked = 2000;

Nanos since(Clock::time_point begin) {
  return std::chrono::nanoseconds(Clock::now() - begin).count();
}

Bytes disk_space(const Objects& objects) {
  const std::int64_t count = objects.objects();
  const std::int64_t looked_at = std::min(count, kLookedAt);
  double blocks = 0;
  std::string path;
  for (std::int64_t i = 0; i < looked_at; ++i) {
    objects.get_path(i * count / looked_at, path);
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) blocks += static_cast<double>(status.st_blocks);
  }
  constexpr double kBlock = 512;  // unit of st_blocks on every file system
  return static_cast<Bytes>(blocks * kBlock * static_cast<double>(count) /
                            static_cast<double>(std::max<std::int64_t>(looked_at, 1)));
}

struct Opened {
  std::unique_ptr<Source> source;
  const SourceRow* row;
  Nanos took;
};

// Opens the data like the first run does.
Opened opened(const RunConfig& base, const std::string& data, const SourceContext& context) {
  const std::string given = base.data.source.given ? base.data.source.value : "";
  const DataText said = parse_data(data, given);
  const SourceRow& row = said.row ? *said.row : source_row("files");
  SourceOptions options;
  options.index_file = base.data.index.value;
  options.use_index_cache = false;
  const auto begin = Clock::now();
  auto source = open_source(row.row.name, {data}, std::move(options), context);
  return {std::move(source), &row, since(begin)};
}

// A folder for what is thrown away.
class PassingFolder {
 public:
  PassingFolder() {
    path_ = (fs::temp_directory_path() / "loaderscope-pack-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr)
      throw RunError(path_ + ": cannot be made", "set TMPDIR to a folder that can be written");
  }
  ~PassingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PassingFolder(const PassingFolder&) = delete;
  PassingFolder& operator=(const PassingFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Repacking packed_share(const DataFacts& facts, const Source& source, const std::string& path,
                       bool is_cold, const std::atomic<int>& stop_signal) {
  if (is_cold && source.stored_objects() != nullptr) {
    CacheOptions cold;
    cold.mode = CacheState::cold;
    prepare_cache(*source.stored_objects(), cold);
  }
  const PassingFolder folder;
  dataset::PackOptions options;
  options.from = "files:" + path;
  options.to = folder.path() + "/shards";
  options.most = kMaxPacked;
  options.shard_size = Bytes{4} << 20;  // so that every thread has some
  dataset::PackContext context;
  context.stop_signal = &stop_signal;
  const dataset::PackResult result = dataset::pack_dataset(options, context);
  const auto samples = static_cast<double>(result.plan.samples);
  const double all_time = static_cast<double>(result.took) * static_cast<double>(facts.samples);
  return {result.plan.samples, result.took,
          facts.index + static_cast<Nanos>(all_time / std::max(samples, 1.0))};
}

}  // namespace

const Axis* data_axis(const Experiment& experiment) {
  if (is_guest_engine(experiment.base.engine.value)) return nullptr;
  for (const Axis& axis : experiment.axes) {
    const Field* field = find_field(axis.key);
    if (field != nullptr && field->repeats && field->is_about(about::kWhichData)) return &axis;
  }
  return nullptr;
}

std::vector<DataFacts> facts_of_data(const Experiment& experiment,
                                     const std::atomic<int>& stop_signal) {
  std::vector<DataFacts> all;
  const Axis* axis = data_axis(experiment);
  if (axis == nullptr) return all;
  SourceContext context;
  context.stop_signal = &stop_signal;
  for (const std::string& data : axis->values) {
    try {
      const Opened one = opened(experiment.base, data, context);
      DataFacts facts{data, source_traits(one.row->row.name).is_packed, 0, 0, one.took};
      facts.samples = std::max<std::int64_t>(one.source->size(), 0);
      if (const Objects* objects = one.source->stored_objects()) facts.disk = disk_space(*objects);
      all.push_back(std::move(facts));
    } catch (const RunError&) {
    } catch (const UsageError&) {
    }
  }
  return all;
}

std::vector<std::string> list_caches(const Experiment& experiment) {
  for (const Axis& axis : experiment.axes) {
    if (axis.key == "cache") return axis.values;
  }
  return {""};
}

std::optional<std::size_t> best_with(const Experiment& experiment, const SweepAnswer& answer,
                                     const std::string& data, const std::string& cache) {
  std::optional<std::size_t> best;
  const Axis& axis = *data_axis(experiment);
  for (std::size_t i = 0; i < experiment.cases.size(); ++i) {
    const Case& one = experiment.cases[i];
    if (!answer.rate[i] || setting_text(one, axis.key) != data) continue;
    if (!cache.empty() && setting_text(one, "cache") != cache) continue;
    if (!best || answer.rate[i]->mean > answer.rate[*best]->mean) best = i;
  }
  return best;
}

void measure_repacking(Experiment& experiment, const std::atomic<int>& stop_signal) {
  const std::vector<DataFacts>& data = experiment.data;
  const bool has_shards =
      std::any_of(data.begin(), data.end(), [](const DataFacts& one) { return one.is_packed; });
  if (data.empty() || data.front().is_packed || !has_shards || stop_signal.load() != 0) return;
  if (data.front().data != data_axis(experiment)->values.front()) return;
  const SweepAnswer answer = judge_sweep(experiment);
  const std::string cache = list_caches(experiment).front();
  const auto first = best_with(experiment, answer, data.front().data, cache);
  const bool wins = std::any_of(data.begin(), data.end(), [&](const DataFacts& one) {
    const auto other = best_with(experiment, answer, one.data, cache);
    return one.is_packed && first && other && answer.rate[*other]->low > answer.rate[*first]->high;
  });
  if (!wins) return;
  try {
    SourceContext context;
    context.stop_signal = &stop_signal;
    const Opened one = opened(experiment.base, data.front().data, context);
    const std::string path = parse_data(data.front().data, "files").path;
    experiment.repacking =
        packed_share(data.front(), *one.source, path, cache == "cold", stop_signal);
  } catch (const RunError& error) {
    experiment.notes.push_back(std::string("what repacking takes was not measured: ") +
                               error.what());
  }
}

}  // namespace loaderscope
