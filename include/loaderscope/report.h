// Reports: one result, many forms.
#pragma once

#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "loaderscope/analysis.h"
#include "loaderscope/rows.h"

namespace loaderscope {

struct ReportStyle {
  int width = 100;  // columns
  bool colour = false;
  bool verbose = false;  // all facts, instead of one screen
  bool drawn = false;    // pictures replace bars and maps made of letters
  bool plots = false;    // the terminal can show braille letters
  bool compact = false;  // the default answer, in at most twelve lines, if the kind has one
  bool silent = false;   // standard output gets no answer, only files do
};

class ResultVisitor;  // src/report/result_visitor.h
struct TextReport;    // src/report/text_report.h
struct Answer;        // src/report/answer/answer.h
namespace compare {
struct Comparison;  // src/experiment/compare/compare.h
}

// A result of any kind, for writers. It refers to the data that it was made from
// (src/report/results.h).
struct AnyResult {
  std::string_view kind;  // one of result_kinds(): "run", "sweep", ...
  std::string tool_version;
  std::function<void(ResultVisitor& form)> describe;  // shows every member
  std::function<void(TextReport& reading, const ReportStyle& style)>
      write_text;                              // the answer, for people
  std::function<std::string()> draw;           // pictures, as HTML for a page
  std::function<void(Answer& answer)> answer;  // the default answer
  // Set for a run, else null.
  const RunRecord* record = nullptr;
  const Analysis* analysis = nullptr;
  // Set for a comparison, else null.
  const compare::Comparison* comparison = nullptr;
};

struct ReportRow {
  Row row;
  void (*write)(std::ostream& out, const AnyResult& result, const ReportStyle& style);
  std::vector<std::string_view> kinds = {};  // kinds that it can write, of result_kinds(); empty:
                                             // all
  bool is_text = true;                       // safe to print on a terminal

  bool writes(std::string_view kind) const;
};

std::span<const ReportRow> report_table();  // src/report/registry.cpp

// A saved result (schema loaderscope.run/1). Reading throws RunError if the file is missing, is cut
// off, has another schema, or has facts that contradict each other.
struct SavedRun {
  RunRecord record;
  std::optional<Proof> proof;
  std::optional<AgainstRun> against;
};
SavedRun read_result(const std::string& path);
SavedRun parse_result(std::string_view text, const std::string& place);

// --require 'device.busy >= 0.85': a path of the result JSON, a comparison, a number or word.
struct RequirementResult {
  enum class Outcome { met, not_met, cannot_tell } outcome;
  std::string sentence;
};
void check_requirement_syntax(const std::string& text);  // throws ValueError
RequirementResult evaluate_requirement(const std::string& text, const RunRecord& record,
                                       const Analysis& analysis);

}  // namespace loaderscope
