#include "job/nsys_capture.h"

#include <fmt/format.h>

#include <filesystem>

#include "job/nsys_export.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

constexpr std::string_view kEnding = ".nsys-rep";

}  // namespace

NsysCapture::NsysCapture(const std::string& file, const RunConfig& given)
    : name_(file), program_(given.program.command.value) {
  if (name_.ends_with(kEnding)) name_.resize(name_.size() - kEnding.size());
  if (name_.empty()) throw UsageError("--nsys: expected a file", "give --nsys run.nsys-rep");
  if (program_.empty())
    throw UsageError("--nsys: records a program", "loaderscope run --nsys FILE -- python train.py");
  if (!is_nsys_on_path())
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
  const std::string exported = name_ + ".sqlite";
  if (!export_nsys_report(report(), exported, 0, stop_signal))
    throw RunError(report() + ": its export was interrupted", "loaderscope diagnose " + report());
  return exported;
}

}  // namespace loaderscope
