#include "cli/measure.h"

#include "cli/live_account.h"
#include "cli/progress.h"
#include "cli/version_text.h"
#include "loaderscope/engine.h"
#include "record/broken_off.h"

namespace loaderscope {

namespace {

void complete(RunRecord& record, const MachineFacts& machine,
              const std::vector<std::string>& notes) {
  record.machine = machine;
  record.tool_version = version_number();
  record.notes.insert(record.notes.begin(), notes.begin(), notes.end());
}

}  // namespace

RunRecord measure(const RunConfig& config, const MachineFacts& machine,
                  const std::vector<std::string>& notes, const std::atomic<int>& stop_signal,
                  const Knockouts& knockouts, const ReplayTurns* replay) {
  using Terminal = ProgressPrinter::Terminal;
  const bool prints = config.program.command.given;
  ProgressPrinter progress("steps", prints ? Terminal::shared : Terminal::own);
  EngineContext context;
  context.stop_signal = &stop_signal;
  context.knockouts = knockouts;
  context.guest.replay = replay;
  LiveAccount account;
  if (ProgressPrinter::shows()) context.observer = &account;
  context.on_progress = [&](const Progress& p) {
    progress.show(p.steps, p.fraction, [&](std::size_t width) { return account.lines(width); });
  };
  try {
    RunRecord record = run_engine(config, context);
    complete(record, machine, notes);
    return record;
  } catch (const BrokenOff& broken) {
    complete(*broken.record, machine, notes);
    throw;
  }
}

}  // namespace loaderscope
