#include "report/kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text_report.h"

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

void keep_bare(LinkMatrix& matrix, Bytes bytes, double rate) {
  const auto has = [&](const BareLoop& loop) { return loop.bytes == bytes; };
  if (rate > 0 && std::none_of(matrix.bare.begin(), matrix.bare.end(), has))
    matrix.bare.push_back({bytes, rate});
}

void describe_cell(ResultVisitor& form, LinkCell& cell, double& bare) {
  form.word("memory", cell.memory, "host memory that is copied from");
  form.word("copy", cell.copy, "copy mode");
  form.whole("bytes", cell.bytes, "of one copy");
  form.real("bytes_per_s", cell.median, "median of the samples", kNotNegative);
  form.real("low", cell.low, "the slowest sample, bytes per second", kNotNegative);
  form.real("high", cell.high, "the fastest sample, bytes per second", kNotNegative);
  form.real("bare_bytes_per_s", bare,
            "a loop of cudaMemcpyAsync from page-locked memory and nothing else, of copies as "
            "large, in the same run; 0: not measured",
            kNotNegative);
  form.if_there("fallback", !cell.fallback.empty(), AbsentValue::left_out, [&] {
    form.text("fallback", cell.fallback, "why the memory is not what it should be");
  });
}

}  // namespace

void write_link_text(TextReport& reading, const LinkMatrix& matrix, const ReportStyle&) {
  TextReportBuilder& screen = reading.body;
  double best = 0;
  for (const LinkCell& cell : matrix.cells) best = std::max(best, cell.median);
  screen.headline(fmt::format("{}: host to device at up to {} GB/s", matrix.gpu, gigabytes(best)),
                  LineTone::plain);
  std::vector<std::string> header = {"GB/s from", "copy"};
  for (const BareLoop& loop : matrix.bare) header.push_back(size_to_text(loop.bytes));
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
  screen.table(LinePriority::evidence, table);
  if (matrix.near_cpus > 0)
    screen.line(LinePriority::basis,
                fmt::format("the host's side ran on the {} of the GPU's NUMA node",
                            plural(matrix.near_cpus, "CPU")));
  for (const LinkCell& cell : matrix.cells) {
    const bool first = cell.copy == CopyMode::sync && cell.bytes == matrix.cells.front().bytes;
    if (first && !cell.fallback.empty()) screen.note(LinePriority::basis, cell.fallback);
  }
}

void describe_link(ResultVisitor& form, LinkMatrix& matrix) {
  form.object("device", "what was copied to",
              [&] { form.text("name", matrix.gpu, "as its driver says it"); });
  form.whole("near_cpus", matrix.near_cpus,
             "CPUs of the GPU's NUMA node, on which the host's side ran; 0: anywhere");
  form.flag("interrupted", matrix.interrupted, "stopped by a signal: cells may be missing");
  form.list("link", matrix.cells, "host to device, by memory, copy mode and size",
            [&](LinkCell& cell) {
              form.object("", "", [&] {
                double bare = bare_rate(matrix, cell.bytes);
                describe_cell(form, cell, bare);
                if (form.reads()) keep_bare(matrix, cell.bytes, bare);
              });
            });
}

}  // namespace loaderscope::probe
