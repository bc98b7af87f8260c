#include "engine/native/data_maker.h"

#include <algorithm>

#include "loaderscope/errors.h"

namespace loaderscope::native {

DataMaker::DataMaker(const DataPipeline& pipeline, const std::atomic<int>& stop)
    : pipeline_(pipeline), reader_(pipeline.source->make_reader()), sleeper_(stop) {
  if (reader_) reader_->set_listener(stages_);
}

void DataMaker::begin_stream(std::int32_t rank, std::int32_t worker, std::int64_t epoch) {
  const LoaderPlan& plan = *pipeline_.plan;
  const auto seed = static_cast<std::uint64_t>(plan.config.measure.seed.value);
  if (!stream_) {
    stream_ = pipeline_.source->streams()->make_stream(
        {rank, plan.ranks, worker, plan.workers, seed}, stages_);
  }
  stream_->begin_epoch(epoch);
  stream_ended_ = false;
}

std::optional<MadeSample> DataMaker::make(const SampleTask& task, SpanWriter& spans) {
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
    if (sleeper_.stop().load(std::memory_order_relaxed) != 0) return MadeSample{};
  }
  throw none_usable(*pipeline_.source, pipeline_.errors->summary().first.front());
}

void DataMaker::replace(const SampleTask& task, std::int64_t sample, const SampleError& error) {
  report(task.execution.epoch, sample, pipeline_.source->describe(sample), error);
  SampleTask next = task;
  next.execution.draw = (sample + 1) % pipeline_.source->size();
  SpanWriter unmeasured(nullptr);
  make(next, unmeasured);
}

std::span<const std::byte> DataMaker::read(const SampleTask& task, const Origin& origin,
                                           SpanWriter& spans, std::byte* place, const Keep& keep) {
  StageScope scope(spans, Stage::read, StageScope::Kind::runs);
  stages_.begin(scope);
  const std::span<const std::byte> stored = origin_bytes(origin, place);
  if (keep) keep(stored);
  inject(Stage::read, task.execution, scope);
  inject_part(Stage::read_decompress, task.execution, scope);
  scope.handled(deliver_stored(stored));
  return stored;
}

void DataMaker::inject(Stage stage, const Execution& execution, StageScope& scope) {
  for (const StagePlan& plan : pipeline_.plan->sample_stages) {
    if (plan.stage() != stage) continue;
    const Nanos begin = monotonic_now();
    spend(plan, execution, sleeper_);
    if (!plan.uses_cpu()) scope.slept(begin);
  }
}

void DataMaker::inject_part(Stage part, const Execution& execution, StageScope& scope) {
  for (const StagePlan& plan : pipeline_.plan->sample_stages) {
    if (plan.stage() != part) continue;
    scope.enter(part);
    inject(part, execution, scope);
    scope.leave();
    return;
  }
}

std::span<const std::byte> DataMaker::origin_bytes(const Origin& origin, std::byte* place) {
  if (!stream_)
    return place == nullptr ? reader_->read(origin.sample) : reader_->read_to(origin.sample, place);
  if (place != nullptr) std::copy(origin.streamed.begin(), origin.streamed.end(), place);
  return origin.streamed;
}

const ReplayPool::Sample* DataMaker::substitute(std::int64_t sample) const {
  const ReplayPool* pool = pipeline_.replayed;
  return pool != nullptr && pool->has_samples() ? &pool->substitute(sample) : nullptr;
}

// The next of the stream that can be used. What is left out makes no batch shorter.
std::optional<MadeSample> DataMaker::make_next(SampleTask task, SpanWriter& spans) {
  while (sleeper_.stop().load(std::memory_order_relaxed) == 0) {
    try {
      const auto stored = read_next(spans);
      if (!stored) return std::nullopt;
      task.execution.draw = stream_->sample();
      make_one(task, {stream_->sample(), nullptr, *stored}, spans);
      return MadeSample{.read = stream_->stored_bytes()};
    } catch (const SampleError& error) {
      report(task.execution.epoch, stream_->sample(), stream_->place(), error);
    }
  }
  return std::nullopt;
}

// Reading on to the end is work for no batch.
std::optional<std::span<const std::byte>> DataMaker::read_next(SpanWriter& spans) {
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

void DataMaker::report(std::int64_t epoch, std::int64_t sample, const std::string& name,
                       const SampleError& error) {
  if (pipeline_.fail_on_error) {
    throw RunError(name + ": " + error.what(),
                   "fix or remove it, or continue without it with --on-error skip");
  }
  pipeline_.errors->count(epoch, sample, name, error);
}

}  // namespace loaderscope::native
