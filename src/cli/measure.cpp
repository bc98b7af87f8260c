#include "cli/measure.h"

#include "cli/progress.h"
#include "cli/version_text.h"
#include "loaderscope/engine.h"

namespace loaderscope {

RunRecord measure(const RunConfig& config, const MachineFacts& machine,
                  const std::vector<std::string>& notes, const std::atomic<int>& stop_signal,
                  const Knockouts& knockouts, const ReplayTurns* replay) {
  ProgressPrinter progress("steps");
  EngineContext context;
  context.stop_signal = &stop_signal;
  context.knockouts = knockouts;
  context.replay = replay;
  context.on_progress = [&](const Progress& p) { progress.show(p.steps, p.fraction); };
  RunRecord record = engine_row(config.engine.value).run(config, context);
  record.machine = machine;
  record.tool_version = version_number();
  record.notes.insert(record.notes.begin(), notes.begin(), notes.end());
  return record;
}

}  // namespace loaderscope
