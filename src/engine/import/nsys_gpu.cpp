// Reads the GPU tables of an nsys export.
#include "engine/import/nsys_reader.h"

namespace loaderscope::traces {
namespace {

struct Copy {
  std::string kind, from;
};

GpuKind kind_of(const Copy& copy) {
  if (copy.kind.ends_with("HTOD") || copy.kind.ends_with("HTOA"))
    return copy.from.ends_with("PAGEABLE") ? GpuKind::from_pageable : GpuKind::from_pinned;
  if (copy.kind.ends_with("DTOH") || copy.kind.ends_with("ATOH")) return GpuKind::to_host;
  return GpuKind::memory;
}

}  // namespace

// `columns`: further ones, from the sixth on, by which `tell` says what kind of work it is.
void NsysReader::read_work(std::string_view table, const std::vector<std::string_view>& columns,
                           const std::function<void(const SqliteRow&, GpuWork&)>& tell) {
  std::vector<std::string_view> all = {"start",    "end",      "globalPid",
                                       "deviceId", "streamId", "correlationId"};
  all.insert(all.end(), columns.begin(), columns.end());
  file_.for_each(table, all, [&](const SqliteRow& row) {
    TimeRange at;
    if (!take_times(row, at)) return;
    GpuWork work{at.begin, at.end};
    work.stream = static_cast<std::uint16_t>(row.integer(4));
    work.correlation = static_cast<std::uint32_t>(row.integer(5));
    tell(row, work);
    keeper_.add(gpu(row.integer(2), row.integer(3)), work);
  });
}

void NsysReader::read_gpu() {
  read_work("CUPTI_ACTIVITY_KIND_KERNEL", {"shortName"}, [&](const SqliteRow& row, GpuWork& work) {
    const bool exchanges = meaning_of(row.integer(6, -1)) == Meaning::collective;
    work.kind = exchanges ? GpuKind::collective : GpuKind::kernel;
    if (exchanges) work.name = collective_names_.at(row.integer(6, -1));
  });
  // Kernels of a graph that is traced as a whole are in no other table.
  read_work("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {}, [](const SqliteRow&, GpuWork&) {});
  read_work("CUPTI_ACTIVITY_KIND_MEMSET", {},
            [](const SqliteRow&, GpuWork& work) { work.kind = GpuKind::memory; });
  const EnumNames kinds = enum_names("ENUM_CUDA_MEMCPY_OPER");
  const EnumNames memories = enum_names("ENUM_CUDA_MEM_KIND");
  const auto named = [](const EnumNames& names, std::int64_t value) {
    const auto found = names.find(value);
    return found == names.end() ? std::string() : found->second;
  };
  read_work("CUPTI_ACTIVITY_KIND_MEMCPY", {"copyKind", "srcKind", "bytes"},
            [&](const SqliteRow& row, GpuWork& work) {
              work.kind =
                  kind_of({named(kinds, row.integer(6, -1)), named(memories, row.integer(7, -1))});
              work.bytes = static_cast<double>(row.integer(8));
            });
}

}  // namespace loaderscope::traces
