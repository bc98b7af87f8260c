#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "experiment/probe/link.h"
#include "report/text_table.h"

namespace loaderscope::probe {
namespace {

std::string gigabytes(double rate) { return fmt::format("{:.1f}", rate / 1e9); }

const LinkCell* find(const LinkMatrix& matrix, MemoryMode memory, CopyMode copy, Bytes bytes) {
  for (const LinkCell& cell : matrix.cells) {
    if (cell.memory == memory && cell.copy == copy && cell.bytes == bytes) return &cell;
  }
  return nullptr;
}

// The bare loop of the same size, in the same run.
double bare_rate(const LinkMatrix& matrix, Bytes bytes) {
  for (const BareLoop& loop : matrix.bare) {
    if (loop.bytes == bytes) return loop.median;
  }
  return 0;
}

}  // namespace

void write_text(std::ostream& out, const LinkMatrix& matrix) {
  double best = 0;
  for (const LinkCell& cell : matrix.cells) best = std::max(best, cell.median);
  out << fmt::format("{}: host to device at up to {} GB/s\n", matrix.gpu, gigabytes(best));
  std::vector<std::string> header = {"GB/s from", "copy"};
  for (const BareLoop& loop : matrix.bare) header.push_back(spell_size(loop.bytes));
  TextTable table("ll" + std::string(matrix.bare.size(), 'r'), header);
  for (const auto& memory : Words<MemoryMode>::table()) {
    for (const auto& copy : Words<CopyMode>::table()) {
      std::vector<std::string> line = {std::string(memory.name), std::string(copy.name)};
      for (const BareLoop& loop : matrix.bare) {
        const LinkCell* cell = find(matrix, memory.value, copy.value, loop.bytes);
        if (cell != nullptr) line.push_back(gigabytes(cell->median));
      }
      if (line.size() == header.size()) table.add(line);
    }
  }
  std::vector<std::string> bare = {"page-locked", "bare loop"};
  for (const BareLoop& loop : matrix.bare) bare.push_back(gigabytes(loop.median));
  table.add(bare);
  table.print(out);
  for (const LinkCell& cell : matrix.cells) {
    const bool first = cell.copy == CopyMode::sync && cell.bytes == matrix.cells.front().bytes;
    if (first && !cell.fallback.empty()) out << "note: " << printable(cell.fallback) << "\n";
  }
}

void write_json(std::ostream& out, const LinkMatrix& matrix) {
  nlohmann::ordered_json cells = nlohmann::ordered_json::array();
  for (const LinkCell& cell : matrix.cells) {
    nlohmann::ordered_json object = {{"memory", name_of(cell.memory)},
                                     {"copy", name_of(cell.copy)},
                                     {"bytes", cell.bytes},
                                     {"bytes_per_s", cell.median},
                                     {"low", cell.low},
                                     {"high", cell.high},
                                     {"bare_bytes_per_s", bare_rate(matrix, cell.bytes)}};
    if (!cell.fallback.empty()) object["fallback"] = cell.fallback;
    cells.push_back(std::move(object));
  }
  const nlohmann::ordered_json all = {{"schema", "loaderscope.probe/1"},
                                      {"device", {{"name", matrix.gpu}}},
                                      {"interrupted", matrix.interrupted},
                                      {"link", std::move(cells)}};
  out << all.dump(2) << "\n";
}

}  // namespace loaderscope::probe
