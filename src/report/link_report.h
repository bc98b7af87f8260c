// What the link matrix says, for people and as JSON.
#pragma once

#include <ostream>
#include <string_view>

#include "experiment/probe/link.h"
#include "report/form.h"

namespace loaderscope::probe {

void write_text(std::ostream& out, const LinkMatrix& matrix);
void write_json(std::ostream& out, const LinkMatrix& matrix, std::string_view tool_version);
void describe_link(Form& form, LinkMatrix& matrix);

}  // namespace loaderscope::probe
