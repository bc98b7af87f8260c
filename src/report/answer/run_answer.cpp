// The default answer of a run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analysis/devices.h"
#include "analysis/findings/subject.h"
#include "analysis/totals.h"
#include "analysis/verdict.h"
#include "base/replace_all.h"
#include "base/secret.h"
#include "loaderscope/run_config.h"
#include "record/family_traits.h"
#include "report/answer/answers.h"
#include "report/answer/cause_phrases.h"
#include "report/answer/fix_words.h"
#include "report/answer/plain_figures.h"
#include "report/answer/rank_answer.h"
#include "report/next_command.h"
#include "report/proof_text.h"
#include "report/table_parts.h"

namespace loaderscope {
namespace {

constexpr std::string_view kSimulated = "(simulated GPU)";
constexpr std::string_view kWrongData = "Wrong data: ";

bool is_on_simulated_gpu(const RunRecord& record) {
  return device_kind(record.config.trainer.device.value) == DeviceKind::simulated;
}

LineTone tone_of_answer(const Verdict& verdict) {
  if (verdict.withheld_reason) return LineTone::plain;
  if (verdict.severity == "none") return LineTone::good;
  if (verdict.severity == "moderate") return LineTone::warning;
  return verdict.severity == "high" ? LineTone::bad : LineTone::plain;
}

// The device of a simulated run is named at the end of line 1, or of the last line.
void add_simulated(Answer& answer, const RunRecord& record) {
  if (!is_on_simulated_gpu(record)) return;
  constexpr std::size_t kRoom = kMaxAnswerColumns - kSimulated.size() - 2;
  if (count_columns(answer.headline) > kRoom) shorten_phrase(answer.headline);
  const std::string simulated =
      count_gpus(record) > 1 ? "(simulated GPUs)" : std::string(kSimulated);
  const std::string with = answer.headline + " " + simulated;
  if (count_columns(with) <= static_cast<std::size_t>(kMaxAnswerColumns))
    answer.headline = with;
  else
    answer.ending = simulated;
}

// "reading or decoding is too slow"
std::string undecided_phrase(const Verdict& verdict) {
  std::string text;
  for (const Cause cause : verdict.candidates) {
    if (cause == Cause::other) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " or ", cause_noun(cause));
  }
  return text.empty() ? "for no known reason" : text + " is too slow";
}

std::string phrase_of_run(const RunRecord& record, const Analysis& analysis, const Finding* fix) {
  if (const std::string_view said = named_finding(record, fix); !said.empty())
    return std::string(said);
  if (const std::optional<Cause> cause = named_cause(record, analysis, fix))
    return cause_phrase(*cause, record, analysis.account);
  const bool is_undecided = analysis.verdict.candidates.size() > 1;
  return is_undecided ? undecided_phrase(analysis.verdict) : "for no known reason";
}

bool is_contention_of_others(const Verdict& verdict) {
  return verdict.bound_by == std::string(name_of(Cause::contention));
}

std::string make_headline(const RunRecord& record, const Analysis& analysis, const Finding* fix) {
  const Verdict& verdict = analysis.verdict;
  const std::string who = who_waits(record);
  const bool is_plural = who == "GPUs";
  if (verdict.withheld_reason) return "No verdict: " + verdict.withheld_briefly;
  if (!analysis.has_busy) {
    const std::string rate = plain_rate(analysis.samples_per_s.mean);
    return fmt::format("The loader gives {} samples/s: {}", rate,
                       phrase_of_run(record, analysis, fix));
  }
  const double idle = window_share(analysis.account.idle(), analysis.account);
  if (verdict.bound_by == "compute") {
    const bool is_program = who == "Training";
    const std::string subject = is_program  ? "Training computes"
                                : is_plural ? "GPUs are busy"
                                            : "GPU is busy";
    return fmt::format("{} {} of the time: the loader keeps up", subject, whole_percent(1 - idle));
  }
  // Names other programs, because no setting is worth a change.
  if (fix == nullptr && is_contention_of_others(verdict) && who != "Training")
    return fmt::format("{} {} busy {} of the time; most of the rest is lost to other programs", who,
                       is_plural ? "are" : "is", whole_percent(1 - idle));
  const std::string phrase = phrase_of_run(record, analysis, fix);
  const bool is_reason = phrase.starts_with("for ");
  return fmt::format("{} {} {} of the time{} {}", who, is_plural ? "wait" : "waits",
                     whole_percent(idle), is_reason ? "" : ":", phrase);
}

void add_wrong_data(Answer& answer, const Analysis& analysis) {
  for (const Finding& finding : analysis.findings) {
    if (!finding.wrong_data) continue;
    answer.headline = std::string(kWrongData) + plain_figures(finding.evidence);
    answer.tone = LineTone::bad;
    answer.first.push_back({"Fix", plain_figures(short_advice(finding.pytorch))});
    return;
  }
}

// "54 to 62 % of the time": where the share that is waited may lie.
std::string range_of_waiting(const Analysis& analysis) {
  const double low = std::max(0.0, 1 - analysis.busy.high),
               high = std::min(1.0, 1 - analysis.busy.low);
  const std::string first = fmt::format("{:.0f}", 100 * low), last = whole_percent(high);
  return first + " %" == last ? last : first + " to " + last;
}

void add_next_step(Answer& answer, const RunRecord& record, const Analysis& analysis) {
  const std::string command = next_command(record, analysis);
  if (!command.empty())
    answer.first.push_back({"Next", command, "", true});
  else
    answer.first.push_back({"Next", analysis.verdict.withheld_next.empty()
                                        ? "run it again, and longer"
                                        : analysis.verdict.withheld_next});
}

std::vector<AnswerBar> make_bars(const RunRecord& record, const Analysis& analysis) {
  std::vector<AnswerBar> bars;
  for (const AccountLine& line : account_lines(record, analysis)) {
    std::string remark;
    std::vector<std::string> texts = first_texts(record, line.name, 2);
    for (const std::string& text : texts) remark += (remark.empty() ? "" : ", ") + text;
    bars.push_back({line.label, line.share, std::move(remark)});
  }
  return largest_bars(std::move(bars));
}

// Returns true if "--try" can test the fix.
bool can_try(const RunRecord& record, const Analysis& analysis, const Finding* fix) {
  if (fix == nullptr || !fix->has_setting() || analysis.proof) return false;
  return next_command(record, analysis).find(" --try") != std::string::npos;
}

std::string make_more_line(const RunRecord& record, const Analysis& analysis, const Finding* fix) {
  std::string text = is_trace_engine(record.engine) ? "-v" : "-v, --html page.html";
  if (can_try(record, analysis, fix)) text += "    Test: --try";
  std::string_view word;
  if (fix != nullptr) {
    word = fix->id;
  } else if (analysis.verdict.withheld_reason) {
    word = analysis.verdict.withheld_reason->find("steady") != std::string::npos ? "steady"
                                                                                 : "verdict";
  } else if (analysis.verdict.bound_by == "compute") {
    word = "gpu-is-the-limit";
  } else if (!analysis.findings.empty()) {
    word = analysis.findings.front().id;
  }
  if (!word.empty()) text += fmt::format("    Learn: explain {}", word);
  // Narrower gaps keep a long word on the line.
  const bool is_long = text.size() + std::string_view("More:  ").size() > kMaxAnswerColumns;
  return is_long ? replace_all(text, "    ", "  ") : text;
}

std::string idle_cost_text(const RunRecord& record, const Analysis& analysis) {
  if (!analysis.waste || analysis.waste->gpu_hours_per_day < 1) return "";
  const double all = analysis.waste->gpu_hours_per_day;
  const std::int64_t hours = std::llround(all);
  std::string text =
      fmt::format("{} a day {} lost now", plural(hours, "GPU-hour"), hours == 1 ? "is" : "are");
  if (const auto gpus = static_cast<double>(count_gpus(record)); gpus > 1 && all >= gpus)
    text += fmt::format(" ({:.0f} per GPU)", all / gpus);
  return text;
}

// "3 samples were skipped: truncated, unsupported (-vv names them)". Counts each sample once.
std::string skipped_text(const SkippedSamples& skipped) {
  constexpr std::size_t kMaxNamedSamples = 10;  // a record names no more
  if (skipped.samples == 0) return "";
  std::string kinds;
  for (const auto& [kind, count] : skipped.kind_counts)
    kinds += (kinds.empty() ? "" : ", ") + replace_all(kind, "_", " ");
  const auto count = static_cast<std::int64_t>(skipped.first.size());
  const bool are_all_named = skipped.first.size() < kMaxNamedSamples;
  const bool is_one = count == 1;
  return fmt::format("{}{} {} skipped: {} (-vv names {})", are_all_named ? "" : "at least ",
                     plural(count, "sample"), is_one ? "was" : "were", kinds,
                     is_one ? "it" : "them");
}

AnswerLine also_line(std::string text, std::size_t needed) {
  AnswerLine line{"Also", std::move(text)};
  line.needed = needed;
  return line;
}

// Adds other things to know or to do. Skipped samples are always named.
void add_also(Answer& answer, const RunRecord& record, const Analysis& analysis,
              const Finding* fix) {
  const std::string skipped = skipped_text(record.skipped);
  std::vector<std::string> texts = {skipped};
  if (analysis.verdict.bound_by != "compute") {
    texts.push_back(second_best_text(record, analysis, fix));
    texts.push_back(idle_cost_text(record, analysis));
  }
  std::erase(texts, "");
  if (texts.empty()) return;
  answer.last.push_back(also_line(fmt::format("{}", fmt::join(texts, "; ")), skipped.size()));
}

void add_proof(Answer& answer, const Analysis& analysis) {
  if (!analysis.proof) return;
  const std::vector<std::string> lines = proof_lines(analysis);
  if (lines.empty()) return;
  std::string text = plain_figures(lines.front());
  if (has_technical_word(text)) return;
  answer.first.push_back({"Why", text});
}

void add_fix(Answer& answer, const RunRecord& record, const Analysis& analysis,
             const Finding* fix) {
  const Verdict& verdict = analysis.verdict;
  const std::optional<Cause> named = named_cause(record, analysis, fix);
  if (fix != nullptr) {
    answer.first.push_back(make_fix_line(record, analysis, *fix));
    if (const std::string why = reason_text(analysis, *fix, named); !why.empty())
      answer.first.push_back({"Why", why});
    if (fix->memory) answer.first.push_back({"Why", plain_figures(fix->memory->sentence())});
    return;
  }
  if (verdict.bound_by == "compute") {
    answer.first.push_back({"Fix", "nothing; a faster loader would not make training faster"});
    const std::string rate = plain_rate(analysis.samples_per_s.mean);
    for (const Finding& finding : analysis.findings) {
      if (!finding.is_ceiling || !finding.has_figures()) continue;
      const bool is_far = finding.rate_after > 100 * finding.rate_before;
      const std::string most = plain_rate(finding.rate_after);
      const std::string could = is_far         ? "could give far more"
                                : most == rate ? "can give hardly more"
                                               : "could give " + most;
      answer.first.push_back(
          {"Why", fmt::format("training uses {} samples/s, and the loader {}", rate, could)});
      return;
    }
    answer.first.push_back({"Why", fmt::format("training uses {} samples/s", rate)});
    return;
  }
  if (is_contention_of_others(verdict)) {
    answer.first.push_back({"Fix", "end them, or give the job its own cores (taskset)"});
    for (const Finding& finding : analysis.findings)
      if (finding.id == "other-programs")
        answer.first.push_back({"Why", plain_figures(finding.evidence)});
    return;
  }
  for (const Finding& finding : analysis.findings) {
    if (finding.wrong_data || finding.is_ceiling || finding.pytorch.empty()) continue;
    const bool is_known = is_gain_known(analysis, finding);
    if (is_known && finding.has_setting()) continue;  // gains nothing
    const std::string advice = plain_figures(short_advice(finding.pytorch));
    if (has_technical_word(advice)) continue;
    answer.first.push_back(
        {"Fix", advice + (is_known ? " (gains less than 10 %)" : " (gain unknown)")});
    if (const std::string why = reason_text(analysis, finding, named); !why.empty())
      answer.first.push_back({"Why", why});
    return;
  }
}

LineTone tone_of_against(const AgainstRun& against) {
  if (!against.is_decided()) return against.verdict == "same" ? LineTone::good : LineTone::warning;
  return against.verdict == "worse" ? LineTone::bad : LineTone::good;
}

// Puts the difference from an earlier run into line 1. Wrong data stays there.
void put_against_first(Answer& answer, const AgainstRun& against, bool is_wrong) {
  const auto after_fix = std::find_if(answer.first.begin(), answer.first.end(),
                                      [](const AnswerLine& line) { return line.label == "Why"; });
  const auto state =
      answer.first.insert(after_fix, {"Why", is_wrong ? against.sentence : answer.headline});
  // The settings are the reason for the difference, so other reasons are left out first.
  if (!against.settings.empty()) {
    AnswerLine line{"Why", plain_figures("settings that differ: " + against.settings.front())};
    line.needed = line.text.size();
    for (std::size_t i = 1; i < against.settings.size(); ++i)
      line.text += ", " + plain_figures(against.settings[i]);
    answer.first.insert(std::next(state), std::move(line));
  }
  if (!is_wrong) {
    answer.headline = against.sentence;
    answer.tone = tone_of_against(against);
  }
  if (!against.warnings.empty())
    answer.last.insert(answer.last.begin(),
                       {"Also", "not alike: " + plain_figures(against.warnings.front())});
}

Answer answer_without_comparison(const RunRecord& record, const Analysis& analysis) {
  const Finding* fix = advised_fix(analysis);
  Answer answer;
  answer.tone = tone_of_answer(analysis.verdict);
  add_wrong_data(answer, analysis);
  const bool is_wrong = !answer.headline.empty();
  if (!is_wrong) {
    if (std::optional<Answer> ranks = answer_slow_rank(record, analysis)) {
      if (const std::string skipped = skipped_text(record.skipped); !skipped.empty())
        ranks->last.insert(ranks->last.begin(), also_line(skipped, skipped.size()));
      add_simulated(*ranks, record);
      return *ranks;
    }
    answer.headline = make_headline(record, analysis, fix);
    add_simulated(answer, record);
  } else {
    answer.first.push_back({"Why", plain_figures(make_headline(record, analysis, fix))});
  }
  if (analysis.verdict.withheld_reason) {
    if (!is_wrong) add_next_step(answer, record, analysis);
    if (analysis.is_too_short()) return answer;
    if (analysis.has_busy && analysis.steps > 0) {
      const std::string who = who_waits(record) == "Training" ? "training" : who_waits(record);
      answer.first.push_back(
          {"Why", fmt::format("so far {} {} {} of the time", who, who == "GPUs" ? "wait" : "waits",
                              range_of_waiting(analysis))});
    }
  } else if (!is_wrong) {
    add_fix(answer, record, analysis, fix);
  }
  add_proof(answer, analysis);
  if (analysis.steps > 0) answer.bars = make_bars(record, analysis);
  add_also(answer, record, analysis, fix);
  answer.last.push_back({"More", make_more_line(record, analysis, fix)});
  return answer;
}

}  // namespace

Answer answer_run(const RunRecord& record, const Analysis& analysis) {
  Answer answer = answer_without_comparison(record, analysis);
  if (analysis.against)
    put_against_first(answer, *analysis.against, answer.headline.starts_with(kWrongData));
  return answer;
}

}  // namespace loaderscope
