#include "engine/native/sample_maker.h"

namespace loaderscope::native {
namespace {

class DeclaredMaker : public SampleMaker {
 public:
  DeclaredMaker(const LoaderPlan& plan, const std::atomic<int>& stop)
      : plan_(plan), sleeper_(stop) {}

  std::optional<Bytes> make(const SampleTask& task, SpanWriter& spans) override {
    Execution execution = task.execution;
    execution.bytes = plan_.storage.stored_bytes(execution);
    for (const StagePlan& stage : plan_.sample_stages) {
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
