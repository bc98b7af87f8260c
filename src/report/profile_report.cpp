// The profile of a machine, for people and member by member.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/wording.h"
#include "page/charts.h"
#include "report/kinds.h"
#include "report/text_report.h"

namespace loaderscope::probe {
namespace {

void describe_figure(ResultVisitor& form, Figure& figure) {
  form.object(
      "", "one figure",
      [&] {
        form.text("name", figure.name, "of it, within its measurement");
        form.real("value", figure.value, "the median of its rounds", kNotNegative);
        form.word("unit", figure.unit, unit_words(), "of the value");
        form.real("noise", figure.noise, "half the range of its rounds by their median; 0: unknown",
                  kNotNegative);
        form.text("condition", figure.condition,
                  "it is compared with figures of the same condition only");
        form.text("series", figure.series, "that it is a point of; empty: none");
        form.real("at", figure.at, "where in the series: threads, reads at once", kNotNegative);
        form.flag("compared", figure.is_compared, "belongs to the machine, not to the moment");
      },
      Lines::one);
}

void describe_ceiling(ResultVisitor& form, Ceiling& ceiling) {
  form.object("", "one ceiling", [&] {
    form.numbered_word("supply", ceiling.supply, supply_names(), "what is given");
    form.real("per_s", ceiling.per_s, "samples of decoding, else bytes; of links the slowest GPU's",
              kNotNegative);
    form.real("per_core_s", ceiling.per_core_s, "of decoding, by one core with all at work",
              kNotNegative);
    form.real("sample_bytes", ceiling.sample_bytes, "of decoding and storage, stored; 0: not known",
              kNotNegative);
    form.real("gpus", ceiling.gpus, "number of GPUs with a link; 0 for other ceilings",
              kNotNegative);
  });
}

void describe_outcome(ResultVisitor& form, std::string_view name, Outcome& outcome) {
  form.object(name, "one measurement", [&] {
    form.text_or_null("why_not", outcome.why_not, "why it was not measured; null: it was");
    form.real("took_s", outcome.took_s, "time that it took", kNotNegative);
    form.whole("most_read_bytes", outcome.most_read, "what it read of storage at most");
    form.text("answer", outcome.answer, "its part of the first line");
    form.texts("lines", outcome.lines, "what it found, for people");
    form.list("figures", outcome.figures, "what it found",
              [&](Figure& figure) { describe_figure(form, figure); });
    form.list("ceilings", outcome.ceilings, "the most that the machine gives a loader",
              [&](Ceiling& ceiling) { describe_ceiling(form, ceiling); });
    form.list("facts", outcome.facts, "words that it found", [&](Fact& fact) {
      form.object("", "one fact", [&] {
        form.text("name", fact.name, "of it");
        form.text("value", fact.value, "as the kernel says it");
      });
    });
    form.texts("notes", outcome.notes, "what else is to be known");
  });
}

void describe_demand(ResultVisitor& form, DemandAnswer& answer) {
  form.object("demand", "what the figures mean for a job", [&] {
    Demand& demand = answer.demand;
    form.real("samples_per_s", demand.samples_per_s, "of each rank", kNotNegative);
    form.whole("batch_bytes", demand.batch_bytes, "as it is copied to the GPU");
    form.whole("batch_size", demand.batch_size, "samples");
    form.whole("ranks", demand.ranks, "that load on this machine");
    form.flag("met", answer.is_met, "by what was measured");
    form.text("sentence", answer.sentence, "the answer");
    form.list("lines", answer.lines, "by what a loader needs", [&](DemandLine& line) {
      form.object("", "one need", [&] {
        form.text("supply", line.name, "what is needed");
        form.real("needed", line.needed, "of it", kNotNegative);
        form.real("there", line.there, "that the machine gives; 0: not known", kNotNegative);
        form.word("unit", line.unit, unit_words(), "of both");
        form.real("share", line.share, "of what is there; 0: not known", kNotNegative);
        form.text("sentence", line.sentence, "for people");
      });
    });
  });
}

void describe_against(ResultVisitor& form, PeersAnswer& answer) {
  form.object("against", "comparison with its peers", [&] {
    form.whole("peers", answer.peers, "profiles that it was compared with");
    form.whole("compared", answer.compared, "figures that three of them have as well");
    form.flag("own_past", answer.is_own_past, "the peers are this machine, earlier");
    form.text("sentence", answer.sentence, "the answer");
    form.real("furthest", answer.furthest, "from the median, of the figures that are like them",
              kNotNegative);
    form.list("unlike", answer.unlike, "figures far from what is usual, the furthest first",
              [&](Outlier& unlike) {
                form.object("", "one figure", [&] {
                  form.text("figure", unlike.figure, "measurement and name");
                  form.real("value", unlike.value, "here");
                  form.real("median", unlike.median, "of the peers");
                  form.real("least", unlike.least, "of the peers");
                  form.real("most", unlike.most, "of the peers");
                  form.real("z", unlike.z,
                            "distance from the median by 1.4826 times the median absolute "
                            "deviation, or by the noise of measuring where that is larger");
                  form.text("sentence", unlike.sentence, "for people");
                });
              });
    form.texts("notes", answer.notes, "what was not compared");
  });
}

std::string machine_line(const Profile& profile) {
  const std::string cpus = plural(profile.logical_cpus, "CPU");
  const std::string usable = profile.cores < static_cast<double>(profile.logical_cpus)
                                 ? fmt::format("{:.3g} of {} may be used", profile.cores, cpus)
                                 : cpus;
  return fmt::format("Measured {} in {:.1f} s{}: {}, {}", profile.host, profile.wall_s,
                     profile.quick ? " with --quick" : "", profile.cpu, usable);
}

// The answer that was asked for first is the first line.
void write_answers(TextReportBuilder& screen, const Profile& profile) {
  if (profile.against) {
    const PeersAnswer& answer = *profile.against;
    screen.wrapped_headline(capitalised(answer.sentence),
                            answer.unlike.empty() ? LineTone::good : LineTone::bad);
  }
  if (profile.demand)
    screen.wrapped_headline(capitalised(profile.demand->sentence),
                            !profile.demand->is_met           ? LineTone::bad
                            : profile.demand->is_all_judged() ? LineTone::good
                                                              : LineTone::plain);
  screen.wrapped_headline(capitalised(profile.sentence()), LineTone::plain);
  if (profile.demand) {
    for (const DemandLine& line : profile.demand->lines)
      screen.line(LinePriority::advice, "  needs " + line.sentence);
  }
}

// A row for each series, a column for each of its places.
void write_series(TextReportBuilder& screen, const Outcome& outcome) {
  std::vector<std::string> names;
  std::map<double, std::map<std::string, std::string>> cells;
  for (const Figure& figure : outcome.figures) {
    if (figure.series.empty()) continue;
    if (std::find(names.begin(), names.end(), figure.series) == names.end())
      names.push_back(figure.series);
    cells[figure.at][figure.series] = shown(figure);
  }
  if (names.empty()) return;
  std::vector<std::string> header = {"  at once"};
  for (const auto& [at, column] : cells) header.push_back(fmt::format("{:g}", at));
  TextTable table("l" + std::string(cells.size(), 'r'), header);
  for (const std::string& name : names) {
    std::vector<std::string> row = {"  " + name};
    for (auto& [at, column] : cells) row.push_back(column[name]);
    table.add(row);
  }
  screen.table(LinePriority::evidence, table);
}

void write_figures(TextReportBuilder& screen, const Profile& profile) {
  TextTable table("llrrl", {"figure", "", "value", "noise", "condition"});
  for (const auto& [name, outcome] : profile.probes) {
    for (const Figure& figure : outcome.figures)
      table.add({name, figure.name, shown(figure),
                 figure.noise > 0 ? fmt::format("{:.1f} %", figure.noise * 100) : "",
                 figure.condition});
  }
  screen.table(LinePriority::beside, table);
}

// One picture for each measurement that has series over several places.
std::string draw_series(const std::string& name, const Outcome& outcome) {
  static constexpr const char* kColours[] = {"read", "decode", "collate", "augment"};
  std::map<std::string, page::Series> series;
  std::set<double> places;
  double most_y = 0;
  page::Plot plot;
  for (std::size_t i = 0; i < outcome.figures.size(); ++i) {
    const Figure& figure = outcome.figures[i];
    if (figure.series.empty()) continue;
    const auto colour = std::min<std::size_t>(series.size(), std::size(kColours) - 1);
    auto [place, is_new] = series.try_emplace(figure.series);
    if (is_new) place->second = {figure.series, kColours[colour], page::Shape::line_and_points, {}};
    const double half = figure.value * std::min(figure.noise, 1.0);
    place->second.points.push_back({figure.at, figure.value, figure.value - half,
                                    figure.value + half, shown(figure),
                                    fmt::format("probes.{}.figures.{}.value", name, i)});
    places.insert(figure.at);
    most_y = std::max(most_y, figure.value + half);
    plot.y.unit = figure.unit == "bytes/s" ? page::Unit::bytes : page::Unit::number;
  }
  if (places.size() < 2 || most_y <= 0) return "";
  plot.title = fmt::format("{}, by how many at once", capitalised(name));
  plot.note = "Medians, with half the range of the rounds to both sides.";
  plot.interval = "± half the range";
  for (auto& [unused, one] : series) plot.series.push_back(std::move(one));
  plot.x = page::with_room(page::count_scale("at once", 0, *places.rbegin()));
  plot.y = page::linear_scale("per second", plot.y.unit, 0, most_y * 1.05);
  return drawn(plot);
}

std::vector<std::string> split_parts(const std::string& text) {
  constexpr std::string_view kBetween = "; ";
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(kBetween, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + kBetween.size();
  }
  return parts;
}

// A fact of several parts is a thing of its own, such as a NUMA node: "2 cores (CPUs 0-1), 25.3 GB;
// network eth0, storage vda".
std::string draw_facts(const Profile& profile) {
  page::Boxes boxes{"What it is made of", "", {}};
  for (const auto& [name, outcome] : profile.probes) {
    page::Box others{capitalised(name), {}};
    for (const Fact& fact : outcome.facts) {
      std::vector<std::string> parts = split_parts(fact.value);
      if (parts.size() > 1)
        boxes.boxes.push_back({capitalised(fact.name), std::move(parts)});
      else
        others.lines.push_back(fact.name + ": " + fact.value);
    }
    if (!others.lines.empty()) boxes.boxes.push_back(std::move(others));
  }
  return drawn(boxes);
}

bool is_first_with_reason(const Profile& profile, const std::string& name, const Outcome& outcome) {
  const auto has_reason = [&](const auto& probe) {
    return probe.second.why_not == outcome.why_not;
  };
  const auto first = std::find_if(profile.probes.begin(), profile.probes.end(), has_reason);
  return first->first == name;
}

// "gpus-together, jpeg-engines"
std::string rows_with_reason(const Profile& profile, const std::string& why_not) {
  std::string names;
  for (const auto& [name, outcome] : profile.probes) {
    if (outcome.why_not == why_not) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace

void write_profile_text(TextReport& reading, const Profile& profile, const ReportStyle& style) {
  TextReportBuilder& screen = reading.body;
  write_answers(screen, profile);
  screen.line(LinePriority::basis, machine_line(profile));
  for (const auto& [name, outcome] : profile.probes) {
    for (const std::string& line : outcome.lines) screen.line(LinePriority::evidence, line);
    write_series(screen, outcome);
  }
  for (const auto& [name, outcome] : profile.probes) {
    if (!outcome.why_not.empty() && is_first_with_reason(profile, name, outcome))
      screen.line(LinePriority::basis,
                  fmt::format("No measurement of {}: {}",
                              rows_with_reason(profile, outcome.why_not), outcome.why_not));
    for (const std::string& note : outcome.notes) screen.note(LinePriority::detail, note);
  }
  for (const std::string& note : profile.notes) screen.note(LinePriority::basis, note);
  if (profile.against) {
    for (const std::string& note : profile.against->notes) screen.note(LinePriority::basis, note);
  }
  if (style.verbose) write_figures(screen, profile);
  reading.more = "more with -vv: each figure";
}

std::string draw_profile(const Profile& profile) {
  std::string pictures = draw_facts(profile);
  for (const auto& [name, outcome] : profile.probes) pictures += draw_series(name, outcome);
  return pictures;
}

void describe_profile(ResultVisitor& form, Profile& profile) {
  form.shown("answer", profile.sentence(), "what the machine gives, in a sentence");
  form.object("machine", "what was measured", [&] {
    form.text("host", profile.host, "its name");
    form.text("cpu", profile.cpu, "model");
    form.text("kernel", profile.kernel, "release");
    form.whole("logical_cpus", profile.logical_cpus, "of the machine");
    form.real("cores", profile.cores, "that this process may use", kNotNegative);
  });
  form.flag("quick", profile.quick, "within 5 s and not 30");
  form.flag("interrupted", profile.interrupted, "stopped by a signal: measurements are missing");
  form.real("wall_s", profile.wall_s, "how long it took", kNotNegative);
  form.real("other_cores", profile.other_cores, "that other programs took meanwhile", kNotNegative);
  form.entries(
      "probes", profile.probes, "measurements, by their names",
      [&](std::string_view name, Outcome& outcome) { describe_outcome(form, name, outcome); });
  form.optional("demand", profile.demand, AbsentValue::left_out,
                [&](DemandAnswer& answer) { describe_demand(form, answer); });
  form.optional("against", profile.against, AbsentValue::left_out,
                [&](PeersAnswer& answer) { describe_against(form, answer); });
  form.texts("notes", profile.notes, "what else is to be known");
}

}  // namespace loaderscope::probe
