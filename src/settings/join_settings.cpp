#include "settings/join_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "loaderscope/errors.h"
#include "loaderscope/settings.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

// Settings that each host of a job has for itself, and settings of the answer.
constexpr std::string_view kHostSettings[] = {"command",   "ranks",     "cores",     "bind",
                                              "require",   "prove",     "timeout",   "demand",
                                              "gpu-price", "hook-cost", "hang-after"};
// Settings that are measured for a program, if they were not given.
constexpr std::string_view kMeasured[] = {"samples", "delivered-bytes", "stored-bytes", "compute",
                                          "sync-ranks"};

template <std::size_t N>
bool is_among(const std::string_view (&names)[N], const Field& field) {
  return std::find(std::begin(names), std::end(names), field.name) != std::end(names);
}

std::string field_value(const Field& field, const RunConfig& config) {
  const std::string text = fmt::format("{}", fmt::join(field.texts(config), " "));
  return text.empty() ? "not given" : text;
}

void say_once(std::vector<std::string>& notes, std::string note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
}

}  // namespace

bool is_of_each_host(const Field& field) {
  return field.is_about(about::kSaved) || is_among(kHostSettings, field);
}

void join_settings(RunRecord& job, const RunRecord& part, std::string_view name) {
  const bool is_program = is_guest_engine(job.engine);
  std::vector<std::string> notes;
  for (const Field& field : fields()) {
    if (is_of_each_host(field)) continue;
    const std::string here = field_value(field, part.config),
                      there = field_value(field, job.config);
    if (here == there) continue;
    const bool is_given = field.given(part.config) || field.given(job.config);
    if (!is_given && is_program && is_among(kMeasured, field)) continue;
    if (is_given || is_program)
      throw RunError(
          fmt::format("{}: {} is {}, and {} on the first host", name, field.name, here, there),
          "give the records of one job, whose hosts have the same settings");
    notes.push_back(fmt::format("{} was not given, and is not on all hosts {} as on the first",
                                field.name, there));
  }
  for (std::string& note : notes) say_once(job.notes, std::move(note));
  // Each host's program has counted those of its own ranks.
  if (is_program && !job.config.data.samples.given)
    job.config.data.samples.value += part.config.data.samples.value;
}

}  // namespace loaderscope
