#include "experiment/compare/comparability.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/wording.h"
#include "loaderscope/settings.h"
#include "record/family_traits.h"

namespace loaderscope::compare {
namespace {

std::string unlike(std::string_view what, const std::string& there, const std::string& here) {
  const auto shown = [](const std::string& text) {
    return text.empty() ? std::string("not given") : shown_text(text);
  };
  if (there == here) return "";
  return fmt::format("{} is {} in A and {} in B", what, shown(there), shown(here));
}

std::string engine(const RunRecord& a, const RunRecord& b) {
  return unlike("the engine", a.engine, b.engine);
}

std::string interruption(const RunRecord& a, const RunRecord& b) {
  for (const RunRecord* one : {&a, &b}) {
    const std::string name = one == &a ? "A" : "B";
    if (one->interrupted) return name + " was interrupted";
    if (one->lost_spans > 0) return name + " has lost a part of what it measured";
  }
  return "";
}

// Returns true for settings that change no measured value.
bool is_ignored(const Field& field) {
  constexpr std::array<std::string_view, 7> kIgnored = {
      "require", "prove", "gpu-price", "hook-cost", "timeout", "demand", "hang-after"};
  return field.is_about(about::kSaved) ||
         std::find(kIgnored.begin(), kIgnored.end(), field.name) != kIgnored.end();
}

std::string join_texts(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, " "));
}

// Returns true for settings of the measured steps: their number and their draws.
bool is_of_sample(const Field& field) {
  return field.name == "steps" || field.name == "duration" || field.name == "seed" ||
         field.name == "epochs" || field.name == "warmup";
}

std::string window(const RunRecord& a, const RunRecord& b) {
  for (const Field& field : fields()) {
    if (!is_of_sample(field)) continue;
    const std::string difference =
        unlike(field.name, join_texts(field.texts(a.config)), join_texts(field.texts(b.config)));
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string shown_setting(const std::string& text) {
  return text.empty() ? "none" : shown_text(text);
}

constexpr std::string_view kCommand = "command";

// Removes the last words that two commands share, but leaves a word of each.
void drop_common_end(std::vector<std::string>& there, std::vector<std::string>& here) {
  while (there.size() > 1 && here.size() > 1 && there.back() == here.back()) {
    there.pop_back();
    here.pop_back();
  }
}

// Leaves out the common beginning of long settings, and what else two commands share.
std::string changed_setting(const Field& field, std::vector<std::string> there,
                            std::vector<std::string> here) {
  const auto [a, b] = std::mismatch(there.begin(), there.end(), here.begin(), here.end());
  const bool is_long = a - there.begin() > (field.name == kCommand ? 0 : 1);
  if (is_long) {
    there.erase(there.begin(), a);
    here.erase(here.begin(), b);
  }
  if (field.name == kCommand) drop_common_end(there, here);
  return fmt::format("{}{} {} -> {}", field.name, is_long ? " ..." : "",
                     shown_setting(join_texts(there)), shown_setting(join_texts(here)));
}

// Returns true for the facts of a program that are measured: the time of its compute, and whether
// its ranks wait for each other.
bool is_measured(const Field& field, const RunRecord& record) {
  const bool is_fact = field.name == "compute" || field.name == "sync-ranks";
  return is_fact && is_guest_engine(record.engine) && !field.given(record.config);
}

std::vector<std::string> changed_settings(const RunRecord& a, const RunRecord& b) {
  std::vector<std::string> changed;
  std::ptrdiff_t others = 0;
  for (const Field& field : fields()) {
    if (is_ignored(field) || is_of_sample(field) || is_measured(field, a)) continue;
    const std::vector<std::string> there = field.texts(a.config), here = field.texts(b.config);
    if (there == here) continue;
    // A command is long and repeats other settings.
    changed.insert(field.name == kCommand ? changed.end() : changed.begin() + others++,
                   changed_setting(field, there, here));
  }
  return changed;
}

// Another device takes batches in another time, so the rates answer another question.
std::string device(const RunRecord& a, const RunRecord& b) {
  return unlike("the device", a.config.trainer.device.value, b.config.trainer.device.value);
}

std::string data(const RunRecord& a, const RunRecord& b) {
  return unlike("the data", join_texts(a.config.data.paths.value),
                join_texts(b.config.data.paths.value));
}

std::string batch_size(const RunRecord& a, const RunRecord& b) {
  return unlike("the batch size", fmt::format("{}", a.config.loader.batch_size.value),
                fmt::format("{}", b.config.loader.batch_size.value));
}

// A rate that changes during the run depends on how long the run was.
std::string steadiness(const RunRecord& a, const RunRecord& b) {
  for (const RunRecord* one : {&a, &b}) {
    const Verdict verdict = analyse(*one).verdict;
    if (verdict.withheld_reason)
      return fmt::format("{} has no verdict: {}", one == &a ? "A" : "B", verdict.withheld_briefly);
  }
  return "";
}

std::string cpu(const RunRecord& a, const RunRecord& b) {
  return unlike("the CPU", a.machine.cpu, b.machine.cpu);
}

std::string cores(const RunRecord& a, const RunRecord& b) {
  return unlike("what may be used", format_cores(a.machine.cores), format_cores(b.machine.cores));
}

std::string memory(const RunRecord& a, const RunRecord& b) {
  return unlike("the memory", format_size(static_cast<double>(a.machine.memory_bytes)),
                format_size(static_cast<double>(b.machine.memory_bytes)));
}

std::string kernel(const RunRecord& a, const RunRecord& b) {
  return unlike("the kernel", a.machine.os + ", " + a.machine.kernel,
                b.machine.os + ", " + b.machine.kernel);
}

// Results of older versions do not say.
bool both_say(const RunRecord& a, const RunRecord& b) {
  return a.machine.host.has_value() && b.machine.host.has_value();
}

std::string host(const RunRecord& a, const RunRecord& b) {
  return both_say(a, b) ? unlike("the machine", *a.machine.host, *b.machine.host) : "";
}

std::string gpus(const RunRecord& a, const RunRecord& b) {
  if (!both_say(a, b)) return "";
  return unlike("what the machine has of GPUs", a.machine.gpus.value_or("none"),
                b.machine.gpus.value_or("none"));
}

std::string driver(const RunRecord& a, const RunRecord& b) {
  if (!both_say(a, b)) return "";
  return unlike("the GPU's driver", a.machine.gpu_driver.value_or("none"),
                b.machine.gpu_driver.value_or("none"));
}

std::string tool(const RunRecord& a, const RunRecord& b) {
  return unlike("the version", a.tool_version, b.tool_version);
}

std::optional<double> cached_share(const RunRecord& record) {
  const auto resident = value_of(record.metrics, metric::cache_resident_bytes);
  const auto checked = value_of(record.metrics, metric::cache_checked_bytes);
  if (!resident || !checked || *checked <= 0) return std::nullopt;
  return *resident / *checked;
}

std::string page_cache(const RunRecord& a, const RunRecord& b) {
  constexpr double kAlike = 0.05;
  const std::optional<double> there = cached_share(a), here = cached_share(b);
  if (!there || !here || std::abs(*there - *here) <= kAlike) return "";
  return unlike("the share of the data in the page cache", format_percent(*there),
                format_percent(*here));
}

std::string samples(const RunRecord& a, const RunRecord& b) {
  const auto there = value_of(a.metrics, metric::data_epoch_samples);
  const auto here = value_of(b.metrics, metric::data_epoch_samples);
  if (!there || !here) return "";
  return unlike("the number of samples", fmt::format("{:.0f}", *there),
                fmt::format("{:.0f}", *here));
}

std::string contents(const RunRecord& a, const RunRecord& b) {
  const auto there = value_of(a.metrics, metric::data_fingerprint);
  const auto here = value_of(b.metrics, metric::data_fingerprint);
  if (!there || !here || *there == *here) return "";
  return "the data has other samples, in other places or of other sizes, in A than in B";
}

}  // namespace

std::span<const ComparabilityRow> comparability_table() {
  static const std::array<ComparabilityRow, 18> rows = {{
      {{"ending", "Refuse runs that were interrupted or lost measurements."},
       Rule::forbids,
       interruption},
      {{"engine", "Refuse runs of different engines."}, Rule::forbids, engine},
      {{"cpu", "Refuse runs on different models of CPU."}, Rule::forbids, cpu},
      {{"cores", "Refuse runs that may use different numbers of cores."}, Rule::forbids, cores},
      {{"gpus", "Refuse runs with different models or numbers of GPUs."}, Rule::forbids, gpus},
      {{"device", "Refuse runs with different kinds of devices."}, Rule::forbids, device},
      {{"data", "Warn if the data sets have other names."}, Rule::warns, data},
      {{"samples", "Warn if the number of samples per epoch differs."}, Rule::warns, samples},
      {{"contents", "Warn if the data differs in count, places or sizes of its samples."},
       Rule::warns,
       contents},
      {{"batch-size", "Warn if the batches have different sizes."}, Rule::warns, batch_size},
      {{"steady", "Warn if a run has no verdict, such as one whose steps get slower."},
       Rule::warns,
       steadiness},
      {{"window", "Warn if the number of measured steps or the seed differs."},
       Rule::warns,
       window},
      {{"page-cache", "Warn if the shares of the data in memory differ."}, Rule::warns, page_cache},
      {{"memory", "Warn if the sizes of the machines' memory differ."}, Rule::warns, memory},
      {{"host", "Warn if the names of the machines differ."}, Rule::warns, host},
      {{"driver", "Warn if the versions of the GPU's driver differ."}, Rule::warns, driver},
      {{"kernel", "Warn if the operating systems or their kernels differ."}, Rule::warns, kernel},
      {{"version", "Warn if different versions of loaderscope measured the runs."},
       Rule::warns,
       tool},
  }};
  return rows;
}

Comparability check_comparability(const RunRecord& there, const RunRecord& here) {
  Comparability result;
  for (const ComparabilityRow& row : comparability_table()) {
    const std::string difference = row.difference(there, here);
    if (difference.empty()) continue;
    (row.rule == Rule::forbids ? result.forbids : result.warns).push_back(difference);
  }
  result.settings = changed_settings(there, here);
  return result;
}

}  // namespace loaderscope::compare
