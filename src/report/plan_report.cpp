// Text of a plan.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "loaderscope/units.h"
#include "page/charts.h"
#include "report/kinds.h"
#include "report/text_report.h"

namespace loaderscope {
namespace {

constexpr double kStartWorthSaying = 0.01;  // share of an epoch
constexpr double kRestShown = 0.005;        // share of the window; causes with shorter waits are
                                            // not named

const SharedThingRow* resource_row(const SharedResource& thing) {
  for (const SharedThingRow& row : shared_resources()) {
    if (row.row.name == thing.name) return &row;
  }
  return nullptr;
}

const SharedResource* first_full_resource(const JobPlan& plan) {
  for (const SharedResource& thing : plan.shared) {
    if (thing.name == plan.first_full) return &thing;
  }
  return nullptr;
}

std::string amount(const SharedResource& thing, double value) {
  const SharedThingRow* row = resource_row(thing);
  if (value <= 0) return "none";
  if (row == nullptr || row->unit == SharedThingRow::Unit::bytes_per_s)
    return format_byte_rate(value);
  return row->unit == SharedThingRow::Unit::cores ? format_cores(value)
                                                  : fmt::format("{:.1f} workers", value);
}

std::string is_of(const SharedResource& thing) {
  const SharedThingRow* row = resource_row(thing);
  return row == nullptr ? thing.name + " is" : std::string(row->is);
}

std::string where_full(const SharedResource& thing) {
  if (!thing.full_at_ranks) return thing.is_full() ? "at any size" : "no";
  constexpr double kRounding = 1e-6;
  const double ranks = std::ceil(*thing.full_at_ranks * (1 - kRounding));
  return "at " + plural(static_cast<std::int64_t>(std::clamp(ranks, 1.0, 1e15)), "rank");
}

// "storage is full first, at 640 ranks"
std::string limit_sentence(const JobPlan& plan) {
  if (!plan.has_busy) return "";
  const SharedResource* first = first_full_resource(plan);
  const bool knows_storage = std::any_of(plan.shared.begin(), plan.shared.end(),
                                         [](const auto& t) { return t.name == "storage"; });
  if (first == nullptr)
    return plan.question.storage || knows_storage || plan.job().hosts == 1
               ? "; nothing that ranks share is full"
               : "; whether the storage is full is not known without --storage";
  return fmt::format("; {} full first, {}", is_of(*first), where_full(*first));
}

std::string answer_line(const JobPlan& plan) {
  const JobSize& job = plan.job();
  std::string text =
      fmt::format("{} on {}: ", plural(job.ranks, "rank"), plural(job.hosts, "host"));
  if (plan.has_busy)
    text += fmt::format("busy {} (measured with {}: {}), ", format_percent(busy_share(job.account)),
                        plan.measured.ranks, format_percent(busy_share(plan.measured.account)));
  text += format_rate(job.samples_per_s) + " samples/s";
  if (plan.epoch && plan.epoch->start_s > kStartWorthSaying * plan.epoch->seconds) {
    if (job.epoch_s) return text + " with the begins of epochs" + limit_sentence(plan);
    text += plan.has_busy ? fmt::format(" between the begins of epochs, with these busy {}",
                                        format_percent(plan.epoch->busy))
                          : " between the begins of epochs";
  }
  return text + limit_sentence(plan);
}

std::string largest_cause(const Account& account) {
  const Word<Cause>* largest = nullptr;
  for (const auto& word : Words<Cause>::table()) {
    if (largest == nullptr || account.stall[word.value] > account.stall[largest->value])
      largest = &word;
  }
  const double share = window_share(account.stall[largest->value], account);
  return share < kRestShown ? "" : fmt::format("{} {}", largest->name, format_percent(share));
}

void add_sizes(TextReportBuilder& screen, const JobPlan& plan) {
  TextTable table("rrrrrl",
                  {"ranks", "hosts", "samples/s", "of one host's", "busy", "waits most for"});
  const JobSize& one = plan.sizes.front();
  for (const JobSize& size : plan.sizes) {
    const double linear =
        one.samples_per_s / static_cast<double>(one.ranks) * static_cast<double>(size.ranks);
    const bool alike = one.epoch_s.has_value() == size.epoch_s.has_value();
    table.add({format_count(size.ranks), format_count(size.hosts), format_rate(size.samples_per_s),
               linear > 0 && alike ? format_percent(size.samples_per_s / linear) : "",
               plan.has_busy ? format_percent(busy_share(size.account)) : "",
               largest_cause(size.account)});
  }
  screen.table(LinePriority::evidence, table);
}

void add_shared(TextReportBuilder& screen, const JobPlan& plan) {
  if (plan.shared.empty()) return;
  TextTable table("lrrrl", {"for GPUs that never wait for it", "needed", "given", "used", "full"});
  for (const SharedResource& thing : plan.shared)
    table.add({thing.name, amount(thing, thing.needed), amount(thing, thing.given),
               thing.given > 0 ? format_percent(thing.share()) : "", where_full(thing)});
  screen.table(LinePriority::evidence, table);
}

// Returns the waits of the GPUs that remain with twice the required shared resources.
std::string beyond_words(const JobPlan& plan) {
  constexpr double kMaxIsBusy = 0.95, kAsNow = 1.01;
  if (!plan.if_unlimited) return "";
  const Account& account = plan.if_unlimited->account;
  const double busy = busy_share(account);
  if (busy >= kMaxIsBusy) return "";
  const std::string cause = largest_cause(account);
  const std::string waits = cause.empty() ? "" : ", and wait most for " + cause;
  if (busy > kAsNow * busy_share(plan.job().account))
    return fmt::format("; with twice what is needed of all that is shared GPUs are busy {}{}",
                       format_percent(busy), waits);
  return fmt::format(
      "; but that does not help here: with twice what is needed of all that is shared GPUs are "
      "busy {}{}",
      format_percent(busy), waits);
}

std::string advice(const JobPlan& plan) {
  const SharedResource* first = first_full_resource(plan);
  if (first == nullptr) return "";
  const SharedThingRow* row = resource_row(*first);
  return fmt::format("The job needs {}{} instead of {}{}", amount(*first, first->needed),
                     row == nullptr ? "" : row->amount_suffix, amount(*first, first->given),
                     first->given > 0 ? "" : ", where the trainer makes every batch itself") +
         beyond_words(plan);
}

// Two figures of what is small.
std::string two_figures(double value) {
  if (value <= 0 || value >= 1) return fmt::format("{:.2f}", value);
  const int decimals = static_cast<int>(std::ceil(-std::log10(value))) + 1;
  return fmt::format("{:.{}f}", value, std::clamp(decimals, 2, 9));
}

std::string epoch_line(const JobPlan& plan) {
  if (!plan.epoch) return "";
  const JobEpoch& epoch = *plan.epoch;
  std::string text =
      fmt::format("An epoch of {} samples takes {} and {} GPU hours", format_count(epoch.samples),
                  format_duration(static_cast<Nanos>(std::min(epoch.seconds, 1e9) * 1e9)),
                  two_figures(epoch.gpu_hours));
  if (epoch.start_s > 0)
    text += fmt::format("; its first batch comes after {}",
                        format_duration(static_cast<Nanos>(std::min(epoch.start_s, 1e9) * 1e9)));
  if (epoch.price)
    text += fmt::format("; it costs {}, of which {} for waiting", two_figures(*epoch.price),
                        two_figures(epoch.price_of_waiting.value_or(0)));
  return text;
}

std::string cache_line(const JobPlan& plan) {
  if (plan.data_bytes <= 0 || plan.job().hosts <= 0) return "";
  const auto bytes = static_cast<double>(plan.data_bytes);
  return fmt::format("The data has {}; hosts that share what they keep need {} each",
                     format_size(bytes),
                     format_size(bytes / static_cast<double>(plan.job().hosts)));
}

}  // namespace

void write_plan_text(TextReport& reading, const JobPlan& plan, const ReportStyle&) {
  TextReportBuilder& screen = reading.body;
  if (plan.sizes.empty()) {
    screen.headline("Nothing was planned", LineTone::plain);
    return;
  }
  screen.wrapped_headline(answer_line(plan), LineTone::plain);
  screen.line(LinePriority::advice, advice(plan));
  screen.line(LinePriority::advice, epoch_line(plan));
  screen.line(LinePriority::detail, cache_line(plan));
  screen.line(LinePriority::advice, capitalised(plan.fit.sentence()));
  screen.line(LinePriority::basis, capitalised(plan.history.sentence()));
  add_sizes(screen, plan);
  add_shared(screen, plan);
  for (const std::string& note : plan.notes) screen.note(LinePriority::basis, note);
  reading.more = "more with -vv: notes";
}

std::string draw_plan(const JobPlan& plan) {
  if (plan.sizes.empty()) return "";
  page::Series line{"samples per second", "plain", page::Shape::line_and_points, {}};
  page::Series linear{"as on one host", "other", page::Shape::line, {}};
  const JobSize& one = plan.sizes.front();
  const double rate_per_rank = one.samples_per_s / static_cast<double>(one.ranks);
  for (std::size_t i = 0; i < plan.sizes.size(); ++i) {
    const JobSize& size = plan.sizes[i];
    const auto ranks = static_cast<double>(size.ranks);
    line.points.push_back({ranks, size.samples_per_s, 0, 0, plural(size.ranks, "rank"),
                           fmt::format("sizes.{}.samples_per_s", i)});
    linear.points.push_back({ranks, rate_per_rank * ranks});
  }
  page::Plot plot;
  plot.title = "Rate over the number of ranks";
  plot.note = "In the model; the straight line is the rate of one host times the hosts.";
  plot.x = page::with_room(page::count_scale("ranks", 0, static_cast<double>(plan.job().ranks)));
  plot.y = page::linear_scale("samples per second", page::Unit::number, 0,
                              std::max(linear.points.back().y, line.points.back().y) * 1.05);
  plot.series = {std::move(linear), std::move(line)};
  return drawn(plot);
}

}  // namespace loaderscope
