// Picture of the processes of a watched job.
#include <fmt/format.h>

#include <utility>

#include "analysis/wording.h"
#include "page/charts.h"
#include "report/kinds.h"
#include "report/watch_text.h"

namespace loaderscope::watch {
namespace {

page::Part make_part(std::string name, std::string kind, double share) {
  return {std::move(name), std::move(kind), share, format_percent(share)};
}

page::Bar make_bar(const std::string& label, const Shares& shares) {
  page::Bar bar;
  bar.label = label;
  bar.text = fmt::format("{} CPU", format_percent(shares.cpu()));
  const auto add = [&](const char* name, const char* kind, double share) {
    if (share >= 0.005) bar.parts.push_back(make_part(name, kind, share));
  };
  add("on a core", "decode", shares.activity_share(ThreadActivity::runs));
  add("no core", "contention", shares.no_core);
  add("storage", "read", shares.activity_share(ThreadActivity::storage));
  add("network", "transport", shares.activity_share(ThreadActivity::network));
  add("lock", "launch", shares.activity_share(ThreadActivity::lock));
  add("sleep", "pin", shares.activity_share(ThreadActivity::sleep));
  add("other", "other",
      shares.activity_share(ThreadActivity::other) +
          shares.activity_share(ThreadActivity::stopped));
  add("queue", "compute", shares.activity_share(ThreadActivity::queue));
  return bar;
}

}  // namespace

std::string draw_watch(const Watch& watch) {
  page::Bars bars;
  bars.title = "What the processes do";
  bars.note = "Shares of the time watched, of main threads; all of it is 100 %.";
  const bool has_ranks = watch.count(Role::trainer) > 1;
  for (const WatchedProcess& process : watch.processes) {
    if (process.role != Role::other && process.looks > 0)
      bars.bars.push_back(make_bar(process_title(process, has_ranks), process.shares));
  }
  return bars.bars.empty() ? "" : drawn(bars);
}

}  // namespace loaderscope::watch
