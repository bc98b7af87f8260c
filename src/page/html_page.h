// A page: one HTML file that opens without a network and requests nothing from it. It contains its
// style and its script, and its content security policy allows only these two.
#pragma once

#include <ostream>
#include <span>
#include <string>

#include "base/embedded_file.h"

namespace loaderscope::page {

struct Sheet {
  std::string title;
  std::string body;  // HTML
  std::string json;  // the result; "": too long to be carried
};

void write_sheet(std::ostream& out, const Sheet& sheet);

std::span<const EmbeddedFile> page_files();  // page.css and page.js; made by src/embed.cmake

}  // namespace loaderscope::page
