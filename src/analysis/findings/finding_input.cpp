#include "analysis/findings/finding_input.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "record/family_traits.h"

namespace loaderscope {

FindingInput::FindingInput(const RunRecord& the_record, const Analysis& the_analysis)
    : record(the_record),
      analysis(the_analysis),
      config(the_record.config),
      libraries(library_threads(the_record)),
      reads(fit_reads(the_record)) {
  for (const RankRecord& rank : record.ranks) {
    for (std::size_t s = 0; s < kStages; ++s) stages.at(s).merge(rank.stages.at(s));
  }
}

double FindingInput::share(Nanos part) const {
  const Nanos window = analysis.account.window;
  return window > 0 ? static_cast<double>(part) / static_cast<double>(window) : 0;
}

double FindingInput::making() const {
  double sum = 0;
  for (const auto& word : Words<Cause>::table())
    if (makes_batches(word.value)) sum += share(word.value);
  return sum;
}

bool FindingInput::has_gpu() const { return loaderscope::has_gpu(record); }

bool FindingInput::waits_for_each_step() const {
  return config.trainer.in_flight == 1 && !is_guest_engine(record.engine);
}

bool FindingInput::has_arrays() const {
  return config.has_data() && source_traits(config.data.source.value).form == SampleForm::array;
}

bool FindingInput::is_packed() const {
  if (metric(metric::data_shards) > 0) return true;
  return config.has_data() && source_traits(config.data.source.value).is_packed;
}

double FindingInput::metric(std::string_view name) const {
  return value_of(record.metrics, name).value_or(0);
}

bool FindingInput::waits_for_other_loaders() const {
  return loaderscope::waits_for_other_loaders(record, analysis.account);
}

bool FindingInput::waits_for_sampler() const {
  return loaderscope::waits_for_sampler(record, analysis.account);
}

bool FindingInput::waits_for_wrapper() const {
  return loaderscope::waits_for_wrapper(record, analysis.account);
}

bool FindingInput::waits_for_notifications() const {
  return loaderscope::waits_for_notifications(record, analysis.account);
}

std::string FindingInput::named(std::string_view about) const {
  constexpr int kMax = 4;
  std::string text;
  int names = 0;
  for (const Detail& detail : record.details) {
    if (detail.about != about || ++names > kMax) continue;
    text += (text.empty() ? "" : ", ") + detail.text;
    if (detail.share > 0) text += " " + format_percent(detail.share);
  }
  if (names > kMax) text += fmt::format(" and {} more", names - kMax);
  return text;
}

double FindingInput::cpu_share() const {
  double wall = 0, blocked = 0;
  for (Stage stage : kSampleStages) {
    wall += static_cast<double>(stages[stage].wall);
    blocked += static_cast<double>(stages[stage].blocked()) * libraries[stage].waiting();
  }
  return wall > 0 ? 1 - blocked / wall : 1;
}

double FindingInput::need_of_core() const {
  double cpu = 0, alone = 0;
  for (Stage stage : kMakingStages) {
    const LibraryTime& library = libraries[stage];
    const auto blocked = static_cast<double>(stages[stage].blocked());
    cpu += static_cast<double>(stages[stage].cpu) + library.cpu * blocked;
    alone += static_cast<double>(stages[stage].cpu) +
             (library.computing() + library.waiting()) * blocked;
  }
  return alone > 0 ? cpu / alone : 1;
}

std::optional<double> FindingInput::idle_cores() const {
  const auto own = value_of(record.metrics, metric::process_cpu_s);
  const double window = seconds(analysis.account.window);
  if (!own || window <= 0 || config.declared.cores <= 0) return std::nullopt;
  const double used = *own + metric(metric::host_other_cpu_s);
  return std::max(0.0, config.declared.cores - used / (static_cast<double>(hosts()) * window));
}

double FindingInput::cores_per_rank() const {
  return config.declared.cores * static_cast<double>(hosts()) /
         static_cast<double>(std::max<std::int64_t>(1, config.trainer.ranks));
}

bool FindingInput::has_lines() const {
  return std::any_of(record.details.begin(), record.details.end(), [](const Detail& detail) {
    return detail.about == name_of(Stage::opaque) && detail.share > 0;
  });
}

std::string share_words(const FindingInput& facts, Cause cause) {
  return fmt::format("{} {}", shown_name(name_of(cause), facts.config),
                     format_percent(facts.share(cause)));
}

std::string mean_words(const StageStats& stats) {
  if (stats.count == 0) return "not measured";
  const bool waits_for_core =
      kMinReportedShare * static_cast<double>(stats.wall) <= static_cast<double>(stats.queued);
  return format_duration((stats.wall - stats.queued) / stats.count) +
         (waits_for_core && stats.queued > 0 ? " of work each" : " each");
}

Change number(std::string key, std::int64_t value) {
  return {std::move(key), std::to_string(value)};
}

}  // namespace loaderscope
