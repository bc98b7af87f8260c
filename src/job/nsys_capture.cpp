#include "job/nsys_capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/failure_text.h"
#include "loaderscope/errors.h"
#include "machine/tool_run.h"

namespace loaderscope {
namespace {

constexpr std::string_view kEnding = ".nsys-rep";

bool is_on_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

NsysCapture::NsysCapture(const std::string& file, const RunConfig& given)
    : name_(file), program_(given.program.command.value) {
  if (name_.ends_with(kEnding)) name_.resize(name_.size() - kEnding.size());
  if (name_.empty()) throw UsageError("--nsys: expected a file", "give --nsys run.nsys-rep");
  if (program_.empty())
    throw UsageError("--nsys: records a program", "loaderscope run --nsys FILE -- python train.py");
  if (!is_on_path("nsys"))
    throw RunError("--nsys: there is no nsys on the PATH",
                   "get Nsight Systems from https://developer.nvidia.com/nsight-systems (package "
                   "nsight-systems-cli of NVIDIA's repository)");
}

std::vector<std::string> NsysCapture::command() const {
  std::vector<std::string> words = {"nsys", "profile", "--trace=cuda,nvtx,osrt",
                                    "--force-overwrite=true", "--output=" + name_};
  words.insert(words.end(), program_.begin(), program_.end());
  return words;
}

std::string NsysCapture::export_report(const std::atomic<int>& stop_signal) const {
  if (std::error_code none; !std::filesystem::exists(report(), none))
    throw RunError(fmt::format("{}: nsys wrote no such report", report()),
                   "see its messages above, and let it end by itself");
  ToolRun run;
  const std::string exported = name_ + ".sqlite";
  run.command = {
      "nsys",  "export", "--type=sqlite", "--force-overwrite=true", "--output=" + exported,
      report()};
  run.stopped = [&] { return stop_signal.load() != 0; };
  const ToolEnd end = run_tool(run);
  if (!end.is_fine())
    throw RunError(fmt::format("{}: nsys export {} ({})", report(), describe_exit(end.status),
                               shown_text(end.last_line())),
                   "open the report with nsys-ui");
  return exported;
}

}  // namespace loaderscope
