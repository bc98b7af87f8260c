// Writes an answer to standard output and to the files that flags name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/report.h"
#include "loaderscope/settings.h"
#include "report/output_file.h"

namespace loaderscope {

// A file for the answer, and its form of report_table(). The path "-" with JSON means standard
// output instead of the table.
struct Place {
  std::string form, path;
};
using Places = std::vector<Place>;
Places places_of(const RunConfig& config);  // files from the flags
// See check_output(). `kind` is the kind of the result, which not every form can write.
void check_places(const Places& places, std::string_view kind, const OutputRules& rules);

// Writes the table to standard output, and the answer to each of the places. A failure in one place
// does not stop the others. Throws RunError after all were tried.
void write_answer(const Places& places, const AnyResult& result, const ReportStyle& style);
// The same without the table.
void write_files(const Places& places, const AnyResult& result, const ReportStyle& style);

}  // namespace loaderscope
