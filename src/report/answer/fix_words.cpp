#include "report/answer/fix_words.h"

#include <fmt/format.h>

#include <algorithm>

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

bool is_gain_known(const Analysis& analysis, const Finding& finding) {
  return finding.has_figures() && !finding.changes.empty() &&
         (!analysis.fit || analysis.fit->can_predict());
}

// A finding about a stage gives its own reason.
const Finding& cause_of_fix(const Analysis& analysis, const Finding& fix) {
  if (cause_of_finding(fix.id)) return fix;
  const auto about = std::find_if(analysis.findings.begin(), analysis.findings.end(),
                                  [&](const Finding& one) { return one.id == fix.cause; });
  return about == analysis.findings.end() ? fix : *about;
}

bool is_of_each_rank(const RunRecord& record, const Finding& fix) {
  return record.config.trainer.ranks > 1 &&
         std::any_of(fix.to_run.begin(), fix.to_run.end(),
                     [](const Change& change) { return change.key == "num-workers"; });
}

std::string setting_text(const RunRecord& record, const Finding& finding) {
  const std::string code = without_comment(finding.pytorch);
  const bool is_call = code.find("(...") != code.npos;
  if (code.empty()) return changes_to_text(finding.to_run);
  if (!is_call || find_framework(record).row.name != "torch") return short_advice(code);
  const std::string place = place_of_loader(record);
  return place.empty() ? short_advice(code) : place + "  " + call_arguments(short_advice(code));
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

std::string gain_figures(const Analysis& analysis, const Finding& finding) {
  if (!is_gain_known(analysis, finding)) return "";
  return fmt::format("{} -> {}{} samples/s", plain_rate(finding.rate_before),
                     about_by(analysis.past), plain_rate(finding.rate_after));
}

AnswerLine make_fix_line(const RunRecord& record, const Analysis& analysis, const Finding& fix) {
  AnswerLine line{"Fix", ""};
  if (!fix.has_setting()) {
    line.text = plain_figures(short_advice(fix.pytorch));
    return line;
  }
  line.text = setting_text(record, fix);
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

// The cause of line 1 is not the longest bar. Only gains show why.
std::string shorter_bar_text(const Analysis& analysis, Cause hidden) {
  const auto gain_text = [&](Cause cause) {
    const double saved = analysis.removals.saves(cause);
    return saved < kMinUsefulGain ? "nothing"
                                  : plain_figures(format_percent(saved) + " of the time");
  };
  const Cause limit = analysis.verdict.candidates.front();
  return fmt::format("without {} {} would be gained, without {} {}", name_of(hidden),
                     gain_text(hidden), name_of(limit), gain_text(limit));
}

std::string reason_text(const Analysis& analysis, const Finding& fix) {
  if (const auto hidden = analysis.verdict.hidden) return shorter_bar_text(analysis, *hidden);
  const Finding& cause = cause_of_fix(analysis, fix);
  // Further clauses have details, which -v prints.
  std::string text = plain_figures(cause.evidence.substr(0, cause.evidence.find("; ")));
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
    if (is_gain_known(analysis, finding)) {
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
