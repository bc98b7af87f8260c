// Measures the places of the cores, memory and devices of this machine.
#include "machine/topology.h"

#include <sstream>

#include "loaderscope/errors.h"
#include "probe/measurement.h"

namespace loaderscope::probe {
namespace {

void count(Outcome& outcome, const char* name, std::size_t many) {
  outcome.figures.push_back({name, "count", static_cast<double>(many)});
}

}  // namespace

void measure_topology(const ProbeContext& probing, Outcome& outcome) {
  if (probing.options.root != "/") throw RunError("hwloc reads this machine only, not copies");
  const Topology topology = read_topology();
  if (!topology.unavailable.empty()) throw RunError(topology.unavailable);
  if (!topology.is_this_machine)
    outcome.notes.push_back("HWLOC_XMLFILE or HWLOC_SYNTHETIC puts another machine in place of it");
  count(outcome, "sockets", static_cast<std::size_t>(topology.sockets));
  count(outcome, "nodes", topology.nodes.size());
  count(outcome, "cores", topology.cores.size());
  std::istringstream drawing(draw_topology(topology));
  for (std::string line; std::getline(drawing, line);) {
    const std::size_t name = line.find(": ");
    if (!outcome.lines.empty() && name != line.npos)
      outcome.facts.push_back({line.substr(0, name), line.substr(name + 2)});
    outcome.lines.push_back((outcome.lines.empty() ? "topology: " : "  ") + line);
  }
}

}  // namespace loaderscope::probe
