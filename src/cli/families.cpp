// Every family of the product, from its own table.
#include "analysis/findings/frameworks.h"
#include "analysis/gap_kinds.h"
#include "cli/command.h"
#include "dataset/options.h"
#include "dataset/writer.h"
#include "engine/import/import_engine.h"
#include "experiment/compare/comparability.h"
#include "experiment/compare/quantities.h"
#include "loaderscope/augment.h"
#include "loaderscope/cost.h"
#include "loaderscope/decode.h"
#include "loaderscope/device.h"
#include "loaderscope/findings.h"
#include "loaderscope/report.h"
#include "loaderscope/rows.h"
#include "loaderscope/vocabulary.h"
#include "manual/metrics.h"
#include "manual/topics.h"
#include "nvtx/ranges.h"
#include "predict/shared_resources.h"
#include "probe/measurement.h"
#include "rendezvous/rendezvous_methods.h"
#include "report/schemas.h"
#include "settings/engine_table.h"
#include "source/compression.h"
#include "source/registry.h"
#include "watch/watch.h"

namespace loaderscope {
namespace {

template <class Entry>
FamilyListing of_table(std::string_view family, std::string_view flag,
                       std::span<const Entry> table) {
  FamilyListing listing{family, flag, {}};
  for (const Entry& entry : table) listing.rows.push_back(entry.row);
  return listing;
}

template <class Enum>
FamilyListing of_words(std::string_view family, std::string_view flag) {
  FamilyListing listing{family, flag, {}};
  for (const Word<Enum>& word : Words<Enum>::table())
    listing.rows.push_back({word.name, word.help});
  return listing;
}

FamilyListing of_devices() {
  FamilyListing listing = of_table("device", "--device", device_table());
  listing.alarm = why_gpu_unusable;
  return listing;
}

FamilyListing of_cost_stages() {
  FamilyListing listing{"cost", "--cost", {}};
  for (Stage stage : cost_stages()) {
    for (const Word<Stage>& word : Words<Stage>::table()) {
      if (word.value == stage) listing.rows.push_back({word.name, word.help});
    }
  }
  return listing;
}

}  // namespace

const std::vector<FamilyListing>& families() {
  static const std::vector<FamilyListing> all = {
      of_table("command", "", command_table()),
      of_table("engine", "--engine", engine_table()),
      of_table("pipeline", "--loader", pipeline_table()),
      of_table("source", "--source", source_table()),
      of_table("compression", "", compression_table()),
      of_table("decoder", "", decoder_table()),
      of_table("operation", "--augment", operation_table()),
      of_words<Executor>("executor", "--executor"),
      of_words<TaskShape>("task", "--task"),
      of_words<StartMethod>("mp-context", "--mp-context"),
      of_words<Transfer>("transfer", "--transfer"),
      of_words<Layout>("layout", "--layout"),
      of_table("access", "--access", access_table()),
      of_words<CacheState>("cache", "--cache"),
      of_words<MemoryMode>("memory", "--memory"),
      of_words<CopyMode>("copy", "--copy"),
      of_devices(),
      of_table("preset", "--compute", compute_presets()),
      of_cost_stages(),
      of_table("rendezvous", "--rendezvous", ways_to_meet()),
      of_table("format", "data make --format", dataset::format_table()),
      of_table("writer", "", dataset::writer_table()),
      {"account", "", {{"compute", "The device computes a step."}}},
      of_words<Cause>("cause", ""),
      of_words<Why>("why", ""),
      of_table("finding", "", finding_table()),
      of_table("framework", "", framework_table()),
      of_table("data-library", "", data_library_table()),
      of_table("quantity", "", compare::quantity_table()),
      of_table("count", "", compare::count_table()),
      of_table("comparability", "", compare::comparability_table()),
      of_table("probe", "", probe::measurement_table()),
      of_table("threshold", "", watch::thresholds()),
      of_table("report", "--format", report_table()),
      of_table("result", "report --schema", result_kinds()),
      of_table("trace", "", nvtx::trace_table()),
      of_table("trace-format", "", traces::trace_format_table()),
      of_table("gap", "", traces::gap_table()),
      of_table("shared", "", shared_resources()),
      of_table("topic", "help", manual::topic_table()),
  };
  return all;
}

std::vector<std::string> family_names() {
  std::vector<std::string> names;
  for (const FamilyListing& listing : families()) names.emplace_back(listing.family);
  return names;
}

std::vector<std::string> known_words() {
  std::vector<std::string> words;
  for (const FamilyListing& listing : families()) {
    for (const Row& row : listing.rows) words.emplace_back(row.name);
  }
  for (const manual::MetricEntry& entry : manual::metric_entries())
    if (!entry.is_of_many()) words.emplace_back(entry.name);
  return words;
}

}  // namespace loaderscope
