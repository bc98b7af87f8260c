#include "engine/model/model_engine.h"
#include "engine/native/native_engine.h"
#include "guest/host/guest_engine.h"
#include "loaderscope/engine.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"

namespace loaderscope {

RunRecord run_engine(const RunConfig& config, const RunContext& context) {
  switch (engine_kind(config.engine.value)) {
    case EngineKind::native:
      return run_native(config, context);
    case EngineKind::model:
      return run_model(config, context);
    case EngineKind::guest:
      return run_guest(config, context);
    case EngineKind::trace:
      break;
  }
  throw RunError("engine = " + config.engine.value + ": nothing runs it");
}

}  // namespace loaderscope
