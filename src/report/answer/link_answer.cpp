// The default answer of probe link: how fast batches get to the GPU, and from which memory.
#include <fmt/format.h>

#include <algorithm>

#include "loaderscope/units.h"
#include "report/answer/answers.h"
#include "report/answer/plain_figures.h"

namespace loaderscope::probe {
namespace {

constexpr std::size_t kMaxSizes = 3;

std::string gigabytes_per_s(double rate) {
  return plain_figures(fmt::format("{:.2f} GB/s", rate / 1e9));
}

// The fastest copy mode from a memory, of one size or of all.
double fastest_from(const LinkMatrix& matrix, MemoryMode memory, Bytes bytes = 0) {
  double fastest = 0;
  for (const LinkCell& cell : matrix.cells)
    if (cell.memory == memory && (bytes == 0 || cell.bytes == bytes))
      fastest = std::max(fastest, cell.median);
  return fastest;
}

// The memory from which copies are fastest.
MemoryMode fastest_memory(const LinkMatrix& matrix) {
  const auto best =
      std::max_element(matrix.cells.begin(), matrix.cells.end(),
                       [](const auto& a, const auto& b) { return a.median < b.median; });
  return best == matrix.cells.end() ? MemoryMode::pageable : best->memory;
}

// The smallest size, one in the middle and the largest.
std::vector<Bytes> sizes_to_show(const LinkMatrix& matrix) {
  std::vector<Bytes> all;
  for (const LinkCell& cell : matrix.cells)
    if (std::find(all.begin(), all.end(), cell.bytes) == all.end()) all.push_back(cell.bytes);
  std::sort(all.begin(), all.end());
  if (all.size() <= kMaxSizes) return all;
  return {all.front(), all[all.size() / 2], all.back()};
}

TextTable rates_by_memory(const LinkMatrix& matrix) {
  const std::vector<Bytes> sizes = sizes_to_show(matrix);
  std::vector<std::string> header = {"batches in"};
  for (const Bytes size : sizes) header.push_back(size_to_text(size));
  TextTable table("l" + std::string(sizes.size(), 'r'), header);
  for (const auto& memory : Words<MemoryMode>::table()) {
    std::vector<std::string> row = {std::string(memory.name)};
    for (const Bytes size : sizes) {
      const double rate = fastest_from(matrix, memory.value, size);
      row.push_back(rate > 0 ? gigabytes_per_s(rate) : "");
    }
    if (fastest_from(matrix, memory.value) > 0) table.add(std::move(row));
  }
  return table;
}

}  // namespace

Answer answer_link(const LinkMatrix& matrix) {
  constexpr double kWorthIt = 1.1;
  Answer answer;
  if (matrix.cells.empty()) {
    answer.headline = (matrix.gpu.empty() ? std::string("The link") : matrix.gpu) +
                      ": nothing was measured" + (matrix.interrupted ? " (interrupted)" : "");
    return answer;
  }
  const MemoryMode memory = fastest_memory(matrix);
  const double fastest = fastest_from(matrix, memory),
               pageable = fastest_from(matrix, MemoryMode::pageable);
  answer.headline =
      fmt::format("{}: batches are copied to it at up to {}", matrix.gpu, gigabytes_per_s(fastest));
  if (pageable > 0 && fastest > kWorthIt * pageable)
    answer.first.push_back(
        {"Fix", "pin_memory=True",
         fmt::format("{} -> {}", gigabytes_per_s(pageable), gigabytes_per_s(fastest))});
  for (const LinkCell& cell : matrix.cells) {
    if (cell.fallback.empty()) continue;
    answer.first.push_back({"Why", plain_figures(cell.fallback)});
    break;
  }
  answer.table = rates_by_memory(matrix);
  answer.last.push_back({"More", "-v (each copy mode), --html page.html    Learn: help gpu"});
  return answer;
}

}  // namespace loaderscope::probe
