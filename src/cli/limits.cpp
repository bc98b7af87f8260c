#include "cli/limits.h"
#include "record/family_traits.h"

#include "loaderscope/device.h"
#include "loaderscope/settings.h"

namespace loaderscope {

MachineLimits limits_of(const MachineFacts& machine, const RunConfig& given) {
  MachineLimits limits;
  limits.cores = machine.cores;
  if (given.program.command.given || given.program.loader.given || given.trainer.device.given ||
      given.trainer.link.given || is_model_engine(given.engine.value))
    return limits;
  const auto reason = device_row("cuda").row.reason_not_available();
  limits.has_gpu = !reason;
  limits.why_no_gpu = reason.value_or("");
  if (const auto unusable = why_gpu_unusable())
    limits.unusable_gpu = unusable->substr(0, unusable->find(';'));
  return limits;
}

}  // namespace loaderscope
