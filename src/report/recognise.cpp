#include "report/recognise.h"

#include <algorithm>

namespace loaderscope {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::string_view without_blanks(std::string_view text) {
  return text.substr(std::min(text.size(), text.find_first_not_of(kBlank)));
}

// Another program may have written it again, with other blanks and in another order.
bool is_json_of_ours(std::string_view text) {
  constexpr std::string_view kKey = "\"schema\"";
  text = without_blanks(text);
  if (!text.starts_with('{')) return false;
  for (auto at = text.find(kKey); at != text.npos; at = text.find(kKey, at + 1)) {
    std::string_view value = without_blanks(text.substr(at + kKey.size()));
    if (!value.starts_with(':')) continue;
    if (without_blanks(value.substr(1)).starts_with("\"loaderscope.")) return true;
  }
  return false;
}

bool is_csv_of_ours(std::string_view text) { return text.starts_with("rank,step,"); }

bool is_markdown_of_ours(std::string_view text) {
  return text.starts_with("**") && text.find("\n- loaderscope ") != text.npos;
}

}  // namespace

bool is_result_of_ours(std::string_view beginning) {
  return is_json_of_ours(beginning) || is_csv_of_ours(beginning) || is_markdown_of_ours(beginning);
}

}  // namespace loaderscope
