#include "report/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/wording.h"
#include "report/text_report.h"
#include "report/text_table.h"

namespace loaderscope {
namespace {

using selftest::kTolerance;
using selftest::Recovery;
using selftest::Result;

constexpr double kVisibleChange = 0.01;   // share of the injected delay
constexpr double kMuchContention = 0.05;  // share of the base runs' windows

std::string share_text(const Recovery& recovery) { return format_percent(recovery.share()); }

std::string name_of_stage(const Recovery& recovery) {
  return std::string(name_of(recovery.stage)) + " (" + recovery.pipeline + ")";
}

std::string not_found_line(const std::vector<const Recovery*>& missing) {
  std::string text = "Do not trust it here: of the delay injected into ";
  for (const Recovery* recovery : missing) {
    if (recovery != missing.front()) text += ", of that into ";
    text += name_of_stage(*recovery) + " the account shows " + share_text(*recovery);
  }
  return text;
}

// Returns a note about stages that were found only in later rounds, and so need luck.
std::string found_late_words(const Result& result) {
  std::size_t fewest = result.stages.front().growth.size();
  const Recovery* latest = &result.stages.front();
  std::int64_t late = 0;
  for (const Recovery& recovery : result.stages) {
    fewest = std::min(fewest, recovery.growth.size());
    if (recovery.growth.size() > latest->growth.size()) latest = &recovery;
  }
  for (const Recovery& recovery : result.stages) late += recovery.growth.size() > fewest ? 1 : 0;
  if (late == 0) return "";
  return fmt::format("; {}{} only when looked for again, up to round {} (the others: {})",
                     name_of_stage(*latest), late > 1 ? " and " + plural(late - 1, "other") : "",
                     latest->growth.size(), fewest);
}

std::string answer_line(const Result& result) {
  if (result.interrupted)
    return "Interrupted after " + plural(std::ssize(result.stages), "stage") + ": no answer";
  const auto missing = result.not_found();
  if (!missing.empty()) return not_found_line(missing);
  if (result.stages.empty()) return "No stage was measured: no answer";
  return fmt::format(
      "Trust it here: at least {:.0f} % of every injected delay was found in its own stage, "
      "worst {} {}{}",
      100 * (1 - kTolerance), name_of_stage(*result.worst()), share_text(*result.worst()),
      found_late_words(result));
}

// Returns the possible reason why an injected delay was not found in a stage.
std::string reason_line(const Result& result) {
  if (result.interrupted || result.not_found().empty()) return "";
  const std::string share = format_percent(result.contention);
  if (result.contention >= kMuchContention) {
    return "Other programs took cores: " + share +
           " of the runs without a delay were spent waiting for one; run it again when the machine "
           "is quieter, or give it longer with --duration 3m";
  }
  return "Other programs hardly disturbed it (" + share +
         " of the runs without a delay were spent waiting for a core): compare this stage's "
         "seconds "
         "with another tool's before you act on them";
}

std::string format_ms(double seconds_per_step) {
  return fmt::format("{:.2f}", 1e3 * seconds_per_step);
}

// The other causes that changed, the largest change first.
std::vector<std::pair<Cause, double>> changes_elsewhere(const Recovery& recovery) {
  std::vector<std::pair<Cause, double>> changes;
  for (const auto& word : Words<Cause>::table()) {
    const double change = recovery.elsewhere(word.value);
    if (word.value != recovery.cause() && std::abs(change) >= kVisibleChange)
      changes.emplace_back(word.value, change);
  }
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
  return changes;
}

std::string format_elsewhere(const Recovery& recovery) {
  std::string text;
  for (const auto& [cause, change] : changes_elsewhere(recovery)) {
    text += fmt::format("{}{} {:+.1f} %", text.empty() ? "" : ", ", shown_name(name_of(cause)),
                        100 * change);
  }
  return text;
}

double miss(const Recovery& recovery) { return std::abs(recovery.share() - 1); }

// In short what was not found, and of each stage the pipeline that misses it most.
std::vector<const Recovery*> shown_rows(const Result& result, bool all) {
  std::map<Stage, const Recovery*> worst;
  for (const Recovery& recovery : result.stages) {
    const Recovery*& so_far = worst[recovery.stage];
    if (so_far == nullptr || miss(recovery) > miss(*so_far)) so_far = &recovery;
  }
  std::vector<const Recovery*> rows;
  for (const Recovery& recovery : result.stages) {
    if (all || !recovery.found() || worst[recovery.stage] == &recovery) rows.push_back(&recovery);
  }
  return rows;
}

void add_rows(TextReportBuilder& screen, const Result& result, bool all) {
  TextTable table("llrrrrl", {"pipeline", "stage", "injected ms/step", "found ms/step", "found",
                              "rounds", all ? "other causes" : ""});
  std::string_view last;
  for (const Recovery* recovery : shown_rows(result, all)) {
    table.add({last == recovery->pipeline ? "" : recovery->pipeline,
               std::string(name_of(recovery->stage)), format_ms(recovery->injected_s),
               format_ms(recovery->recovered_s()), share_text(*recovery),
               std::to_string(recovery->growth.size()), all ? format_elsewhere(*recovery) : ""});
    last = recovery->pipeline;
  }
  if (!table.empty()) screen.table(LinePriority::evidence, table);
}

std::string basis_line(const Result& result) {
  return fmt::format(
      "The table shows by how much a cause's stall per step grew against runs without the delay in "
      "between, median of the rounds; engine {}, {:.0f} s, {} of the base runs waiting for a core",
      result.engine, seconds(result.wall), format_percent(result.contention));
}

void format_growth(ResultVisitor& form, Recovery& recovery) {
  form.list(
      "rounds_s", recovery.growth, "the growth in each round, seconds per step",
      [&](PerCause<double>& round) { form.shown("", round[recovery.cause()], ""); }, Lines::one);
  std::vector<std::pair<std::string, double>> elsewhere;
  for (const auto& [cause, change] : changes_elsewhere(recovery))
    elsewhere.emplace_back(name_of(cause), change);
  form.entries(
      "elsewhere", elsewhere, "growth of the other causes / injected_s, those from 0.01 on",
      [&](ResultVisitor::Name cause, double change) { form.shown(cause, change, ""); },
      enum_names<Cause>(), Lines::one);
}

void describe_recovery(ResultVisitor& form, Recovery& recovery) {
  form.text("pipeline", recovery.pipeline, "the pipeline that the delay was injected into");
  form.word("stage", recovery.stage, "the stage that it was injected into");
  form.shown_word("cause", name_of(recovery.cause()), enum_names<Cause>(),
                  "the cause of stall that must grow");
  form.real("injected_s", recovery.injected_s, "delay per step, seconds", kNotNegative);
  form.shown("recovered_s", recovery.recovered_s(),
             "growth of the cause's stall per step against the run without the delay, seconds, "
             "median of the rounds");
  form.shown("share", recovery.share(), "recovered_s / injected_s");
  form.shown("found", recovery.found(), "share is 1 within the tolerance");
  if (!form.reads()) format_growth(form, recovery);
  form.list(
      "rounds", recovery.growth,
      "by how much each cause's stall per step grew in each round, seconds; those of 0 are left "
      "out",
      [&](PerCause<double>& round) {
        form.each_word<Cause>(
            "", round, "one round", [](double growth) { return growth != 0; },
            [&](ResultVisitor::Name cause, double& growth) { form.real(cause, growth, ""); });
      },
      Lines::one);
}

}  // namespace

void write_selftest_text(TextReport& reading, const Result& result, const ReportStyle& style) {
  TextReportBuilder& screen = reading.body;
  screen.wrapped_headline(answer_line(result), result.passed() ? LineTone::good : LineTone::bad);
  screen.line(LinePriority::advice, reason_line(result));
  add_rows(screen, result, style.verbose);
  screen.line(LinePriority::basis, basis_line(result));
  for (const std::string& note : result.notes) screen.note(LinePriority::basis, note);
  reading.more = "more with -vv: stages that were not found, notes";
}

void describe_selftest(ResultVisitor& form, Result& result) {
  form.text("engine", result.engine, "what ran; empty when nothing did");
  form.shown("passed", result.passed(),
             "every delay was found in its own stage, within the tolerance");
  form.flag("interrupted", result.interrupted, "stopped before its end: stages may be missing");
  form.shown("sentence", answer_line(result), "the answer for people");
  form.shown("tolerance", kTolerance, "a delay is found when share differs from 1 by no more");
  form.real("contention_share", result.contention,
            "of the runs without a delay, the part spent waiting for a core", kShare);
  form.seconds("wall_s", result.wall, "duration of all runs, seconds");
  form.list("stages", result.stages, "one element per delay", [&](Recovery& recovery) {
    form.object("", "", [&] { describe_recovery(form, recovery); });
    if (form.reads() && (recovery.growth.empty() || recovery.injected_s <= 0))
      form.refuse("has a delay without rounds");
  });
  form.texts("notes", result.notes, "what a reader must know: settings without effect");
}

}  // namespace loaderscope
