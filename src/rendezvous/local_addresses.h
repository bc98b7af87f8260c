// Addresses at which other processes can reach this host.
#pragma once

#include <string>
#include <vector>

namespace loaderscope {

// Returns the addresses of its interfaces that are up. The loopback is last, because only processes
// of this host can reach it.
std::vector<std::string> own_addresses();

}  // namespace loaderscope
