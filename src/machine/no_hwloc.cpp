// Replaces hwloc.cpp if its header was missing.
#include "built_with.h"
#include "loaderscope/errors.h"
#include "machine/topology.h"

namespace loaderscope {

Topology read_topology() {
  Topology topology;
  topology.cpus = allowed_cpus();
  topology.unavailable = describe_missing(built_with::kHwloc);
  return topology;
}

Topology topology_of_xml(const std::string&) {
  throw ValueError(describe_missing(built_with::kHwloc));
}

}  // namespace loaderscope
