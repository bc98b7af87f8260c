#include "dataset/info.h"
#include "report/json_stream.h"

namespace loaderscope::dataset {
namespace {

void write_counts(JsonStream& json, std::string_view key,
                  const std::map<std::string, std::int64_t, std::less<>>& counts) {
  json.begin_object(key);
  for (const auto& [name, count] : counts) json.member(name, count);
  json.end_object();
}

void write_measure(JsonStream& json, std::string_view key, const Measure& measure) {
  json.begin_object(key, JsonStream::Layout::compact);
  json.member("min", measure.least);
  json.member("p10", measure.histogram.quantile(0.1));
  json.member("p50", measure.histogram.quantile(0.5));
  json.member("p90", measure.histogram.quantile(0.9));
  json.member("p99", measure.histogram.quantile(0.99));
  json.member("max", measure.most);
  json.end_object();
}

}  // namespace

void write_json(std::ostream& out, const DatasetInfo& info) {
  {
    JsonStream json(out);
    json.begin_object();
    json.member("schema", "loaderscope.dataset-info/1");
    json.member("path", std::string_view(info.path));
    json.member("checked", info.checked);
    json.member("interrupted", info.interrupted);
    json.member("images", info.images);
    json.member("bytes", info.bytes);
    json.member("pixels", info.pixels);
    write_measure(json, "stored_bytes", info.stored_bytes);
    write_measure(json, "width", info.widths);
    write_measure(json, "height", info.heights);
    write_counts(json, "formats", info.formats);
    write_counts(json, "subsampling", info.subsamplings);
    json.member("progressive", info.progressive);
    write_counts(json, "classes", info.classes);
    json.member("other_files", info.other_files);
    json.member("unreadable_folders", info.unreadable_folders);
    json.begin_object("damaged");
    json.member("count", info.damaged);
    json.begin_array("first");
    for (const DamagedFile& file : info.first_damaged) {
      json.begin_object({}, JsonStream::Layout::compact);
      json.member("path", std::string_view(file.path));
      json.member("cause", std::string_view(file.cause));
      json.end_object();
    }
    json.end_array();
    json.end_object();
    json.end_object();
  }
  out << "\n";
}

}  // namespace loaderscope::dataset
