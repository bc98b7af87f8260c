// loaderscope explain
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "base/old_words.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/saved_result.h"
#include "loaderscope/report.h"
#include "loaderscope/rows.h"
#include "manual/metrics.h"
#include "manual/words.h"
#include "record/environment_changes.h"
#include "report/answer/answer.h"
#include "report/result_path.h"
#include "report/schemas.h"
#include "report/table_parts.h"
#include "report/text_table.h"
#include "settings/requirement.h"

namespace loaderscope {
namespace {

// Text of the manual about a row: what to do, how it is measured, when it is wrong.
std::optional<std::string_view> row_basis(const FamilyListing& listing, const Row& row) {
  const manual::WordEntry* const entry = manual::find_word(listing.family, row.name);
  return entry == nullptr ? std::nullopt : std::optional(entry->text);
}

void explain_row(std::ostream& out, const FamilyListing& listing, const Row& row) {
  out << row.name << " (" << listing.family;
  if (!listing.flag.empty()) out << ", " << listing.flag;
  out << "): " << row.help << "\n";
  if (const auto reason = row.reason_not_available())
    out << "Not available here: " << *reason << "\n";
  if (const auto basis = row_basis(listing, row)) out << *basis << "\n";
}

// Words of an answer first: `launch` is a cause, and also a --cost.
bool explain_rows(std::ostream& out, std::string_view word) {
  bool found = false;
  for (const bool is_answer : {true, false}) {
    for (const FamilyListing& listing : families()) {
      for (const Row& row : listing.rows) {
        if (row.name != word || row_basis(listing, row).has_value() != is_answer) continue;
        if (found) out << "\n";
        explain_row(out, listing, row);
        found = true;
      }
    }
  }
  return found;
}

// Words that are in no table, such as a column of an answer.
bool explain_answer_word(std::ostream& out, std::string_view word) {
  const manual::WordEntry* const entry = manual::find_word(manual::kAnswerWord, word);
  if (entry == nullptr) return false;
  out << entry->name << " (a word of answers): " << entry->text << "\n";
  return true;
}

bool explain_path(std::ostream& out, std::string_view path) {
  for (const ResultKind& kind : result_kinds()) {
    const std::optional<ResultPath> described = described_at(kind, path);
    if (!described) continue;
    const std::string kind_words =
        kind.row.name == "run" ? "a run" : "'" + std::string(kind.row.name) + "'";
    out << path << " (in the JSON of " << kind_words << ", " << described->type
        << "): " << described->sentence << "\n";
    return true;
  }
  return false;
}

// Explains a setting of a run, a what-if or a plan.
bool explain_key(std::ostream& out, const std::string& word) {
  if (const Field* field = find_field(word)) {
    out << field->name << " (a setting, --" << field->name << "): " << field->help << "\n";
    return true;
  }
  const std::string meaning = meaning_of_key(word);
  if (meaning.empty()) return false;
  out << word << " (of --set, by the model): " << meaning << "\n";
  return true;
}

// Returns the metrics of the last run, or none if no result was kept.
std::vector<Metric> last_metrics() {
  try {
    return read_result(place_of_result("last")).record.metrics;
  } catch (const RunError&) {
    return {};
  }
}

// A run may have numbers that the manual does not know: of a newer or an older version.
bool explain_metric(std::ostream& out, std::string_view name) {
  const manual::MetricEntry* const entry = manual::metric_entry(name);
  const std::vector<Metric> metrics = last_metrics();
  const auto last = std::find_if(metrics.begin(), metrics.end(),
                                 [&](const Metric& metric) { return metric.name == name; });
  if (entry == nullptr && last == metrics.end()) return false;
  out << name << " (a metric): " << (entry != nullptr ? entry->what : last->help) << "\n";
  if (entry != nullptr) out << entry->basis << "\n";
  if (last != metrics.end())
    out << "The last run: " << metric_value(*last) << ", " << last->help << "\n";
  return true;
}

[[noreturn]] void refuse(const std::string& word) {
  const std::vector<std::string> paths = paths_of_run();
  const std::vector<std::string> rows = known_words();
  std::vector<std::string_view> known(paths.begin(), paths.end());
  for (const manual::WordEntry& entry : manual::word_entries()) known.push_back(entry.name);
  for (const Field& field : fields()) known.push_back(field.name);
  known.insert(known.end(), rows.begin(), rows.end());
  throw UsageError(
      "explain " + shown_text(word) +
          ": is no row of 'loaderscope list', no path of a result's JSON, no metric and no setting",
      did_you_mean(word, known));
}

// Lists the words that have an entry in the manual.
void list_words(std::ostream& out) {
  out << "What a word means and what to do: loaderscope explain WORD\n";
  out << "word:\n";
  for (const manual::WordEntry& entry : manual::word_entries()) {
    if (entry.family == manual::kAnswerWord) out << "  " << entry.name << "\n";
  }
  for (const FamilyListing& listing : families()) {
    std::set<std::string_view> names;
    for (const manual::WordEntry& entry : manual::word_entries()) {
      if (entry.family == listing.family) names.insert(entry.name);
    }
    if (names.empty()) continue;
    out << listing.family << ":\n";
    for (const Row& row : listing.rows) {
      if (names.contains(row.name)) out << "  " << row.name << ": " << row.help << "\n";
    }
  }
  out << "Also any other row of 'loaderscope list', any path of a result's JSON, any metric\n"
         "('loaderscope help metrics'), and any setting.\n";
}

bool explain_word(std::ostream& out, const std::string& word) {
  return explain_rows(out, word) || explain_answer_word(out, word) || explain_path(out, word) ||
         explain_metric(out, word) || explain_key(out, word);
}

// A word of an earlier version.
bool explain_old_word(std::ostream& out, const std::string& word) {
  std::string now = current_path(word);
  for (const WordKind kind : {WordKind::finding, WordKind::engine, WordKind::limit})
    if (now == word) now = std::string(current_word(kind, word));
  if (now == word) return false;
  out << word << " is now called " << now << ".\n";
  return explain_word(out, now);
}

ExitCode explain(const std::string& word) {
  std::stringstream text;
  if (word.empty()) {
    list_words(text);
  } else if (!explain_word(text, word) && !explain_old_word(text, word)) {
    refuse(word);
  }
  StandardOutput out;
  for (std::string line; std::getline(text, line);)
    out.stream() << wrapped(line, kMaxAnswerColumns, 2) << "\n";
  return out.finish();
}

}  // namespace

Action declare_explain(CLI::App& app) {
  const auto word = std::make_shared<std::string>();
  app.add_option(
      "WORD", *word,
      "Explain a finding, cause, metric, setting, row of 'loaderscope list' or path in JSON.");
  return [word] { return explain(*word); };
}

}  // namespace loaderscope
