// Findings about the requests of a job to servers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analysis/findings/finding_input.h"
#include "analysis/totals.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kChief = 0.25;  // share of the time until the first batch

std::string count_words(double count, std::string_view word) {
  return plural(std::llround(count), word);
}

std::string opens_words(const FindingInput& facts) {
  std::string words;
  for (const auto& [whose, who] :
       {std::pair("trainer_first", "the trainer"), std::pair("worker_first", "each worker")}) {
    const std::string name = std::string("opens.") + whose;
    const double files = facts.metric(name), folders = facts.metric(name + "_listings");
    const double requests = facts.metric(std::string("requests.") + whose);
    if (requests < 1) continue;
    words += fmt::format("{}{} makes {}", words.empty() ? "" : ", ", who,
                         count_words(requests, "request"));
    if (files >= 1) words += ", opens " + count_words(files, "file");
    if (folders >= 1) words += ", lists " + count_words(folders, "folder");
  }
  return words;
}

// Returns what every worker opens, lists or requests, with two names.
std::string same_words(const FindingInput& facts) {
  const auto same = static_cast<std::size_t>(std::llround(facts.metric(metric::opens_same)));
  const std::vector<std::string> names = first_texts(facts.record, metric::opens_same, 2);
  if (names.empty()) return "";
  const bool are_all = names.size() >= same;
  return fmt::format("; all workers ask for the same {}{}",
                     are_all ? "" : format_count(static_cast<std::int64_t>(same)) + ", such as ",
                     fmt::join(names, " and "));
}

}  // namespace

std::optional<Candidate> request_storm(const FindingInput& facts) {
  const double wall = seconds(facts.analysis.first_batch_wall);
  const double spent = std::max(facts.metric(metric::requests_trainer_first_s),
                                facts.metric(metric::requests_worker_first_s));
  if (!first_batch_is_late(facts) || spent < kChief * wall) return std::nullopt;
  Candidate candidate;
  candidate.evidence =
      fmt::format("the first batch came after {}, of which requests took {}: before it {}",
                  format_duration(facts.analysis.first_batch_wall),
                  format_duration(std::llround(spent * 1e9)), opens_words(facts));
  if (const double throttled = facts.metric(metric::requests_throttled); throttled > 0)
    candidate.evidence +=
        fmt::format("; {} with 429 or 503 in the job", count_words(throttled, "answer"));
  if (const double retries = facts.metric(metric::requests_retries); retries > 0)
    candidate.evidence += fmt::format(", asked again {}", count_words(retries, "time"));
  candidate.evidence += same_words(facts);
  candidate.pytorch =
      "list the objects once, before the workers start, and keep the list in a file or in the data "
      "set; read shards of many samples instead of an object for each, and let the client wait "
      "longer with each retry, by a random time";
  return candidate;
}

}  // namespace loaderscope
