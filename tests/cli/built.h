// Paths of the programs and libraries that these tests run.
#pragma once

#include <string>

namespace loaderscope::testing_cli {

const std::string& binary();         // loaderscope
bool is_sanitized();                 // true if `binary` has a sanitizer
const std::string& nvtx_recorder();  // "": built without NVTX 3
const std::string& pretend_cupti();  // "": built without CUPTI
const std::string& old_driver();     // the folder of its libcuda.so.1; "": built without CUDA

}  // namespace loaderscope::testing_cli
