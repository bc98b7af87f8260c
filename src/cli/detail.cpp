#include "cli/detail.h"

#include <cstdlib>
#include <string_view>

#include "cli/terminal.h"
#include "loaderscope/errors.h"

namespace loaderscope {
namespace {

bool is_full(std::string_view word, const char* place) {
  if (word.empty() || word == "compact") return false;
  if (word == "full") return true;
  throw UsageError(
      std::string(place) + ": expected compact or full, not " + shown_text(std::string(word)),
      "give full for the long answer");
}

bool is_full_by_environment() {
  const char* word = std::getenv("LOADERSCOPE_SUMMARY");
  return word != nullptr && is_full(word, "LOADERSCOPE_SUMMARY");
}

}  // namespace

void set_detail(ReportStyle& style, const DetailFlags& flags) {
  const bool full =
      flags.summary.empty() ? is_full_by_environment() : is_full(flags.summary, "--summary");
  const int detail = flags.verbose + (full ? 1 : 0);
  style.compact = detail == 0;
  style.verbose = detail >= 2;
}

ReportStyle answer_style(const DetailFlags& flags) {
  ReportStyle style = standard_output_style();
  set_detail(style, flags);
  return style;
}

ReportStyle answer_style(const CommandFlags& flags) {
  return answer_style({flags.count(kVerbose.name), flags.text(kSummary.name)});
}

}  // namespace loaderscope
