// What is in a folder of images, for people and as JSON.
#pragma once

#include <ostream>
#include <string_view>

#include "dataset/info.h"
#include "report/form.h"

namespace loaderscope::dataset {

void write_text(std::ostream& out, const DatasetInfo& info);
void write_json(std::ostream& out, const DatasetInfo& info, std::string_view tool_version);
void describe_info(Form& form, DatasetInfo& info);

}  // namespace loaderscope::dataset
