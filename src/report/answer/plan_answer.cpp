// The default answer of plan: how busy the GPUs of a large job are, and what is full first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "loaderscope/units.h"
#include "report/answer/answers.h"
#include "report/answer/plain_figures.h"

namespace loaderscope {
namespace {

constexpr double kSmallestWait = 0.005;  // share of the window; shorter waits are not named

const SharedThingRow* row_of_shared(const SharedResource& thing) {
  for (const SharedThingRow& row : shared_resources())
    if (row.row.name == thing.name) return &row;
  return nullptr;
}

bool has_workers(const SharedThingRow* row) {
  return row != nullptr && row->unit == SharedThingRow::Unit::workers;
}

const SharedResource* find_full_thing(const JobPlan& plan) {
  const auto first = std::find_if(plan.shared.begin(), plan.shared.end(),
                                  [&](const auto& one) { return one.name == plan.first_full; });
  return first == plan.shared.end() ? nullptr : &*first;
}

bool is_storage_known(const JobPlan& plan) {
  return plan.question.storage || plan.job().hosts == 1 ||
         std::any_of(plan.shared.begin(), plan.shared.end(),
                     [](const auto& one) { return one.name == "storage"; });
}

// "the storage is full from 340 ranks on"
std::string describe_full_resource(const JobPlan& plan) {
  const SharedResource* thing = find_full_thing(plan);
  if (thing == nullptr) return is_storage_known(plan) ? "nothing is full" : "";
  const SharedThingRow* row = row_of_shared(*thing);
  const std::string is = has_workers(row) ? "each rank has too few workers"
                         : row == nullptr ? thing->name + " is full"
                                          : std::string(row->is) + " full";
  if (!thing->full_at_ranks) return has_workers(row) ? is : is + " at any number of ranks";
  constexpr double kRounding = 1e-6;
  const double ranks = std::ceil(*thing->full_at_ranks * (1 - kRounding));
  return fmt::format("{} from {} on", is,
                     plural(static_cast<std::int64_t>(std::clamp(ranks, 1.0, 1e15)), "rank"));
}

// "1,000 ranks: GPUs 72 % busy; the storage is full from 340 ranks on"
std::string plan_headline(const JobPlan& plan) {
  const JobSize& job = plan.job();
  std::string text = plural(job.ranks, "rank") + ": ";
  if (plan.has_busy)
    text += fmt::format("{} {} busy", job.ranks == 1 ? "GPU" : "GPUs",
                        whole_percent(busy_share(job.account)));
  else
    text += plain_rate(job.samples_per_s) + " samples/s";
  const std::string full = plan.has_busy ? describe_full_resource(plan) : "";
  return full.empty() ? text : text + "; " + full;
}

std::string amount_of_thing(const SharedResource& thing, double value) {
  const SharedThingRow* row = row_of_shared(thing);
  if (row == nullptr || row->unit == SharedThingRow::Unit::bytes_per_s)
    return plain_figures(format_byte_rate(value));
  return row->unit == SharedThingRow::Unit::cores
             ? plain_figures(format_cores(std::round(value * 10) / 10))
             : fmt::format("{:.0f} workers", std::ceil(value));
}

// "10 GB/s of storage in place of 3.4 GB/s"
std::string fix_of_plan(const JobPlan& plan) {
  const SharedResource* thing = find_full_thing(plan);
  if (thing == nullptr) return "";
  const SharedThingRow* row = row_of_shared(*thing);
  if (has_workers(row))
    return fmt::format("DataLoader(..., num_workers={:.0f}) in each rank, now {:.0f}",
                       std::ceil(thing->needed), std::ceil(thing->given));
  const std::string needed = fmt::format("{}{}", amount_of_thing(*thing, thing->needed),
                                         row == nullptr ? std::string_view() : row->amount_suffix);
  if (thing->given <= 0) return needed + "; now the trainer makes every batch itself";
  return needed + " in place of " + amount_of_thing(*thing, thing->given);
}

std::string why_of_plan(const JobPlan& plan) {
  if (!plan.has_busy) return "";
  std::string text = fmt::format(
      "{} measured: {} busy",
      plan.measured.ranks == 1 ? "1 rank was" : plural(plan.measured.ranks, "rank") + " were",
      whole_percent(busy_share(plan.measured.account)));
  if (plan.if_unlimited)
    text += fmt::format("; with twice of all that is needed, {} busy",
                        whole_percent(busy_share(plan.if_unlimited->account)));
  return text;
}

std::string cost_of_plan(const JobPlan& plan) {
  if (!plan.epoch) return "";
  const JobEpoch& epoch = *plan.epoch;
  std::string text =
      "an epoch takes " +
      plain_figures(format_duration(static_cast<Nanos>(std::min(epoch.seconds, 1e9) * 1e9)));
  if (epoch.gpu_hours >= 1) text += fmt::format(" and {} GPU-hours", plain_rate(epoch.gpu_hours));
  if (epoch.price && *epoch.price >= 1)
    text += fmt::format("; it costs {}, of which {} for waiting", plain_rate(*epoch.price),
                        plain_rate(epoch.price_of_waiting.value_or(0)));
  return text;
}

std::string largest_wait(const Account& account) {
  const auto largest = std::max_element(account.stall.begin(), account.stall.end());
  if (window_share(*largest, account) < kSmallestWait) return "";
  return std::string(name_of(static_cast<Cause>(largest - account.stall.begin())));
}

TextTable plan_table(const JobPlan& plan) {
  constexpr std::size_t kMaxSizes = 4;
  TextTable table("rrrl", {"ranks", "samples/s", "GPU busy", "waits most for"});
  const std::size_t count = plan.sizes.size(), shown = std::min(count, kMaxSizes);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t at = shown < 2 ? 0 : (i * (count - 1) + (shown - 1) / 2) / (shown - 1);
    const JobSize& size = plan.sizes[at];
    table.add({format_count(size.ranks), plain_rate(size.samples_per_s),
               plan.has_busy ? whole_percent(busy_share(size.account)) : "",
               largest_wait(size.account)});
  }
  return table;
}

}  // namespace

Answer answer_plan(const JobPlan& plan) {
  Answer answer;
  if (plan.sizes.empty()) {
    answer.headline = "Nothing was planned";
    return answer;
  }
  answer.headline = plan_headline(plan);
  if (const std::string fix = fix_of_plan(plan); !fix.empty())
    answer.first.push_back({"Fix", fix});
  else if (!is_storage_known(plan))
    answer.first.push_back({"Next", "--storage RATE (to see whether the storage is full)"});
  if (const std::string why = why_of_plan(plan); !why.empty()) answer.first.push_back({"Why", why});
  answer.table = plan_table(plan);
  if (const std::string cost = cost_of_plan(plan); !cost.empty())
    answer.last.push_back({"Also", cost});
  answer.last.push_back({"More", "-v, --html page.html    Learn: help larger-job"});
  return answer;
}

}  // namespace loaderscope
