// The work of one worker on stored samples. Image: read the stored bytes, decode what the crop
// needs, augment into the slot. Array: read it into the slot.
#include "engine/native/sample_maker.h"

#include <algorithm>

#include "loaderscope/errors.h"

namespace loaderscope::native {
namespace {

// Hands on what who reads says to the scope in which it does.
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
  DataMaker(const DataPipeline& pipeline, const std::atomic<int>& stop)
      : pipeline_(pipeline), reader_(pipeline.source->make_reader()), sleeper_(stop) {
    if (reader_) reader_->set_listener(stages_);
  }

  void expect(std::span<const std::int64_t> samples) override { reader_->expect(samples); }
  int readahead_limit() const override {
    return reader_ && works(Stage::read) ? reader_->readahead_limit() : 0;
  }

  void begin_stream(std::int32_t rank, std::int32_t worker, std::int64_t epoch) override {
    const LoaderPlan& plan = *pipeline_.plan;
    const auto seed = static_cast<std::uint64_t>(plan.config.measure.seed.value);
    if (!stream_) {
      stream_ = pipeline_.source->streams()->make_stream(
          {rank, plan.ranks, worker, plan.workers, seed}, stages_);
    }
    stream_->begin_epoch(epoch);
    stream_ended_ = false;
  }

  // A sample that cannot be used is replaced by the next good one in the order of the data set.
  std::optional<Bytes> make(const SampleTask& task, SpanWriter& spans) override {
    if (stream_) return make_next(task, spans);
    const std::int64_t size = pipeline_.source->size();
    std::int64_t sample = task.execution.draw;
    for (std::int64_t tried = 0; tried < size; ++tried, sample = (sample + 1) % size) {
      const ReplayPool::Sample* replayed = substitute(sample);
      const bool reads_replayed = replayed != nullptr && !works(Stage::read);
      const std::int64_t used = reads_replayed ? replayed->index : sample;
      try {
        return make_one(task, {used, replayed}, spans);
      } catch (const SampleError& error) {
        report(task.execution.epoch, used, pipeline_.source->describe(used), error);
      }
      if (sleeper_.stop().load(std::memory_order_relaxed) != 0) return 0;
    }
    throw none_usable(*pipeline_.source, pipeline_.errors->summary().first.front());
  }

 protected:
  // The input of a sample.
  struct Origin {
    std::int64_t sample;                       // sample whose stored bytes are used
    const ReplayPool::Sample* replayed;        // null: nothing that is kept in the pool
    std::span<const std::byte> streamed = {};  // bytes that the stream has read already
  };
  // Returns the stored bytes. Throws SampleError.
  virtual Bytes make_one(const SampleTask& task, const Origin& origin, SpanWriter& spans) = 0;

  // Into `place`, or, where that is null, wherever the reader has it.
  std::span<const std::byte> read(const SampleTask& task, const Origin& origin, SpanWriter& spans,
                                  std::byte* place = nullptr) {
    StageScope scope(spans, Stage::read, StageScope::Kind::runs);
    stages_.begin(scope);
    const std::span<const std::byte> stored = origin_bytes(origin, place);
    inject(Stage::read, task.execution, scope);
    inject_part(Stage::read_decompress, task.execution, scope);
    scope.handled(deliver_stored(stored));
    return stored;
  }
  // Returns the bytes that were read for this sample.
  Bytes deliver_stored(std::span<const std::byte> sample) const {
    return stream_ ? stream_->stored_bytes() : reader_->stored_bytes().value_or(std::ssize(sample));
  }

  bool works(Stage stage) const { return !pipeline_.plan->knockouts.has(stage); }

  void inject(Stage stage, const Execution& execution, StageScope& scope) {
    for (const StagePlan& plan : pipeline_.plan->sample_stages) {
      if (plan.stage() != stage) continue;
      const Nanos begin = monotonic_now();
      spend(plan, execution, sleeper_);
      if (!plan.uses_cpu()) scope.slept(begin);
    }
  }

  // Requires `part` to be a part of the scope's stage.
  void inject_part(Stage part, const Execution& execution, StageScope& scope) {
    for (const StagePlan& plan : pipeline_.plan->sample_stages) {
      if (plan.stage() != part) continue;
      scope.enter(part);
      inject(part, execution, scope);
      scope.leave();
      return;
    }
  }

  const DataPipeline& pipeline_;

 private:
  std::span<const std::byte> origin_bytes(const Origin& origin, std::byte* place) {
    if (!stream_)
      return place == nullptr ? reader_->read(origin.sample)
                              : reader_->read_to(origin.sample, place);
    if (place != nullptr) std::copy(origin.streamed.begin(), origin.streamed.end(), place);
    return origin.streamed;
  }

  const ReplayPool::Sample* substitute(std::int64_t sample) const {
    const ReplayPool* pool = pipeline_.replayed;
    return pool != nullptr && pool->has_samples() ? &pool->substitute(sample) : nullptr;
  }

  // The next of the stream that can be used. What is left out makes no batch shorter.
  std::optional<Bytes> make_next(SampleTask task, SpanWriter& spans) {
    while (sleeper_.stop().load(std::memory_order_relaxed) == 0) {
      try {
        const auto stored = read_next(spans);
        if (!stored) return std::nullopt;
        task.execution.draw = stream_->sample();
        make_one(task, {stream_->sample(), nullptr, *stored}, spans);
        return stream_->stored_bytes();
      } catch (const SampleError& error) {
        report(task.execution.epoch, stream_->sample(), stream_->place(), error);
      }
    }
    return std::nullopt;
  }

  // Reading on to the end is work for no batch.
  std::optional<std::span<const std::byte>> read_next(SpanWriter& spans) {
    if (stream_ended_) return std::nullopt;
    spans.begin_sample(-1);
    StageScope scope(spans, Stage::read, StageScope::Kind::runs);
    stages_.begin(scope);
    const auto stored = stream_->next();
    stream_ended_ = !stored;
    if (stored) {
      spans.begin_sample(stream_->sample());
    } else {
      spans.begin_batch(-1);
    }
    return stored;
  }

  void report(std::int64_t epoch, std::int64_t sample, const std::string& name,
              const SampleError& error) {
    if (pipeline_.fail_on_error) {
      throw RunError(name + ": " + error.what(),
                     "fix or remove it, or continue without it with --on-error skip");
    }
    pipeline_.errors->count(epoch, sample, name, error);
  }

  ReadStages stages_;
  std::unique_ptr<SampleReader> reader_;  // null: the data is streamed
  std::unique_ptr<SampleStream> stream_;
  bool stream_ended_ = false;
  Sleeper sleeper_;
};

class ImageMaker : public DataMaker {
 public:
  ImageMaker(const DataPipeline& pipeline, const std::atomic<int>& stop)
      : DataMaker(pipeline, stop),
        decoder_(make_any_decoder(pipeline.decode)),
        augmenter_(make_augmenter(pipeline.augment)) {}

 private:
  Bytes make_one(const SampleTask& task, const Origin& origin, SpanWriter& spans) override {
    std::span<const std::byte> stored;
    if (works(Stage::read)) {
      stored = read(task, origin, spans);
    } else if (works(Stage::decode)) {
      stored = origin.replayed->stored;
    }
    const auto bytes = static_cast<Bytes>(stored.size());
    Decoded decoded;
    if (works(Stage::decode)) {
      decoded = decode(task, origin.sample, stored, spans);
    } else if (works(Stage::augment)) {
      decoded = {origin.replayed->pixels, origin.replayed->recipe};
    }
    if (!works(Stage::augment)) return bytes;  // the slot holds finished samples
    StageScope scope(spans, Stage::augment, StageScope::Kind::runs, bytes);
    augmenter_->apply(decoded.pixels, decoded.recipe, task.place);
    inject(Stage::augment, task.execution, scope);
    return bytes;
  }

  struct Decoded {
    Pixels pixels;
    AugmentRecipe recipe;
  };
  Decoded decode(const SampleTask& task, std::int64_t sample, std::span<const std::byte> stored,
                 SpanWriter& spans) {
    StageScope scope(spans, Stage::decode, StageScope::Kind::runs,
                     static_cast<Bytes>(stored.size()));
    Decoded decoded;
    decoded.recipe = augmenter_->choose(task.execution.epoch, sample, decoder_->open(stored));
    decoded.pixels = decoder_->decode(decoded.recipe.region);
    inject(Stage::decode, task.execution, scope);
    return decoded;
  }

  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Augmenter> augmenter_;
};

// Read into the slot: nothing else is done to an array.
class ArrayMaker : public DataMaker {
 public:
  using DataMaker::DataMaker;

 private:
  Bytes make_one(const SampleTask& task, const Origin& origin, SpanWriter& spans) override {
    if (works(Stage::read)) return deliver_stored(read(task, origin, spans, task.place));
    const auto& stored = origin.replayed->stored;
    std::copy(stored.begin(), stored.end(), task.place);
    return std::ssize(stored);
  }
};

template <class Maker>
MakerFactory maker_factory(const DataPipeline& pipeline) {
  return
      [&pipeline](const std::atomic<int>& stop) { return std::make_unique<Maker>(pipeline, stop); };
}

}  // namespace

MakerFactory data_makers(const DataPipeline& pipeline) {
  return pipeline.form == SampleForm::array ? maker_factory<ArrayMaker>(pipeline)
                                            : maker_factory<ImageMaker>(pipeline);
}

namespace {

class DeclaredMaker : public SampleMaker {
 public:
  DeclaredMaker(const LoaderPlan& plan, const std::atomic<int>& stop)
      : plan_(plan), sleeper_(stop) {}

  std::optional<Bytes> make(const SampleTask& task, SpanWriter& spans) override {
    Execution execution = task.execution;
    execution.bytes = plan_.storage.stored_bytes(execution);
    for (const StagePlan& stage : plan_.sample_stages) {
      if (plan_.leaves_to_device(stage.stage(), execution)) continue;
      const auto kind = stage.uses_cpu() ? StageScope::Kind::runs : StageScope::Kind::waits;
      StageScope scope(spans, stage.stage(), kind, execution.bytes);
      spend(stage, execution, sleeper_);
    }
    return execution.bytes;
  }

 private:
  const LoaderPlan& plan_;
  Sleeper sleeper_;
};

}  // namespace

void spend(const StagePlan& stage, const Execution& execution, Sleeper& sleeper) {
  const Nanos ns = stage.draw(execution);
  if (stage.uses_cpu()) {
    burn_cpu(ns, sleeper.stop());
  } else {
    sleeper.sleep(ns);
  }
}

MakerFactory declared_makers(const LoaderPlan& plan) {
  return
      [&plan](const std::atomic<int>& stop) { return std::make_unique<DeclaredMaker>(plan, stop); };
}

}  // namespace loaderscope::native
