// Writes an answer to standard output and to the files that flags name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/report.h"
#include "loaderscope/settings.h"
#include "report/output_file.h"

namespace loaderscope {

// Where an answer is saved, and in which form of report_table(). A path "-" of JSON is standard
// output instead of the table.
struct Place {
  std::string form, path;
};
using Places = std::vector<Place>;
Places places_of(const RunConfig& config);  // that its flags give
// See check_output(). `kind`: of the result, which not every form is of.
void check_places(const Places& places, std::string_view kind, const OutputRules& rules);

// The table to standard output, and the answer to each of the places. What cannot be written in one
// of them is still written in the others. Throws RunError.
void write_answer(const Places& places, const AnyResult& result, const ReportStyle& style);
// The same without the table.
void write_files(const Places& places, const AnyResult& result, const ReportStyle& style);

}  // namespace loaderscope
