#include "job/nsys_export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "base/failure_text.h"
#include "base/fd.h"
#include "base/printable.h"
#include "base/replace_all.h"
#include "machine/tool_run.h"

namespace loaderscope {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kReportEndings = {".nsys-rep", ".qdrep"};
constexpr Nanos kExportPatience = 900 * kSecond;
constexpr std::string_view kExportAgain =
    "export it with the version of nsys that recorded it, or a newer one: nsys export --type "
    "sqlite";

std::string without_ending(const std::string& report) {
  for (const std::string_view ending : kReportEndings)
    if (report.ends_with(ending)) return report.substr(0, report.size() - ending.size());
  return report;
}

void refuse_unreadable(const std::string& report) {
  if (const std::string_view other = non_file_kind(report); !other.empty())
    throw RunError(fmt::format("{}: is {}", shown_text(report), other), "give a report of nsys");
  if (::access(report.c_str(), R_OK) != 0)
    throw RunError(fmt::format("{}: cannot be read ({})", shown_text(report), std::strerror(errno)),
                   "give a report of nsys, or its SQLite export");
}

}  // namespace

bool is_nsys_report(const std::string& path) { return without_ending(path) != path; }

bool is_nsys_on_path() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/nsys").c_str(), X_OK) == 0) return true;
  return false;
}

bool export_nsys_report(const std::string& report, const std::string& output, Nanos patience,
                        const std::atomic<int>& stop_signal) {
  ToolRun run;
  run.command = {"nsys", "export", "--type=sqlite", "--force-overwrite=true", "--output=" + output,
                 report};
  run.patience = patience;
  run.stopped = [&] { return stop_signal.load() != 0; };
  const ToolEnd end = run_tool(run);
  if (stop_signal != 0) return false;
  const std::string shown = shown_text(report);
  if (end.out_of_time)
    throw RunError(
        fmt::format("{}: nsys export did not end within {}", shown, format_duration(patience)),
        "export it yourself: nsys export --type sqlite");
  if (!end.is_fine())
    throw RunError(fmt::format("{}: nsys export {} ({})", shown, describe_exit(end.status),
                               shown_text(end.last_line())),
                   std::string(kExportAgain));
  if (std::error_code none; !fs::exists(output, none))
    throw RunError(fmt::format("{}: nsys export wrote no SQLite file", shown),
                   std::string(kExportAgain));
  return true;
}

ExportedTraces::ExportedTraces(const std::vector<std::string>& files,
                               const std::atomic<int>& stop_signal)
    : given_(files) {
  for (const std::string& file : files) {
    if (stop_signal != 0) return;
    files_.push_back(is_nsys_report(file) ? export_to_folder(file, stop_signal) : file);
  }
}

std::string ExportedTraces::export_to_folder(const std::string& report,
                                             const std::atomic<int>& stop_signal) {
  refuse_unreadable(report);
  if (!is_nsys_on_path())
    throw RunError(
        fmt::format("{}: only nsys reads its reports, and no nsys is on the PATH",
                    shown_text(report)),
        fmt::format("export it where nsys is: nsys export --type sqlite --output {1}.sqlite {0} && "
                    "loaderscope diagnose {1}.sqlite",
                    shown_text(report), shown_text(without_ending(report))));
  if (!folder_) folder_.emplace(fs::temp_directory_path().string(), "loaderscope-nsys-");
  const std::string output = fmt::format("{}/{}.sqlite", folder_->path(), files_.size());
  std::fprintf(stderr, "loaderscope: nsys exports %s\n", printable(report).c_str());
  export_nsys_report(report, output, kExportPatience, stop_signal);
  return output;
}

RunError ExportedTraces::named_by_report(const RunError& error) const {
  std::string sentence(error.sentence()), hint(error.hint());
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (files_[i] == given_[i]) continue;
    sentence = replace_all(sentence, files_[i], given_[i]);
    hint = replace_all(hint, files_[i], given_[i]);
  }
  return hint.empty() ? RunError(sentence) : RunError(sentence, hint);
}

}  // namespace loaderscope
