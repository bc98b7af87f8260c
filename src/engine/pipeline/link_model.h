// The link between the host's memory and the device.
#pragma once

#include "engine/pipeline/stage_plan.h"
#include "loaderscope/run_config.h"

namespace loaderscope {

struct LinkModel {
  // `copy`: the stage that uses the link.
  LinkModel(const RunConfig& config, const Knockouts& knockouts, const StagePlan& copy);

  double rate = 0;                  // bytes per second; 0: copies take no time
  bool copy_keeps_trainer = false;  // pageable: the trainer's thread copies
  bool copy_uses_cpu = false;
};

}  // namespace loaderscope
