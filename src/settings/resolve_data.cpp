// Source of the data, and settings that contradict it.
#include "base/secret.h"
#include "loaderscope/errors.h"
#include "record/family_traits.h"
#include "settings/refuse.h"
#include "settings/resolve_steps.h"
#include "source/registry.h"

namespace loaderscope::settings {
namespace {

// The format of one text of --data, where `source` is that of those before it or of --source.
std::string_view format_of(const std::string& text, std::string_view source) {
  const std::string place = "data = " + shown_text(text) + ": ";
  try {
    const SourceRow* row = parse_data(text, source).row;
    if (row == nullptr) return "files";
    if (!source.empty() && row->row.name != source) {
      throw UsageError(place + "contradicts source = " + std::string(source), "give one of them");
    }
    return row->row.name;
  } catch (const ValueError& error) {
    throw add_place<UsageError>(place, error);
  }
}

void check_source(const RunConfig& c) {
  const SourceRow& row = source_row(c.data.source.value);
  if (source_traits(c.data.source.value).form == SampleForm::declared)
    refuse(c, "source", "reads no data", "leave out --data, or give --source files");
  if (holds_secret(c.data.index.value))
    refuse(c, "index", "the URL holds a password or a signature", "put them into ~/.netrc");
  if (c.data.index.given && !row.takes_list)
    refuse(c, "index", "is a list of files", "give --source files");
  if (is_model_engine(c.engine.value)) {
    refuse(c, "engine", "the model runs declared costs, not data",
           "leave out --data, or give --engine native");
  }
}

// With declared reads, a worker begins a read when it needs it, unless a depth is given.
void fill_declared_depth(RunConfig& c) {
  const bool is_declared = !c.has_data() && !is_guest_engine(c.engine.value);
  if (is_declared && !c.data.queue_depth.given) c.data.queue_depth.value = 0;
}

void check_declared_depth(const RunConfig& c) {
  if (!c.data.queue_depth.given) return;
  if (c.declared.storage_latency <= 0 && c.declared.storage_bandwidth <= 0)
    refuse(c, "queue-depth", "needs real data, or a declared storage",
           "give --data PATH, or --storage-latency");
  if (c.declared.storage_concurrency > 0)
    refuse(c, "queue-depth", "contradicts storage-concurrency", "give one of them");
  if (c.data.stored_bytes.value.shape != Distribution::Shape::constant)
    refuse(c, "queue-depth", "declared reads ahead are of one size",
           "give stored-bytes without spread");
}

}  // namespace

void fill_source(RunConfig& c) {
  if (!c.has_data()) {
    if (source_traits(c.data.source.value).form != SampleForm::declared)
      refuse(c, "source", "has no data", "give --data PATH");
    fill_declared_depth(c);
    return;
  }
  std::string_view format = c.data.source.given ? std::string_view(c.data.source.value) : "";
  for (const std::string& text : c.data.paths.value) format = format_of(text, format);
  c.data.source.value = format.empty() ? "files" : std::string(format);
  check_source(c);
}

void check_data(const RunConfig& c) {
  if (!c.has_data()) check_declared_depth(c);
  if (!c.has_data()) return refuse_any(c, about::kStored, "needs real data", "give --data PATH");
  for (const Stage stage : {Stage::read, Stage::read_decompress, Stage::decode, Stage::augment}) {
    const Cost* cost = c.cost_of(stage);
    if (cost == nullptr) continue;
    throw UsageError("cost = " + shown_text(cost->text) + ": this stage works on real data",
                     "add to it with --inject, or declare it with --source synthetic");
  }
  refuse_any(c, about::kDeclaredData, "is for --source synthetic; the data says it");
  if (source_traits(c.data.source.value).form == SampleForm::image) return;
  refuse_any(c, about::kImage,
             "is for images; " + in_words(c, "source") + " holds arrays, taken as they are");
}

}  // namespace loaderscope::settings

namespace loaderscope {

bool is_streamed(const RunConfig& config) {
  return config.has_data() && asks_for_stream(config.data.source.value, config.data.paths.value);
}

}  // namespace loaderscope
