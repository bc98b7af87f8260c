#include "engine/pipeline/link_model.h"

#include "loaderscope/run_config.h"
#include "record/family_traits.h"

namespace loaderscope {

LinkModel::LinkModel(const RunConfig& config, const Knockouts& knockouts, const StagePlan& copy) {
  const bool pageable = config.loader.memory == MemoryMode::pageable;
  const bool real_link = device_kind(config.trainer.device.value) == DeviceKind::gpu &&
                         !is_model_engine(config.engine.value);
  const bool link_copies =
      !real_link && !knockouts.has(Stage::h2d) && (config.trainer.link.given || config.has_data());
  rate = !link_copies ? 0
         : pageable   ? config.trainer.link.value.pageable
                      : config.trainer.link.value.pinned;
  const Cost* declared_copy = knockouts.has(Stage::h2d) ? nullptr : config.cost_of(Stage::h2d);
  copy_keeps_trainer = pageable;
  copy_uses_cpu = pageable && (declared_copy      ? declared_copy->kind == CostKind::cpu
                               : copy.is_fitted() ? true
                                                  : rate > 0);
}

}  // namespace loaderscope
