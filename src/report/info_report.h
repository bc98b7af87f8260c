// What is in a folder of images, for people and as JSON.
#pragma once

#include <ostream>
#include <string_view>

#include "dataset/info.h"
#include "loaderscope/report.h"
#include "report/form.h"

namespace loaderscope::dataset {

void write_text(std::ostream& out, const DatasetInfo& info, const ReportStyle& style);
void describe_info(Form& form, DatasetInfo& info);

}  // namespace loaderscope::dataset
