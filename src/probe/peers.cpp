// Compares a machine with its peers, and finds the figures that are far from the usual values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/wording.h"
#include "base/quantiles.h"
#include "loaderscope/errors.h"
#include "probe/profile.h"

namespace loaderscope::probe {
namespace {

constexpr std::size_t kMinCount = 3;  // peers, by which anything is usual
// Least noise, as a share of the median. Two measurements of one machine differ by this much,
// whatever the range of their rounds. The second is for figures without rounds.
constexpr double kNoise = 0.03, kNoiseOfOne = 0.10;
constexpr std::size_t kMany = 8;         // peers, whose median deviation can be relied on
constexpr double kFar = 4;               // spreads
constexpr double kRare = 0.9999;         // share of usual values that are nearer
constexpr double kNormalScale = 1.4826;  // standard deviation by median absolute deviation
constexpr double kNoFurther = 1000;      // limit of reported spreads

struct ComparedFigure {
  const Figure* figure;
  std::string name;  // "storage.random_16"
};

std::vector<ComparedFigure> compared_figures(const Profile& profile) {
  std::vector<ComparedFigure> all;
  for (const auto& [name, outcome] : profile.probes) {
    for (const Figure& figure : outcome.figures) {
      if (figure.is_compared) all.push_back({&figure, name + "." + figure.name});
    }
  }
  return all;
}

// Figures with the same name and condition.
using Values = std::map<std::pair<std::string, std::string>, std::vector<const Figure*>>;

Values peer_values(const std::vector<const Profile*>& peers) {
  Values values;
  for (const Profile* peer : peers) {
    for (const ComparedFigure& one : compared_figures(*peer))
      values[{one.name, one.figure->condition}].push_back(one.figure);
  }
  return values;
}

std::string show(const Figure& like, double value) {
  Figure figure = like;
  figure.value = value;
  return shown(figure);
}

Outlier compared(const ComparedFigure& own, const std::vector<const Figure*>& peers) {
  std::vector<double> values, distances, noises;
  for (const Figure* peer : peers) {
    values.push_back(peer->value);
    noises.push_back(peer->noise);
  }
  const double value = own.figure->value, median = find_median(values);
  for (const double each : values) distances.push_back(std::abs(each - median));
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  double spread = kNormalScale * find_median(distances);
  if (values.size() < kMany) spread = std::max(spread, (*most - *least) / 2);
  // Few peers give an uncertain spread, so it is widened by Student's distribution.
  spread *= std::max(1.0, student_quantile(kRare, std::ssize(values) - 1) / kFar);
  const bool is_timed = own.figure->unit == "s" || own.figure->unit.ends_with("/s");
  const double least_noise = is_timed && own.figure->noise <= 0 ? kNoiseOfOne : kNoise;
  const double noise =
      std::abs(median) * std::max({least_noise, find_median(noises), own.figure->noise});
  const double scale = std::max({spread, noise, 1e-12});
  Outlier result{own.name, value, median, *least, *most};
  result.z = std::clamp((value - median) / scale, -kNoFurther, kNoFurther);
  result.sentence =
      fmt::format("{} {} (peers {}{})", own.name, shown(*own.figure), show(*own.figure, *least),
                  *least < *most ? " to " + show(*own.figure, *most) : "");
  return result;
}

// Returns the other machines. Profiles of this machine itself count only if there are no others.
std::vector<const Profile*> chosen(const std::string& host, const std::vector<Profile>& peers,
                                   PeersAnswer& answer) {
  std::vector<const Profile*> others, itself;
  for (const Profile& peer : peers)
    (!host.empty() && peer.host == host ? itself : others).push_back(&peer);
  answer.is_own_past = others.empty() && !itself.empty();
  if (!others.empty() && !itself.empty())
    answer.notes.push_back(
        fmt::format("{} of this machine itself left out", plural(std::ssize(itself), "profile")));
  std::vector<const Profile*> result = answer.is_own_past ? itself : others;
  return result;
}

std::string conclusion(const PeersAnswer& answer) {
  const char* whom = answer.is_own_past ? "its own past" : "its peers";
  if (answer.compared == 0) return fmt::format("nothing to compare with {}", whom);
  const std::string rest = fmt::format("within {}", format_percent(answer.furthest));
  if (answer.unlike.empty())
    return fmt::format("like {}: {} of {}, all {}", whom, plural(answer.compared, "figure"),
                       plural(answer.peers, "profile"), rest);
  constexpr std::size_t kSaid = 3;
  std::string text = fmt::format("UNLIKE {}: ", answer.is_own_past ? "ITS OWN PAST" : "ITS PEERS");
  for (std::size_t i = 0; i < std::min(kSaid, answer.unlike.size()); ++i)
    text += (i == 0 ? "" : ", ") + answer.unlike[i].sentence;
  const auto more = std::ssize(answer.unlike) - static_cast<std::ptrdiff_t>(kSaid);
  if (more > 0) text += fmt::format(", and {} more", more);
  return text + (answer.compared > std::ssize(answer.unlike) ? "; all else " + rest : "");
}

}  // namespace

void check_peers(const std::string& host, const std::vector<Profile>& peers) {
  PeersAnswer answer;
  const auto count = std::ssize(chosen(host, peers, answer));
  if (count >= static_cast<std::ptrdiff_t>(kMinCount)) return;
  throw UsageError(fmt::format("--against: {} cannot say what is usual{}", plural(count, "profile"),
                               answer.notes.empty() ? "" : " (those of this machine left out)"),
                   "give three or more");
}

void judge_against(Profile& profile, const std::vector<Profile>& peers) {
  check_peers(profile.host, peers);
  PeersAnswer answer;
  const std::vector<const Profile*> usual = chosen(profile.host, peers, answer);
  answer.peers = std::ssize(usual);
  const Values values = peer_values(usual);
  std::int64_t alone = 0;
  for (const ComparedFigure& own : compared_figures(profile)) {
    const auto found = values.find({own.name, own.figure->condition});
    if (found == values.end() || found->second.size() < kMinCount) {
      ++alone;
      continue;
    }
    ++answer.compared;
    const Outlier result = compared(own, found->second);
    if (std::abs(result.z) >= kFar)
      answer.unlike.push_back(result);
    else if (result.median != 0)
      answer.furthest = std::max(answer.furthest, std::abs(result.value / result.median - 1));
  }
  std::stable_sort(
      answer.unlike.begin(), answer.unlike.end(),
      [](const Outlier& a, const Outlier& b) { return std::abs(a.z) > std::abs(b.z); });
  if (alone > 0)
    answer.notes.push_back(fmt::format("{} not compared: fewer than three peers measured the same",
                                       plural(alone, "figure")));
  for (const Profile* peer : usual) {
    if (peer->quick == profile.quick) continue;
    answer.notes.push_back("some were measured with --quick and some without");
    break;
  }
  answer.sentence = conclusion(answer);
  profile.against = std::move(answer);
}

}  // namespace loaderscope::probe
