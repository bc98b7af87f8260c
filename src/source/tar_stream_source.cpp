// Shards as a source that is only streamed.
#include <fmt/format.h>

#include "base/arithmetic.h"
#include "loaderscope/errors.h"
#include "source/named_files.h"
#include "source/range_cache.h"
#include "source/store.h"
#include "source/tar_stream.h"

namespace loaderscope::source {
namespace {

// Returns true for faults of a first shard that the later shards have, too.
bool is_of_no_use(SampleError::Kind kind) {
  using Is = SampleError::Kind;
  return kind == Is::damaged || kind == Is::unsupported || kind == Is::too_large;
}

class TarStreams final : public Source, public StreamSource, public Objects {
 public:
  TarStreams(const SourceOptions& options, std::vector<std::string> shards, std::int64_t buffer)
      : shards_(std::move(shards)), buffer_(buffer) {
    const auto member = options.words.find("member");
    if (member != options.words.end()) reading_.member = member->second;
    reading_.access = options;
    if (is_remote(shards_.front())) way_ = FileAccess::http;
    if (options.access != FileAccess::pread && options.access != way_) {
      notes_.push_back(fmt::format(
          "--access {} is for samples that are read by an index; a stream is read with {}",
          name_of(options.access), name_of(way_)));
    }
  }

  // Complains about a first shard that is none, before workers do, and weighs its first sample.
  void look_at_first(const SourceContext& context) {
    const std::string& path = shards_.front();
    ShardReading looking;  // has counts of its own
    looking.member = reading_.member;
    looking.access = reading_.access;
    HeldSample sample;
    SubstageListener no_listener;
    try {
      ShardSamples first(path, 0, looking, no_listener);
      if (!first.next(sample))
        throw RunError(shown_text(path) + ": " +
                       without_samples(reading_.member, first.chooser().others()));
      first_sample_ = std::ssize(sample.bytes());
      bytes_of_reader_ = first.memory();
      compression_ = first.compression();
    } catch (const SampleError& error) {
      if (sample.name.empty() && is_of_no_use(error.kind))
        throw add_place<RunError>(shown_text(path) + ": ", error);
    }  // the run will name it
    if (std::string note = note_of_cut(shards_, context); !note.empty())
      notes_.push_back(std::move(note));
  }

  std::int64_t size() const override { return kUnknownSize; }
  std::string describe(std::int64_t sample) const override {
    const auto shard = static_cast<std::size_t>(sample >> ShardSamples::kPlaceBits);
    const std::int64_t place = sample - ShardSamples::number(static_cast<std::int64_t>(shard), 0);
    return fmt::format("{}: sample {}", shards_[shard], place);
  }
  std::unique_ptr<SampleReader> make_reader() const override { return nullptr; }

  const StreamSource* streams() const override { return this; }
  std::unique_ptr<SampleStream> make_stream(const StreamConsumer& part,
                                            SubstageListener& stages) const override {
    return std::make_unique<TarStream>(shards_, reading_, buffer_, part, stages);
  }
  std::int64_t shards() const override { return std::ssize(shards_); }

  const Objects* stored_objects() const override { return this; }
  std::int64_t objects() const override { return std::ssize(shards_); }
  void get_path(std::int64_t object, std::string& path) const override {
    path = shards_[static_cast<std::size_t>(object)];
  }
  std::vector<std::string> roots() const override { return shards_; }

  std::optional<FileAccess> access() const override { return way_; }
  // Estimated from the first shard and its first sample. The others are unknown before they are
  // read.
  Bytes bytes_read_ahead() const override {
    return saturated_sum(bytes_of_reader_,
                         saturated_product(saturated_sum(buffer_, 1), first_sample_));
  }
  std::vector<std::string> notes() const override {
    std::vector<std::string> notes = notes_;
    if (const std::int64_t left_out = reading_.counts.left_out(); left_out > 0)
      notes.push_back(note_of_left_out(left_out));
    if (reading_.access.kept) {
      for (std::string& note : reading_.access.kept->notes()) notes.push_back(std::move(note));
    }
    return notes;
  }
  std::vector<Metric> metrics() const override {
    std::vector<Metric> metrics = reading_.counts.metrics();
    if (reading_.access.kept) reading_.access.kept->add_metrics(metrics);
    return metrics;
  }
  std::vector<Detail> details() const override {
    std::vector<Detail> details = details_of_requests(reading_.counts);
    if (compression_ != nullptr)
      details.push_back(
          {std::string(name_of(Stage::read_decompress)), std::string(compression_->row.name)});
    return details;
  }

 private:
  std::vector<std::string> shards_;
  std::int64_t buffer_;
  FileAccess way_ = FileAccess::pread;
  ShardReading reading_;
  Bytes first_sample_ = 0, bytes_of_reader_ = 0;
  const CompressionRow* compression_ = nullptr;  // compression of the first shard; null: none
  std::vector<std::string> notes_;
};

}  // namespace

std::unique_ptr<Source> open_tar_stream(const SourceOptions& options,
                                        const SourceContext& context) {
  auto streams = std::make_unique<TarStreams>(options, named_shards(options.paths).shards,
                                              count_parameter(options.words, "shuffle", 0, 0));
  streams->look_at_first(context);
  return streams;
}

}  // namespace loaderscope::source
