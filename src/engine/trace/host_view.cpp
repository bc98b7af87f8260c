#include "engine/trace/host_view.h"

#include <algorithm>
#include <utility>

namespace loaderscope::traces {
namespace {

Stretches& stretches_of(HostView::Thread& thread, HostKind kind) {
  switch (kind) {
    case HostKind::loader_wait:
      return thread.loader_waits;
    case HostKind::lock_wait:
      return thread.lock_waits;
    case HostKind::synchronous:
      return thread.synchronous;
    case HostKind::call:
    case HostKind::operation:
      break;
  }
  return thread.active;
}

bool is_call(HostKind kind) { return kind == HostKind::call || kind == HostKind::synchronous; }

}  // namespace

HostView::HostView(TracedProcess& process) {
  std::size_t threads = 1;
  for (const HostSpan& span : process.host)
    threads = std::max<std::size_t>(threads, std::size_t{span.thread} + 1);
  threads_.resize(threads);
  std::vector<std::int64_t> calls(threads);
  std::vector<std::vector<Stretch>> waits(threads);
  for (const HostSpan& span : process.host) {
    const Stretch at = {span.begin, span.end};
    stretches_of(threads_[span.thread], span.kind).push_back(at);
    if (span.kind == HostKind::loader_wait) waits[span.thread].push_back(at);
    if (!is_call(span.kind)) continue;
    ++calls[span.thread];
    if (span.correlation != 0) calls_.push_back({span.correlation, span.thread, span.begin});
  }
  process.host = {};
  for (Thread& thread : threads_) {
    for (Stretches* set :
         {&thread.loader_waits, &thread.lock_waits, &thread.synchronous, &thread.active})
      *set = merged(std::move(*set));
    loader_waits_.insert(loader_waits_.end(), thread.loader_waits.begin(),
                         thread.loader_waits.end());
  }
  loader_waits_ = merged(std::move(loader_waits_));
  overhead_ = merged(std::move(process.overhead));
  std::sort(calls_.begin(), calls_.end(),
            [](const Call& a, const Call& b) { return a.correlation < b.correlation; });
  choose_main(calls, waits);
}

void HostView::choose_main(const std::vector<std::int64_t>& calls,
                           const std::vector<std::vector<Stretch>>& waits) {
  const auto most = std::max_element(
      waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  loader_calls_ = *most;
  std::sort(loader_calls_.begin(), loader_calls_.end(),
            [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  main_ = static_cast<std::size_t>(most->empty() ? std::max_element(calls.begin(), calls.end()) -
                                                       calls.begin()
                                                 : most - waits.begin());
}

const HostView::Call* HostView::call_of(std::uint32_t correlation) const {
  if (correlation == 0) return nullptr;
  const auto found = std::lower_bound(
      calls_.begin(), calls_.end(), correlation,
      [](const Call& call, std::uint32_t wanted) { return call.correlation < wanted; });
  return found != calls_.end() && found->correlation == correlation ? &*found : nullptr;
}

}  // namespace loaderscope::traces
