// Where this host can be reached.
#pragma once

#include <string>
#include <vector>

namespace loaderscope {

// Of its interfaces that are up; the loopback's last, which reaches processes of this host alone.
std::vector<std::string> own_addresses();

}  // namespace loaderscope
