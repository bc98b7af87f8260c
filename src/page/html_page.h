// A page: one HTML file that opens without a network and asks none for anything. Its style and its
// script stand in it, and its content security policy allows these two and no other.
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
