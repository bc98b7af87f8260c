// The work of one worker on arrays and on declared samples, and the choice of the maker.
#include "engine/native/sample_maker.h"

#include <algorithm>

#include "engine/native/image_maker.h"

namespace loaderscope::native {
namespace {

// Read into the slot: nothing else is done to an array.
class ArrayMaker : public DataMaker {
 public:
  using DataMaker::DataMaker;

 private:
  MadeSample make_one(const SampleTask& task, const Origin& origin, SpanWriter& spans) override {
    if (works(Stage::read)) return {.read = deliver_stored(read(task, origin, spans, task.place))};
    const auto& stored = origin.replayed->stored;
    std::copy(stored.begin(), stored.end(), task.place);
    return {.read = std::ssize(stored)};
  }
};

template <class Maker>
MakerFactory maker_factory(const DataPipeline& pipeline) {
  return
      [&pipeline](const std::atomic<int>& stop) { return std::make_unique<Maker>(pipeline, stop); };
}

}  // namespace

MakerFactory data_makers(const DataPipeline& pipeline) {
  if (pipeline.form == SampleForm::array) return maker_factory<ArrayMaker>(pipeline);
  if (!pipeline.plan->layout.is_mixed()) return maker_factory<ImageMaker>(pipeline);
  return
      [&pipeline](const std::atomic<int>& stop) { return make_device_image_maker(pipeline, stop); };
}

namespace {

class DeclaredMaker : public SampleMaker {
 public:
  DeclaredMaker(const LoaderPlan& plan, const std::atomic<int>& stop)
      : plan_(plan), sleeper_(stop) {}

  std::optional<MadeSample> make(const SampleTask& task, SpanWriter& spans) override {
    Execution execution = task.execution;
    execution.bytes = plan_.storage.stored_bytes(execution);
    for (const StagePlan& stage : plan_.sample_stages) {
      if (plan_.leaves_to_device(stage.stage(), execution)) continue;
      const auto kind = stage.uses_cpu() ? StageScope::Kind::runs : StageScope::Kind::waits;
      StageScope scope(spans, stage.stage(), kind, execution.bytes);
      spend(stage, execution, sleeper_);
    }
    const DevicePlan& device = plan_.on_device;
    const bool is_stored = device.decodes_sample(execution);
    const bool is_held = device.holds_sample(execution);
    const Bytes copied = is_held ? 0 : device.copied_bytes(is_stored, execution.bytes);
    return MadeSample{execution.bytes, is_stored, copied, is_held};
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
