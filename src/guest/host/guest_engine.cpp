#include "guest/host/guest_engine.h"

#include "guest/host/job.h"
#include "guest/host/python_flags.h"

namespace loaderscope {

RunRecord run_guest(const RunConfig& config, const RunContext& context) {
  if (config.program.command.given) {
    guest::refuse_python_without_site(config.program.command.value);
    return guest::Job(config, context, config.program.command.value).run();
  }
  const std::vector<std::string> command = {config.program.python.value, "-m",
                                            "loaderscope_guest.trainer"};
  return guest::Job(config, context, command).run();
}

}  // namespace loaderscope
