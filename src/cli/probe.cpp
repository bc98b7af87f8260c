// loaderscope probe link
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/version_text.h"
#include "report/link_report.h"

namespace loaderscope {
namespace {

struct LinkFlags {
  int gpu = 0;
  std::string json;
  bool force = false;
};

ExitCode probe_link(const LinkFlags& flags) {
  if (!flags.json.empty()) check_output(flags.json, {flags.force, {}});
  const std::atomic<int>& stop_signal = catch_stop_signals();
  probe::LinkOptions options;
  options.device = flags.gpu;
  const probe::LinkMatrix matrix = probe::measure_link(cuda::real_runtime(), options, stop_signal);
  if (flags.json != "-") {
    StandardOutput out;
    probe::write_text(out.stream(), matrix);
    out.finish();
  }
  if (!flags.json.empty())
    write_output(flags.json,
                 [&](std::ostream& out) { probe::write_json(out, matrix, version_number()); });
  return matrix.interrupted ? exit_code_of_signal(stop_signal.load()) : ExitCode::ok;
}

}  // namespace

Action declare_probe_link(CLI::App& app) {
  const auto flags = std::make_shared<LinkFlags>();
  app.add_option("--gpu", flags->gpu, "Which GPU, counted from 0.")->type_name("N");
  app.add_option("--json", flags->json, "Also write the matrix to this file; - prints only JSON.")
      ->type_name("FILE");
  app.add_flag("--force", flags->force, "Let --json FILE replace a file that is no result.");
  return [flags] { return probe_link(*flags); };
}

}  // namespace loaderscope
