// The default answer of what-if: the rate that is predicted, and how far to trust it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "report/answer/answers.h"
#include "report/answer/plain_figures.h"
#include "report/answer/setting_words.h"

namespace loaderscope {
namespace {

constexpr double kSmallestPart = 0.005;  // share of the window; smaller parts have no row

const WhatIfCase& find_present(const WhatIf& answer) {
  return answer.measured ? *answer.measured : answer.fitted;
}

// "Predicted with num_workers=16: 434 -> about 800 samples/s"
std::string what_if_headline(const WhatIf& answer) {
  const std::string setting = answer.changes.empty() ? "no change" : python_words(answer.changes);
  if (!answer.predicted)
    return fmt::format("Gain unknown with {}{}", setting,
                       answer.why_not.empty() ? "" : ": " + plain_figures(answer.why_not));
  const std::string before = plain_rate(find_present(answer).samples_per_s),
                    after = plain_rate(answer.predicted->samples_per_s);
  if (before == after)
    return fmt::format("Predicted with {}: {} samples/s, as now", setting, after);
  return fmt::format("Predicted with {}: {} -> {}{} samples/s", setting, before,
                     answer.at_most ? "at most " : about_by(answer.history), after);
}

// Returns a sentence about the accuracy of the prediction.
std::string what_if_trust(const WhatIf& answer) {
  if (answer.verified && answer.predicted && answer.verified->samples_per_s > 0) {
    const double off = answer.predicted->samples_per_s / answer.verified->samples_per_s - 1;
    return fmt::format("--verify measured {} samples/s, so the prediction is {} off",
                       plain_rate(answer.verified->samples_per_s), whole_percent(std::abs(off)));
  }
  if (answer.verified)
    return fmt::format("--verify measured {} samples/s",
                       plain_rate(answer.verified->samples_per_s));
  if (!answer.predicted) return "";
  std::string text;
  if (answer.fit)
    text = fmt::format("the model gives the rate of the run itself within {}",
                       whole_percent(std::max(0.01, std::abs(answer.fit->rate_error))));
  if (answer.may_be_off > 0)
    text += fmt::format("{}it may be off by {}", text.empty() ? "" : "; ",
                        whole_percent(answer.may_be_off));
  else if (const std::optional<double> bound = answer.history.bound())
    text += fmt::format("{}the last {} predictions were off by {} at most",
                        text.empty() ? "" : "; ", answer.history.count, whole_percent(*bound));
  return text;
}

// Returns when a data set in GPU memory pays, if the change keeps it there, and the accuracy.
std::string what_if_why(const WhatIf& answer) {
  const std::string trust = what_if_trust(answer);
  if (!answer.resident) return trust;
  const std::string pays = "it " + answer.resident->sentence();
  return trust.empty() ? pays : pays + "; " + trust;
}

struct PartOfWindow {
  std::string name;
  double now = 0, then = 0;
};

// Compute, the three largest causes and the rest.
std::vector<PartOfWindow> parts_of_prediction(const Account& now, const Account& then) {
  constexpr std::size_t kMaxPredictedCauses = 3;
  std::vector<PartOfWindow> parts;
  for (const auto& word : Words<Cause>::table()) {
    const PartOfWindow part{std::string(shown_name(word.name)),
                            window_share(now.stall[word.value], now),
                            window_share(then.stall[word.value], then)};
    if (std::max(part.now, part.then) >= kSmallestPart) parts.push_back(part);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) {
    return std::max(a.now, a.then) > std::max(b.now, b.then);
  });
  if (parts.size() > kMaxPredictedCauses + 1) {
    PartOfWindow others{fmt::format("{} others", parts.size() - kMaxPredictedCauses)};
    for (std::size_t i = kMaxPredictedCauses; i < parts.size(); ++i) {
      others.now += parts[i].now;
      others.then += parts[i].then;
    }
    parts.resize(kMaxPredictedCauses);
    parts.push_back(others);
  }
  const PartOfWindow compute{"compute", window_share(now.compute, now),
                             window_share(then.compute, then)};
  if (std::max(compute.now, compute.then) >= kSmallestPart) parts.insert(parts.begin(), compute);
  return parts;
}

TextTable what_if_table(const WhatIf& answer) {
  if (!answer.predicted) return TextTable("");
  const WhatIfCase &now = find_present(answer), &then = *answer.predicted;
  TextTable table("lrr", {"", "now", "then"});
  table.add({"samples/s", plain_rate(now.samples_per_s), plain_rate(then.samples_per_s)});
  for (const PartOfWindow& part : parts_of_prediction(now.account, then.account))
    table.add({part.name, whole_percent(part.now), whole_percent(part.then)});
  return table;
}

// The price stays if the answer is too long. The other stream is left out first.
void add_gpu_lines(const GpuWork& gpu, Answer& answer) {
  const auto add = [&](const std::string& sentence, bool is_needed) {
    if (sentence.empty()) return;
    AnswerLine line{"Also", plain_figures(sentence)};
    if (is_needed) line.needed = line.text.size();
    answer.first.push_back(std::move(line));
  };
  add(gpu.price_sentence(), true);
  add(gpu.workers_sentence(), true);
  add(gpu.basis_sentence(), true);
  add(gpu.own_stream_sentence(), false);
}

}  // namespace

Answer answer_what_if(const WhatIf& what_if) {
  Answer answer;
  answer.headline = what_if_headline(what_if);
  const bool can_be_run = !what_if.verified && what_if.why_not_run.empty();
  if (!what_if.predicted && can_be_run) answer.first.push_back({"Next", "--verify (measures it)"});
  if (const std::string why = what_if_why(what_if); !why.empty())
    answer.first.push_back({"Why", why});
  if (what_if.memory) answer.first.push_back({"Why", plain_figures(what_if.memory->sentence())});
  if (what_if.gpu && what_if.predicted) add_gpu_lines(*what_if.gpu, answer);
  answer.table = what_if_table(what_if);
  std::string more = "-v, --html page.html";
  if (what_if.predicted && can_be_run) more += "    Test: --verify";
  answer.last.push_back({"More", more + "    Learn: help prediction"});
  return answer;
}

}  // namespace loaderscope
