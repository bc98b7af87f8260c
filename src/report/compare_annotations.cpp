// A comparison as commands to GitHub's runner, which shows them next to the changed files.
#include <fmt/format.h>

#include "base/printable.h"
#include "experiment/compare/gate.h"
#include "report/compare_text.h"
#include "report/kinds.h"

namespace loaderscope::compare {
namespace {

constexpr std::size_t kMaxAnnotations = 10;  // limit of GitHub per kind and step

std::string replaced(std::string text, std::string_view chars) {
  std::string result;
  for (const char c : text)
    result += chars.find(c) == chars.npos
                  ? std::string(1, c)
                  : fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return result;
}

std::string escape_message(std::string_view text) { return replaced(printable(text), "%\r\n"); }
std::string escape_property(std::string_view text) { return replaced(printable(text), "%\r\n:,"); }

std::string annotation(std::string_view kind, const Comparison& comparison, const std::string& name,
                       const std::string& message) {
  const std::string title = name.empty() ? "loaderscope" : "loaderscope " + name;
  const std::string file =
      comparison.file.empty() ? "" : ",file=" + escape_property(comparison.file) + ",line=1";
  return fmt::format("::{} title={}{}::{}\n", kind, escape_property(title), file,
                     escape_message(message));
}

std::string_view annotation_kind(const ComparisonResult& judgement, Gate gate) {
  if (gate != Gate::passes) return "error";
  const bool is_fine = judgement.verdict == Outcome::same || judgement.verdict == Outcome::better;
  return is_fine ? "notice" : "warning";
}

std::string annotation_text(const ComparisonResult& judgement, const Worse& one) {
  const Difference* difference = judgement.find(one.name);
  std::string text = difference != nullptr
                         ? change_line(*difference)
                         : fmt::format("{} +{:.3g} %", spoken(one.name), 100 * one.at_least);
  return one.why.empty() ? text : text + ": " + one.why;
}

}  // namespace

void write_comparison_annotations(std::ostream& out, const AnyResult& result) {
  const Comparison& comparison = *result.comparison;
  const ComparisonResult judgement = judge(comparison);
  const GateAnswer answer = decide_gate(comparison, judgement);
  out << annotation(annotation_kind(judgement, answer.gate), comparison, "",
                    answer_line(comparison, judgement));
  std::size_t written = 1;
  for (const bool fails : {true, false}) {
    for (const Worse& one : answer.worse) {
      if (one.fails != fails || written == kMaxAnnotations) continue;
      out << annotation(fails ? "error" : "warning", comparison, one.name,
                        annotation_text(judgement, one));
      ++written;
    }
  }
}

}  // namespace loaderscope::compare
