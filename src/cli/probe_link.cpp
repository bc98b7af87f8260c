// loaderscope probe link
#include <CLI/CLI.hpp>

#include <memory>

#include "cli/command.h"
#include "cli/output.h"
#include "job/interrupt.h"
#include "job/version_text.h"
#include "report/results.h"

namespace loaderscope {
namespace {

struct LinkFlags {
  int gpu = 0;
  AnswerFiles answer;
  DetailFlags detail;
};

ExitCode probe_link(const LinkFlags& flags) {
  const Places places = flags.answer.places();
  check_places(places, "probe-link", {flags.answer.force, {}});
  const std::atomic<int>& stop_signal = catch_stop_signals();
  probe::LinkOptions options;
  options.device = flags.gpu;
  const probe::LinkMatrix matrix = probe::measure_link(cuda::real_runtime(), options, stop_signal);
  write_answer(places, make_result(matrix, version_number()), answer_style(flags.detail));
  return matrix.interrupted ? exit_code_of_signal(stop_signal.load()) : ExitCode::ok;
}

}  // namespace

Action declare_probe_link(CLI::App& app) {
  const auto flags = std::make_shared<LinkFlags>();
  app.add_option("--gpu", flags->gpu, "Number of the GPU, from 0.")->type_name("N");
  app.add_option("--json", flags->answer.json,
                 "Also write the matrix to this file; - prints only JSON.")
      ->type_name("FILE");
  app.add_option("--html", flags->answer.html, "Also save a page with its pictures in this file.")
      ->type_name("FILE");
  add_detail(app, flags->detail);
  app.add_flag("--force", flags->answer.force,
               "Let --json FILE and --html FILE replace files that are no results.");
  return [flags] { return probe_link(*flags); };
}

}  // namespace loaderscope
