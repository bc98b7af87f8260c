// Every family of the product, from its own table.
#include "analysis/findings/frameworks.h"
#include "analysis/gap_kinds.h"
#include "cli/command.h"
#include "dataset/options.h"
#include "dataset/writer.h"
#include "device/decode_ways.h"
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
FamilyListing table_listing(std::string_view family, std::string_view flag,
                            std::span<const Entry> table) {
  FamilyListing listing{family, flag, {}};
  for (const Entry& entry : table) listing.rows.push_back(entry.row);
  return listing;
}

template <class Enum>
FamilyListing word_listing(std::string_view family, std::string_view flag) {
  FamilyListing listing{family, flag, {}};
  for (const Word<Enum>& word : Words<Enum>::table())
    listing.rows.push_back({word.name, word.help});
  return listing;
}

FamilyListing device_listing() {
  FamilyListing listing = table_listing("device", "--device", device_table());
  listing.alarm = why_gpu_unusable;
  return listing;
}

FamilyListing cost_stage_listing() {
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
      table_listing("command", "", command_table()),
      table_listing("engine", "--engine", engine_table()),
      table_listing("pipeline", "--loader", pipeline_table()),
      table_listing("source", "--source", source_table()),
      table_listing("compression", "", compression_table()),
      table_listing("decoder", "", decoder_table()),
      table_listing("decode", "", decode_way_table()),
      table_listing("operation", "--augment", operation_table()),
      word_listing<Executor>("executor", "--executor"),
      word_listing<TaskShape>("task", "--task"),
      word_listing<StartMethod>("mp-context", "--mp-context"),
      word_listing<Transfer>("transfer", "--transfer"),
      word_listing<Layout>("layout", "--layout"),
      table_listing("access", "--access", access_table()),
      word_listing<CacheState>("cache", "--cache"),
      word_listing<MemoryMode>("memory", "--memory"),
      word_listing<CopyMode>("copy", "--copy"),
      device_listing(),
      table_listing("preset", "--compute", compute_presets()),
      cost_stage_listing(),
      table_listing("rendezvous", "--rendezvous", ways_to_meet()),
      table_listing("format", "data make --format", dataset::format_table()),
      table_listing("writer", "", dataset::writer_table()),
      {"account", "", {{"compute", "The device computes a step."}}},
      word_listing<Cause>("cause", ""),
      word_listing<Why>("why", ""),
      table_listing("finding", "", finding_table()),
      table_listing("framework", "", framework_table()),
      table_listing("data-library", "", data_library_table()),
      table_listing("quantity", "", compare::quantity_table()),
      table_listing("count", "", compare::count_table()),
      table_listing("comparability", "", compare::comparability_table()),
      table_listing("probe", "", probe::measurement_table()),
      table_listing("threshold", "", watch::thresholds()),
      table_listing("report", "--format", report_table()),
      table_listing("result", "report --schema", result_kinds()),
      table_listing("trace", "", nvtx::trace_table()),
      table_listing("trace-format", "", traces::trace_format_table()),
      table_listing("gap", "", traces::gap_table()),
      table_listing("shared", "", shared_resources()),
      table_listing("topic", "help", manual::topic_table()),
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
