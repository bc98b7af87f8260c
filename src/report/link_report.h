// What the link matrix says, for people and as JSON.
#pragma once

#include <ostream>
#include <string_view>

#include "experiment/probe/link.h"
#include "loaderscope/report.h"
#include "report/form.h"

namespace loaderscope::probe {

void write_text(std::ostream& out, const LinkMatrix& matrix, const ReportStyle& style);
void describe_link(Form& form, LinkMatrix& matrix);

}  // namespace loaderscope::probe
