// What the self-test found, for people and as JSON.
#pragma once

#include <ostream>
#include <string_view>

#include "experiment/selftest/selftest.h"
#include "loaderscope/report.h"
#include "report/form.h"

namespace loaderscope {

void write_selftest_table(std::ostream& out, const selftest::Result& result,
                          const ReportStyle& style);
void write_selftest_json(std::ostream& out, const selftest::Result& result,
                         std::string_view tool_version);
void describe_selftest(Form& form, selftest::Result& result);

}  // namespace loaderscope
