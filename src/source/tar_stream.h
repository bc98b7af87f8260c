// Shards as streams: who reads them owns the order, and no index is made. As webdataset does it:
// shards are split by rank and then by worker; each worker shuffles its own, and draws the samples
// that it reads one after another from a buffer.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "loaderscope/source.h"
#include "source/options.h"
#include "source/shard_samples.h"

namespace loaderscope::source {

class TarStream final : public SampleStream {
 public:
  // `buffer`: how many samples are drawn from; 0: all come in their order. What is given by
  // reference outlives the stream.
  TarStream(const std::vector<std::string>& shards, const ShardReading& reading,
            std::int64_t buffer, const StreamConsumer& part, SubstageListener& stages);

  void begin_epoch(std::int64_t epoch) override;
  std::optional<std::span<const std::byte>> next() override;
  Bytes stored_bytes() const override { return held_.stored_bytes; }
  std::int64_t sample() const override { return last_.number; }
  std::string place() const override;

 private:
  struct Last {
    std::int64_t number = 0;
    std::string name;
  };

  bool read(HeldSample& to);
  bool add_to_buffer();
  void draw();
  void set_last(const HeldSample& sample) { last_ = {sample.number, sample.name}; }

  const std::vector<std::string>& shards_;
  const ShardReading& reading_;
  SubstageListener& stages_;
  const std::size_t buffer_size_;
  const std::uint64_t seed_;       // seed of this part
  std::vector<std::int64_t> own_;  // shards in the order of the epoch
  std::int64_t epoch_ = 0, drawn_ = 0;
  std::size_t next_shard_ = 0;
  std::optional<ShardSamples> shard_;
  std::vector<HeldSample> buffer_;
  HeldSample held_, spare_;
  Last last_;
};

// Throws RunError, UsageError.
std::unique_ptr<Source> open_tar_stream(const SourceOptions& options, const SourceContext& context);

}  // namespace loaderscope::source
