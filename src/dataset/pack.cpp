#include "dataset/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "base/mixed.h"
#include "base/team.h"
#include "dataset/manifest.h"
#include "dataset/random.h"
#include "dataset/shard_writer.h"
#include "source/file_source.h"

namespace loaderscope::dataset {
namespace {

constexpr std::int64_t kDrawn = 64;         // samples at most by which the size of all is estimated
constexpr std::int64_t kCompareEvery = 20;  // samples: of one of them the pixels are compared
constexpr double kPerMember = 512 + 256;    // a header, and half a block of padding
constexpr std::size_t kNamed = 10;          // samples that are left out

std::string shard_path(const std::string& folder, std::int64_t shard) {
  return fmt::format("{}/shard-{:06}.tar", folder, shard);
}

// What a thread packs samples with.
class Packer {
 public:
  Packer(const source::FileSource& source, const PackOptions& options)
      : source_(source), reader_(source.make_reader()), restart_rows_(options.restart_rows) {
    if (options.encode) recoder_.emplace(*options.encode, options.max_side);
    if (options.encode) suffix_ = row_of(options.encode->format).suffix;
  }

  // Valid until the next call. Throws SampleError.
  std::span<const std::byte> pack(std::int64_t sample) {
    const std::span<const std::byte> stored = reader_->read(sample);
    stored_bytes = std::ssize(stored);
    const std::span<const std::byte> made = recoder_ ? recoder_->recode(stored) : stored;
    if (!restart_rows_) return made;
    if (row_of(Format::jpeg).add_restarts(made, with_restarts_)) return with_restarts_;
    ++as_they_were;
    return made;
  }
  void measure_error() {
    if (recoder_) recoder_->measure_error();
  }
  PixelError error() const { return recoder_ ? recoder_->error() : PixelError{}; }

  // ".jpg"
  std::string suffix(std::int64_t sample) const {
    if (!suffix_.empty()) return suffix_;
    std::string suffix = std::filesystem::path(source_.describe(sample)).extension().string();
    std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                   [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return suffix;
  }

  Bytes stored_bytes = 0;         // of the last one
  std::int64_t as_they_were = 0;  // got no restart markers

 private:
  const source::FileSource& source_;
  std::unique_ptr<SampleReader> reader_;
  std::optional<Recoder> recoder_;
  bool restart_rows_;
  std::vector<std::byte> with_restarts_;
  std::string suffix_;  // of all; "": of each the file's own
};

// Mean bytes of a packed sample, by some of them; 0: none of those can be read.
double bytes_of_sample(const source::FileSource& source, const PackOptions& options) {
  Packer packer(source, options);
  Random random(0, 0);
  double sum = 0;
  std::int64_t read = 0;
  const std::int64_t drawn = std::min(kDrawn, source.size());
  for (std::int64_t i = 0; i < drawn; ++i) {  // one of each stretch of the folder
    const double at = (static_cast<double>(i) + random.uniform()) / static_cast<double>(drawn);
    const auto sample = static_cast<std::int64_t>(at * static_cast<double>(source.size()));
    try {
      sum += static_cast<double>(packer.pack(sample).size());
      ++read;
    } catch (const SampleError&) {  // it is counted when it is packed
    }
  }
  return read > 0 ? sum / static_cast<double>(read) : 0;
}

PackPlan plan_of(const source::FileSource& source, const PackOptions& options) {
  PackPlan plan;
  plan.samples = source.size();
  std::string path;
  for (std::int64_t sample = 0; sample < plan.samples; ++sample) {
    source.path_of(sample, path);
    const std::string_view below = std::string_view(path).substr(source.roots().front().size());
    for (const char c : below) plan.digest = mixed(plan.digest ^ static_cast<unsigned char>(c));
    plan.digest = mixed(plan.digest, source.label(sample));
    plan.has_labels = plan.has_labels || source.label(sample) != source.label(0);
  }
  if (options.most > 0) plan.samples = std::min(plan.samples, options.most);
  const double members = plan.has_labels ? 2 : 1;
  plan.bytes =
      static_cast<double>(plan.samples) * (bytes_of_sample(source, options) + members * kPerMember);
  const double shards = std::ceil(plan.bytes / static_cast<double>(options.shard_size));
  plan.shards = std::clamp<std::int64_t>(static_cast<std::int64_t>(shards), 1, plan.samples);
  return plan;
}

// Of all samples: the first of it are packed.
std::vector<std::int64_t> order_of(std::int64_t samples, const PackOptions& options) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), 0);
  if (options.in_order) return order;
  Random random(options.seed, 0);
  for (std::size_t left = order.size(); left > 1; --left) {
    const auto drawn = static_cast<std::size_t>(random.uniform() * static_cast<double>(left));
    std::swap(order[left - 1], order[drawn]);
  }
  return order;
}

class Packing {
 public:
  Packing(const source::FileSource& source, const PackOptions& options, const PackPlan& plan,
          const PackContext& context)
      : source_(source),
        options_(options),
        context_(context),
        order_(order_of(source.size(), options)),
        team_(context.stop_signal) {
    result_.plan = plan;
  }

  PackResult run() {
    const auto begin = std::chrono::steady_clock::now();
    team_.run(
        options_.threads, [this] { pack_shards(); }, [this] { show(); });
    result_.took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    result_.complete = written_ + result_.shards_found == result_.plan.shards;
    return std::move(result_);
  }

 private:
  // One thread's share: the next shard, until there is none.
  void pack_shards() {
    Packer packer(source_, options_);
    for (std::int64_t shard = next_++; shard < result_.plan.shards && !team_.stopping();
         shard = next_++) {
      if (is_written(shard_path(options_.to, shard))) {
        const std::lock_guard lock(mutex_);
        ++result_.shards_found;
        done_ += result_.plan.first(shard + 1) - result_.plan.first(shard);
      } else {
        pack_shard(packer, shard);
      }
    }
    const std::lock_guard lock(mutex_);
    result_.error.merge(packer.error());
    result_.as_they_were += packer.as_they_were;
  }

  void pack_shard(Packer& packer, std::int64_t shard) {
    ShardWriter writer(shard_path(options_.to, shard));
    std::int64_t samples = 0;
    Bytes stored = 0;
    for (std::int64_t at = result_.plan.first(shard); at < result_.plan.first(shard + 1); ++at) {
      if (team_.stopping()) return;
      if (add(packer, order_[static_cast<std::size_t>(at)], writer)) {
        ++samples;
        stored += packer.stored_bytes;
      }
      ++done_;
    }
    writer.finish();
    const std::lock_guard lock(mutex_);
    ++written_;
    result_.samples += samples;
    result_.stored += stored;
    result_.bytes += writer.bytes();
  }

  bool add(Packer& packer, std::int64_t sample, ShardWriter& writer) {
    try {
      const std::string key = fmt::format("{:09}", sample);
      writer.add(key + packer.suffix(sample), packer.pack(sample));
      if (sample % kCompareEvery == 0) packer.measure_error();
      if (!result_.plan.has_labels) return true;
      const std::string label = std::to_string(source_.label(sample));
      writer.add(key + ".cls", std::as_bytes(std::span(label)));
      return true;
    } catch (const SampleError& error) {
      skip(sample, error);
      return false;
    }
  }

  void skip(std::int64_t sample, const SampleError& error) {
    const std::lock_guard lock(mutex_);
    ++result_.skipped.samples;
    ++result_.skipped.by_kind[std::string(name_of(error.kind))];
    if (result_.skipped.first.size() >= kNamed) return;
    result_.skipped.first.push_back(shown_text(source_.describe(sample)) + ": " + error.what());
  }

  void show() const {
    if (context_.on_progress) context_.on_progress({done_, result_.plan.samples});
  }

  const source::FileSource& source_;
  const PackOptions& options_;
  const PackContext& context_;
  const std::vector<std::int64_t> order_;
  Team team_;
  std::atomic<std::int64_t> next_{0}, done_{0};
  std::mutex mutex_;
  PackResult result_;  // the plan is constant while threads run; the rest is behind mutex_
  std::int64_t written_ = 0;
};

std::string pattern_of(const PackOptions& options, const PackPlan& plan) {
  if (plan.shards == 1) return shard_path(options.to, 0);
  return fmt::format("{}/shard-{{{:06}..{:06}}}.tar", options.to, 0, plan.shards - 1);
}

std::string what_became(const PackResult& result) {
  std::string text = fmt::format(
      "{} packed into {}, {}, where the files had {}", plural(result.samples, "sample"),
      plural(result.plan.shards - result.shards_found, "shard"),
      show_size(static_cast<double>(result.bytes)), show_size(static_cast<double>(result.stored)));
  if (result.shards_found > 0)
    text += fmt::format(" ({} were there)", plural(result.shards_found, "shard"));
  if (result.as_they_were > 0)
    text += fmt::format("; {} got no restart markers: no JPEG, or not as libjpeg writes it",
                        plural(result.as_they_were, "sample"));
  if (result.error.squares > 0)
    text += fmt::format("; the pixels of {} are {:.1f} dB (PSNR) from what they were made from",
                        plural(result.error.images, "image"), result.error.decibels());
  return text;
}

}  // namespace

PackResult pack_dataset(const PackOptions& options, const PackContext& context) {
  check_options(options);
  SourceOptions opening;
  opening.paths = {options.from};
  SourceContext listing;
  listing.stop_signal = context.stop_signal;
  const auto source = open_files(opening, listing);
  const PackPlan plan = plan_of(*source, options);
  const MadeFolder folder = made_folder(options, plan);
  const FolderState before = state_of_folder(folder);
  make_folder(options.to);
  const FolderLock lock(options.to);
  if (before == FolderState::fresh) {
    demand_space(options.to, plan.bytes, "give a folder on a larger disk");
    write_manifest(folder, false);
  }
  PackResult result = Packing(*source, options, plan, context).run();
  if (result.complete && before != FolderState::complete) {
    lock.sync();
    write_manifest(folder, true);
  }
  return result;
}

std::string describe(const PackOptions& options, const PackResult& result) {
  const std::string place = shown_text(options.to);
  if (!result.complete)
    return place + ": stopped before all shards were written; the same command goes on";
  std::string text = place + ": ";
  if (result.shards_found == result.plan.shards) {
    text += result.plan.shards == 1
                ? "holds this shard already"
                : fmt::format("holds these {} already", plural(result.plan.shards, "shard"));
  } else {
    text += what_became(result);
  }
  if (result.skipped.samples > 0) {
    text += fmt::format("\n{} left out:", plural(result.skipped.samples, "sample"));
    for (const std::string& one : result.skipped.first) text += "\n  " + one;
  }
  return text +
         fmt::format("\nloaderscope run --data '{}'", shown_text(pattern_of(options, result.plan)));
}

}  // namespace loaderscope::dataset
