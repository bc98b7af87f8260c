// Maps the names in an nsys export to meanings: calls, ranges, kernels and threads.
#include "engine/import/nsys_reader.h"

namespace loaderscope::traces {

void NsysReader::read_strings() {
  file_.for_each("StringIds", {"id", "value"}, [&](const SqliteRow& row) {
    const std::string_view text = row.text(1);
    Meaning meaning = meaning_of_range(text);
    if (text.starts_with("cuda") || text.starts_with("cu"))
      meaning = kind_of_call(text) == HostKind::synchronous ? Meaning::synchronous : Meaning::call;
    if (is_collective(text)) {
      meaning = Meaning::collective;
      collective_names_.emplace(row.integer(0, -1), collective_name(text));
    }
    if (const auto call = kind_of_system_call(text))
      meaning = *call == HostKind::file_read ? Meaning::file_read : Meaning::system_wait;
    if (text.starts_with("pt_data_worker")) meaning = Meaning::worker;
    if (meaning != Meaning::operation) strings_.emplace(row.integer(0, -1), meaning);
  });
}

NsysReader::Meaning NsysReader::meaning_of_range(std::string_view name) const {
  if (!step_range_.empty() && name == step_range_) return Meaning::step;
  if (const auto range = loader_range(name))
    return range->single ? Meaning::loader_single : Meaning::loader;
  if (name == "wait for batch") return Meaning::loader;  // the range of our own trainer
  if (name == "Waiting for GIL") return Meaning::lock;
  if (step_range_.empty() && profiler_step(name)) return Meaning::step;
  return Meaning::operation;
}

EnumNames NsysReader::enum_names(std::string_view table) const {
  EnumNames names;
  file_.for_each(table, {"id", "name"},
                 [&](const SqliteRow& row) { names.emplace(row.integer(0, -1), row.text(1)); });
  return names;
}

}  // namespace loaderscope::traces
