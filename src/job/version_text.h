#pragma once

#include <ostream>
#include <string>

namespace loaderscope {

std::string version_number();  // "0.1.0+3c2e18c41d2a"
std::string version_text();    // number, commit, compiler, build type, libraries, CUDA
void write_version_json(std::ostream& out);  // the same, and the schemas that it writes

}  // namespace loaderscope
