// The default answer of probe: what the machine gives a loader, or whether that is enough.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "analysis/wording.h"
#include "report/answer/answers.h"
#include "report/answer/plain_figures.h"

namespace loaderscope::probe {
namespace {

constexpr std::size_t kMaxMeasurements = 8;

std::string amount_for_people(const DemandLine& line, double value) {
  return line.unit == "cores" ? fmt::format("{:.0f}", value)
                              : plain_figures(format_byte_rate(value));
}

// "decoding needs 52 of 112 cores", "decoding needs 8 cores, and there are 2"
std::string need_in_words(const DemandLine& line) {
  const bool has_cores = line.unit == "cores";
  if (line.needed > line.there)
    return fmt::format("{} needs {}{}, and there {} {}", line.name,
                       amount_for_people(line, line.needed), has_cores ? " cores" : "",
                       has_cores && std::round(line.there) != 1 ? "are" : "is",
                       amount_for_people(line, line.there));
  return fmt::format("{} needs {} of {}{}", line.name, amount_for_people(line, line.needed),
                     amount_for_people(line, line.there), has_cores ? " cores" : "");
}

// The need that takes most of what is there.
const DemandLine* largest_need(const DemandAnswer& answer) {
  const DemandLine* most = nullptr;
  for (const DemandLine& line : answer.lines)
    if (line.there > 0 && (most == nullptr || line.share > most->share)) most = &line;
  return most;
}

// "Enough for 8 x 1,786 samples/s: decoding needs 52 of 112 cores"
std::string headline_of_demand(const DemandAnswer& answer) {
  const Demand& demand = answer.demand;
  const std::string job =
      fmt::format("{}{} samples/s", demand.ranks > 1 ? fmt::format("{} x ", demand.ranks) : "",
                  with_commas(fmt::format("{:.0f}", demand.samples_per_s)));
  const DemandLine* most = largest_need(answer);
  if (most == nullptr) return "Cannot tell of " + job + ": nothing that they need was measured";
  if (!answer.is_met) return "Not enough for " + job + ": " + need_in_words(*most);
  if (answer.is_all_judged()) return "Enough for " + job + ": " + need_in_words(*most);
  for (const DemandLine& line : answer.lines)
    if (line.there <= 0 && (line.name == name_of(MachineResource::decoding) ||
                            line.name == name_of(MachineResource::storage)))
      return fmt::format("Cannot tell of {}: {} is not known", job, line.name);
  return "Cannot tell of " + job;
}

TextTable needs_table(const DemandAnswer& answer) {
  TextTable table("lrrr", {"", "needed", "there", "used"});
  for (const DemandLine& line : answer.lines) {
    const std::string unit = line.unit == "cores" ? " cores" : "";
    if (line.there > 0)
      table.add({line.name, amount_for_people(line, line.needed) + unit,
                 amount_for_people(line, line.there) + unit, whole_percent(line.share)});
    else
      table.add({line.name, "", "not known", ""});
  }
  return table;
}

// Returns the first clause of the text of each measurement. A reason that several have is written
// once.
TextTable measured_table(const Profile& profile) {
  TextTable table("lw");
  std::set<std::string> reasons;
  std::size_t count = 0;
  for (const auto& [name, outcome] : profile.probes) {
    if (count == kMaxMeasurements) break;
    const std::string& text = outcome.answer;
    if (text.empty() && outcome.why_not.empty()) continue;
    if (text.empty() && !reasons.insert(outcome.why_not).second) continue;
    ++count;
    table.add({name, text.empty() ? "not measured: " + plain_figures(outcome.why_not)
                                  : plain_figures(text)});
  }
  return table;
}

std::string headline_of_machine(const Profile& profile) {
  for (const auto& [name, outcome] : profile.probes)
    if (!outcome.answer.empty())
      return fmt::format("{}: {}", profile.host.empty() ? "This machine" : profile.host,
                         plain_figures(outcome.answer));
  return profile.interrupted ? "Stopped before anything was measured"
                             : "Nothing could be measured here";
}

// "Unlike its peers: storage.random_16 910 MB/s (peers 1.2 GB/s)"
std::string headline_of_peers(const PeersAnswer& answer) {
  const std::string who = answer.is_own_past ? "its own past" : "its peers";
  if (answer.unlike.empty()) return plain_figures(capitalised(answer.sentence));
  const auto more = std::ssize(answer.unlike) - 1;
  return fmt::format("Unlike {}: {}{}", who, plain_figures(answer.unlike.front().sentence),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

Answer answer_profile(const Profile& profile) {
  Answer answer;
  if (profile.demand) {
    const DemandAnswer& demand = *profile.demand;
    answer.headline = headline_of_demand(demand);
    answer.tone = !demand.is_met           ? LineTone::bad
                  : demand.is_all_judged() ? LineTone::good
                                           : LineTone::plain;
    answer.table = needs_table(demand);
    if (demand.is_met && !demand.is_all_judged())
      answer.first.push_back({"Next", "--data DIR (decoding and storage are then measured on it)"});
    if (profile.against) answer.first.push_back({"Why", headline_of_peers(*profile.against)});
  } else {
    if (profile.against) {
      answer.headline = headline_of_peers(*profile.against);
      answer.tone = profile.against->unlike.empty() ? LineTone::good : LineTone::bad;
    } else {
      answer.headline = headline_of_machine(profile);
    }
    answer.table = measured_table(profile);
  }
  if (profile.other_cores >= 0.5)
    answer.last.push_back(
        {"Also", fmt::format("other programs took {:.1f} cores meanwhile", profile.other_cores)});
  answer.last.push_back({"More", "-v (each figure), --html page.html    Learn: help machine"});
  return answer;
}

}  // namespace loaderscope::probe
