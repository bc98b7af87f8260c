// The part that all makers of stored samples share: reading, replaced stages, and samples that
// cannot be used.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/native/replay_pool.h"
#include "engine/native/sample_maker.h"

namespace loaderscope::native {

// Passes the sub-stages of a reader to the scope of the read.
class ReadStages final : public SubstageListener {
 public:
  void begin(StageScope& scope) { scope_ = &scope; }
  void enter(Stage stage) override { scope_->enter(stage); }
  void leave() override { scope_->leave(); }

 private:
  StageScope* scope_ = nullptr;
};

class DataMaker : public SampleMaker {
 public:
  DataMaker(const DataPipeline& pipeline, const std::atomic<int>& stop);

  void expect(std::span<const std::int64_t> samples) override { reader_->expect(samples); }
  int readahead_limit() const override {
    // Samples that the device keeps are read no more.
    const bool reads = reader_ && works(Stage::read) && pipeline_.resident == nullptr;
    return reads ? reader_->readahead_limit() : 0;
  }
  void begin_stream(std::int32_t rank, std::int32_t worker, std::int64_t epoch) override;
  // A sample that cannot be used is replaced by the next good one in the order of the data set.
  std::optional<MadeSample> make(const SampleTask& task, SpanWriter& spans) override;
  void replace(const SampleTask& task, std::int64_t sample, const SampleError& error) override;

 protected:
  // The input of a sample.
  struct Origin {
    std::int64_t sample;                       // sample whose stored bytes are used
    const ReplayPool::Sample* replayed;        // null: nothing that is kept in the pool
    std::span<const std::byte> streamed = {};  // bytes that the stream has read already
  };
  // Throws SampleError.
  virtual MadeSample make_one(const SampleTask& task, const Origin& origin, SpanWriter& spans) = 0;

  // Reads into `place`, or, if that is null, to where the reader has it. `keep` may be empty. It is
  // a part of the read, and copies what it needs.
  using Keep = std::function<void(std::span<const std::byte> stored)>;
  std::span<const std::byte> read(const SampleTask& task, const Origin& origin, SpanWriter& spans,
                                  std::byte* place = nullptr, const Keep& keep = {});
  // Returns the bytes that were read for this sample.
  Bytes deliver_stored(std::span<const std::byte> sample) const {
    return stream_ ? stream_->stored_bytes() : reader_->stored_bytes().value_or(std::ssize(sample));
  }

  bool works(Stage stage) const { return !pipeline_.plan->knockouts.has(stage); }

  // Spends the declared cost of the stage, in addition to its real work.
  void inject(Stage stage, const Execution& execution, StageScope& scope);

  const DataPipeline& pipeline_;

 private:
  // Requires `part` to be a part of the scope's stage.
  void inject_part(Stage part, const Execution& execution, StageScope& scope);
  std::span<const std::byte> origin_bytes(const Origin& origin, std::byte* place);
  const ReplayPool::Sample* substitute(std::int64_t sample) const;
  std::optional<MadeSample> make_next(SampleTask task, SpanWriter& spans);
  std::optional<std::span<const std::byte>> read_next(SpanWriter& spans);
  void report(std::int64_t epoch, std::int64_t sample, const std::string& name,
              const SampleError& error);

  ReadStages stages_;
  std::unique_ptr<SampleReader> reader_;  // null: the data is streamed
  std::unique_ptr<SampleStream> stream_;
  bool stream_ended_ = false;
  Sleeper sleeper_;
};

}  // namespace loaderscope::native
