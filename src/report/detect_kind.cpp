#include "report/detect_kind.h"

#include <algorithm>
#include <fstream>

#include "base/fd.h"
#include "report/compare_text.h"
#include "report/schemas.h"

namespace loaderscope {
namespace {

constexpr std::size_t kBeginning = 64 << 10;
constexpr std::string_view kBlank = " \t\r\n";

std::string_view without_blanks(std::string_view text) {
  return text.substr(std::min(text.size(), text.find_first_not_of(kBlank)));
}

bool is_csv_of_ours(std::string_view text) {
  return text.starts_with("rank,step,") || text.starts_with("case,");
}

bool is_brief_of_ours(std::string_view text) { return text.starts_with("schema=loaderscope."); }

bool is_markdown_of_ours(std::string_view text) {
  return text.starts_with(compare::kCommentMarker) ||
         (text.starts_with("**") && text.find("\n- loaderscope ") != text.npos);
}

bool is_junit_of_ours(std::string_view text) {
  return text.starts_with("<?xml") && text.find("<testsuites name=\"loaderscope") != text.npos;
}

bool is_annotations_of_ours(std::string_view text) {
  return text.starts_with("::") && text.find("title=loaderscope") < text.find('\n');
}

bool is_page_of_ours(std::string_view text) {
  return text.starts_with("<!doctype html>") &&
         text.find("name=\"generator\" content=\"loaderscope\"") != text.npos;
}

// Tests for the name of the first rank at the beginning. No other format has it so early.
bool is_trace_of_ours(std::string_view text) {
  constexpr std::size_t kFirstPacket = 40;
  return text.starts_with('\n') && text.substr(0, kFirstPacket).find("rank 0") != text.npos;
}

}  // namespace

// Accepts other blanks and another order, because another program may have rewritten the file.
std::string_view find_schema(std::string_view beginning) {
  constexpr std::string_view kKey = "\"schema\"", kOurs = "\"loaderscope.";
  const std::string_view text = without_blanks(beginning);
  if (!text.starts_with('{')) return {};
  for (auto at = text.find(kKey); at != text.npos; at = text.find(kKey, at + 1)) {
    std::string_view value = without_blanks(text.substr(at + kKey.size()));
    if (!value.starts_with(':')) continue;
    value = without_blanks(value.substr(1));
    if (value.starts_with(kOurs)) return value.substr(1, value.find('"', 1) - 1);
  }
  return {};
}

std::string read_beginning(const std::string& path) {
  if (!non_file_kind(path).empty()) return "";
  std::ifstream file(path, std::ios::binary);
  std::string text(kBeginning, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

bool is_result_of_ours(std::string_view beginning) {
  return !find_schema(beginning).empty() || is_csv_of_ours(beginning) ||
         is_brief_of_ours(beginning) || is_markdown_of_ours(beginning) ||
         is_junit_of_ours(beginning) || is_annotations_of_ours(beginning) ||
         is_page_of_ours(beginning) || is_trace_of_ours(beginning);
}

}  // namespace loaderscope
