// Writes an answer to standard output, in the style that flags choose, and to the files that flags
// name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_flags.h"
#include "loaderscope/report.h"
#include "loaderscope/settings.h"
#include "report/output_file.h"

namespace CLI {
class App;
}

namespace loaderscope {

// A file for the answer, and its form of report_table(). The path "-" with JSON means standard
// output instead of the table.
struct Place {
  std::string form, path;
};
using Places = std::vector<Place>;
Places result_places(const RunConfig& config);  // files from the flags
// See check_output(). `kind` is the kind of the result, which not every form can write.
void check_places(const Places& places, std::string_view kind, const OutputRules& rules);

// Writes the table to standard output, and the answer to each of the places. A failure in one place
// does not stop the others. Throws RunError after all were tried.
void write_answer(const Places& places, const AnyResult& result, const ReportStyle& style);
// The same without the table.
void write_files(const Places& places, const AnyResult& result, const ReportStyle& style);

// The style of standard output for an answer. LOADERSCOPE_SUMMARY sets what --summary does not.
// Throws UsageError for a word other than compact and full.
ReportStyle answer_style(const DetailFlags& flags);
ReportStyle answer_style(const CommandFlags& flags);

// The same for a file, which has no width of a terminal and no colour.
void set_detail(ReportStyle& style, const DetailFlags& flags);

// Files in which a command without run settings saves its answer: --json, --html, --force.
struct AnswerFiles {
  std::string json, html;
  bool force = false;

  Places places() const;
};

// Adds flags of which the last value counts.
void add_answer_files(CLI::App& app, AnswerFiles& files);

}  // namespace loaderscope
