#include "report/answer/fix_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/frameworks.h"
#include "analysis/removal.h"
#include "loaderscope/findings.h"
#include "record/environment_changes.h"
#include "record/family_traits.h"
#include "report/answer/cause_phrases.h"
#include "report/answer/plain_figures.h"
#include "report/answer/setting_words.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxAdvice = 140;  // letters: two lines
constexpr std::size_t kMaxWhy = 140;
constexpr double kMinNamedGain = 0.05;  // relative gain of the rate
constexpr double kMinSeenGain = 0.01;   // relative gain of the rate; less is the same rate

std::string lower_first(std::string text) {
  if (text.size() > 1 && std::isupper(static_cast<unsigned char>(text[0])) != 0 &&
      std::isupper(static_cast<unsigned char>(text[1])) == 0)
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string without_stop(std::string text) {
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

// "train.py:32" of the one loader that is measured; empty if that is not known.
std::string place_of_loader(const RunRecord& record) {
  for (const LoaderUse& loader : record.loaders) {
    if (!loader.measured || loader.place.empty()) continue;
    const std::size_t slash = loader.place.rfind('/');
    return slash == loader.place.npos ? loader.place : loader.place.substr(slash + 1);
  }
  return "";
}

// "num_workers=2" of "DataLoader(..., num_workers=2)". Keeps the text after the call.
std::string call_arguments(const std::string& call) {
  const std::size_t begin = call.find("..., ");
  if (begin == call.npos) return call;
  std::size_t end = begin;
  for (int open = 0; end < call.size() && !(call[end] == ')' && open == 0); ++end)
    open += call[end] == '(' ? 1 : call[end] == ')' ? -1 : 0;
  if (end == call.size()) return call;
  return call.substr(begin + 5, end - begin - 5) + call.substr(end + 1);
}

// Removes the comment after the code.
std::string without_comment(const std::string& code) {
  const std::size_t at = code.find("  #");
  return at == code.npos ? code : code.substr(0, at);
}

// A finding about a stage gives its own reason.
const Finding& cause_of_fix(const Analysis& analysis, const Finding& fix) {
  if (cause_of_finding(fix.id)) return fix;
  const auto about = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                  [&](const Finding& one) { return one.id == fix.cause; });
  return about == analysis.findings.end() ? fix : *about;
}

bool has_fewer_workers(const RunRecord& record, const Finding& finding) {
  return std::any_of(finding.to_run.begin(), finding.to_run.end(), [&](const Change& change) {
    return change.key == "num-workers" &&
           parse_count(change.value) < record.config.loader.num_workers;
  });
}

bool is_of_each_rank(const RunRecord& record, const Finding& fix) {
  return record.config.trainer.ranks > 1 &&
         std::any_of(fix.to_run.begin(), fix.to_run.end(),
                     [](const Change& change) { return change.key == "num-workers"; });
}

// "--queue-depth 32 --task sample"
std::string flags_text(const Changes& changes) {
  std::string text;
  for (const Change& change : changes)
    text += fmt::format("{}--{} {}", text.empty() ? "" : " ", change.key, change.value);
  return text;
}

// Returns the cores that the advice names, if the prediction is about them.
bool names_cores(const Finding& finding) {
  if (finding.changes.size() != 1 || finding.changes.front().key != "cores") return false;
  return finding.pytorch.find(" " + finding.changes.front().value + " cores") !=
         finding.pytorch.npos;
}

// "; num_workers=2 would be as fast": threads share the cores in any case.
std::string fewer_workers_text(const Analysis& analysis) {
  for (const Finding& finding : analysis.findings) {
    const bool is_known = finding.id == "too-many-workers" && is_gain_known(analysis, finding);
    if (is_known && std::abs(finding.gain()) < kMinNamedGain)
      return fmt::format("; {} would be as fast", python_words(finding.to_run));
  }
  return "";
}

std::string setting_text(const RunRecord& record, const Finding& finding) {
  const std::string code = without_comment(finding.pytorch);
  const bool is_call = code.find("(...") != code.npos;
  if (code.empty()) return changes_to_text(finding.to_run);
  if (!is_call || find_framework(record).row.name != "torch") return short_advice(code);
  const std::string place = place_of_loader(record);
  return place.empty() ? short_advice(code) : place + "  " + call_arguments(short_advice(code));
}

// More workers compete for cores too. Line 1 then names the work that they share.
Cause largest_making(const Account& account) {
  Cause largest = Cause::contention;
  Nanos most = 0;
  for (const auto& word : Words<Cause>::table()) {
    if (!makes_batches(word.value) || account.stall[word.value] <= most) continue;
    most = account.stall[word.value];
    largest = word.value;
  }
  return largest;
}

// Line 1 names a cause that is not the longest bar. Only gains show why. Returns "" if they do not.
std::string shorter_bar_text(const RemovalGains& removals, Cause longest, Cause named) {
  const double saved = removals.saves(named), by_longest = removals.saves(longest);
  if (named == longest || saved < kMinUsefulGain || saved <= by_longest) return "";
  const auto gain_text = [](double gain) {
    return gain < kMinUsefulGain ? "nothing" : plain_figures(format_percent(gain) + " of the time");
  };
  return fmt::format("without {} {} would be gained, without {} {}", name_of(longest),
                     gain_text(by_longest), name_of(named), gain_text(saved));
}

}  // namespace

std::string short_advice(const std::string& advice) {
  std::string text = advice;
  for (const std::string_view between : {"; ", ", or ", ", if ", " (", ": "}) {
    if (text.size() <= kMaxAdvice) return text;
    const std::size_t at = text.find(between);
    if (at != text.npos && at > 12) text.resize(at);
  }
  return text;
}

bool is_gain_known(const Analysis& analysis, const Finding& finding) {
  return finding.has_figures() && !finding.changes.empty() &&
         (!analysis.fit || analysis.fit->can_predict());
}

std::string gain_figures(const Analysis& analysis, const Finding& finding) {
  if (!is_gain_known(analysis, finding)) return "";
  return fmt::format("{} -> {}{} samples/s", plain_rate(finding.rate_before),
                     about_by(analysis.past), plain_rate(finding.rate_after));
}

AnswerLine make_fix_line(const RunRecord& record, const Analysis& analysis, const Finding& fix) {
  AnswerLine line{"Fix", ""};
  if (!fix.has_setting()) {
    line.text = plain_figures(short_advice(fix.pytorch));
    if (names_cores(fix)) line.figures = gain_figures(analysis, fix);
    return line;
  }
  line.text = setting_text(record, fix);
  // Names the setting that is tested, next to its form in a PyTorch program.
  if (fix.is_rewrite && !is_guest_engine(record.engine))
    line.text = flags_text(fix.to_run) + "; in PyTorch: " + line.text;
  if (is_of_each_rank(record, fix)) line.text += " # per rank";
  line.is_command = line.text.size() <= 72;
  if (is_gain_known(analysis, fix))
    line.figures = gain_figures(analysis, fix);
  else if (fix.to_run.empty() || is_trace_engine(record.engine))
    line.text += " (gain unknown)";
  else
    line.text += " (gain unknown; test it with --try)";
  return line;
}

std::string_view named_finding(const RunRecord& record, const Finding* fix) {
  if (fix == nullptr) return "";
  const std::string_view own = finding_phrase(fix->id, record);
  if (!own.empty() || cause_of_finding(fix->id)) return own;
  return finding_phrase(fix->cause, record);
}

std::optional<Cause> named_cause(const RunRecord& record, const Analysis& analysis,
                                 const Finding* fix) {
  if (!named_finding(record, fix).empty()) return std::nullopt;
  if (fix != nullptr) {
    if (const std::optional<Cause> cause = cause_of_finding(fix->id)) return cause;
    if (fix->removes && fix->has_figures()) {
      const bool is_of_cores = fix->removes == Cause::contention && fix->id == "too-few-workers";
      return is_of_cores ? largest_making(analysis.account) : *fix->removes;
    }
  }
  const std::vector<Cause>& candidates = analysis.verdict.candidates;
  return candidates.size() == 1 ? std::optional(candidates.front()) : std::nullopt;
}

std::string reason_text(const Analysis& analysis, const Finding& fix, std::optional<Cause> named) {
  if (const auto hidden = analysis.verdict.hidden; hidden && named)
    if (const std::string text = shorter_bar_text(analysis.removals, *hidden, *named);
        !text.empty())
      return text;
  const Finding& cause = cause_of_fix(analysis, fix);
  // Further clauses have details, which -v prints.
  std::string text = plain_figures(cause.evidence.substr(0, cause.evidence.find("; ")));
  if (cause.id == "cpu-oversubscribed") text += fewer_workers_text(analysis);
  if (text.size() <= kMaxWhy && !has_technical_word(text)) return text;
  for (const FindingRow& row : finding_table())
    if (row.row.name == cause.id) return lower_first(without_stop(std::string(row.row.help)));
  return "";
}

std::string second_best_text(const RunRecord& record, const Analysis& analysis,
                             const Finding* fix) {
  for (const Finding& finding : analysis.findings) {
    if (&finding == fix || finding.wrong_data || finding.is_ceiling) continue;
    if (fix != nullptr && finding.id == fix->cause) continue;
    if (!finding.is_worth_doing() && finding.waited <= 0) continue;
    if (!finding.has_setting()) {
      std::string text = plain_figures(short_advice(finding.pytorch));
      if (is_gain_known(analysis, finding) && finding.changes.size() == 1 &&
          finding.gain() >= kMinNamedGain)
        if (const auto speed = find_speedup(finding.changes.front()); speed && speed->factor == 2)
          text += fmt::format("; {} twice as fast gives {} samples/s", name_of(speed->stage),
                              plain_rate(finding.rate_after));
      if (!has_technical_word(text)) return text;
      continue;
    }
    std::string text = setting_text(record, finding);
    if (is_gain_known(analysis, finding) && std::abs(finding.gain()) < kMinSeenGain) {
      if (!has_fewer_workers(record, finding)) continue;
      text += " is as fast";
    } else if (is_gain_known(analysis, finding)) {
      const std::string gives = fmt::format(" gives {}{} samples/s", about_by(analysis.past),
                                            plain_rate(finding.rate_after));
      // A condition of the setting comes last.
      text.insert(std::min({text.find(", if "), text.find(", but "), text.size()}), gives);
    }
    if (!has_technical_word(text)) return text;
  }
  return "";
}

}  // namespace loaderscope
