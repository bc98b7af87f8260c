#include "watch/process_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <system_error>
#include <utility>

#include "base/printable.h"
#include "machine/proc_file.h"

namespace loaderscope::watch {

namespace {

constexpr std::size_t kRuns = static_cast<std::size_t>(ThreadActivity::runs);

std::string call_place(std::string_view call, const std::string& object) {
  constexpr std::size_t kMax = 80;
  const std::string words = fmt::format("{}()", call);
  if (object.starts_with("pipe:")) return words + " of a pipe";
  if (object.starts_with("socket:")) return words + " of a connection";
  if (!object.starts_with('/')) return words;
  const std::string shown = printable(object);
  return shown.size() <= kMax ? words + " of " + shown
                              : words + " of ..." + shown.substr(shown.size() - kMax);
}

}  // namespace

void Totals::add(const Totals& other) {
  watched_s += other.watched_s;
  user_s += other.user_s;
  system_s += other.system_s;
  no_core_s += other.no_core_s;
  for (std::size_t i = 0; i < kDoings; ++i) waits_s[i] += other.waits_s[i];
  looks += other.looks;
  major_faults += other.major_faults;
  read += other.read;
  storage += other.storage;
}

Shares Totals::shares() const {
  Shares shares;
  if (watched_s <= 0) return shares;
  shares.user = user_s / watched_s;
  shares.system = system_s / watched_s;
  shares.no_core = no_core_s / watched_s;
  for (std::size_t i = 0; i < kDoings; ++i) shares.waits[i] = waits_s[i] / watched_s;
  return shares;
}

ProcessSamples::ProcessSamples(const std::filesystem::path& root, const JobProcess& process)
    : root_(root), folder_(root / "proc" / std::to_string(process.pid)), process_(process) {}

// Keeps the role of a process that is ending: its command, which shows its role, is gone.
void ProcessSamples::know(const JobProcess& process) {
  if (process.role != Role::other || process.has_command) process_ = process;
}

std::optional<ProcessSamples::Counters> ProcessSamples::read(Nanos at) {
  const auto stat = read_process_stat(folder_);
  if (!stat || stat->has_ended() || stat->started != process_.started) return std::nullopt;
  Counters counters;
  counters.at = at;
  counters.user_s = stat->own.user_s;
  counters.system_s = stat->own.system_s;
  counters.major_faults = stat->own.major_faults;
  const std::string schedstat = read_text(folder_ + "/schedstat");  // counters of the main thread
  NumberReader times(schedstat);
  counters.main_cpu = times.next().value_or(0);
  counters.no_core = times.next().value_or(0);
  counters.turns = times.next().value_or(0);
  const auto io = read_values(folder_ + "/io", {"rchar", "read_bytes"});
  is_io_known_ = io[0] && io[1];
  counters.read = static_cast<double>(io[0].value_or(0));
  counters.storage = static_cast<double>(io[1].value_or(0));
  return counters;
}

void ProcessSamples::sample(Nanos at) {
  if (has_ended_) return;
  const std::optional<Counters> counters = read(at);
  has_ended_ = !counters;
  if (!counters) return;
  before_ = latest_.at == 0 ? *counters : latest_;
  latest_ = *counters;
  if (first_.at == 0) first_ = *counters;
}

void ProcessSamples::look(double every_s) {
  if (has_ended_) return;
  const ThreadLook before = std::exchange(look_, look_at_thread(root_, process_.pid, process_.pid));
  if (look_.has_ended) return;
  every_s_ = every_s;
  ++looks_[static_cast<std::size_t>(look_.doing)];
  if (!look_.is_call_known) ++unknown_looks_;
  const bool is_same_wait = before.doing == ThreadActivity::queue && before.turns == look_.turns;
  if (look_.doing == ThreadActivity::queue && !is_same_wait) ++waits_;
  if (look_.call.empty()) return;
  Place& place = places_[std::string(look_.call)];
  ++place.looks;
  place.object = look_.object;
}

void ProcessSamples::look_at_memory(Nanos at) {
  const auto own = read_value(folder_ + "/status", "RssAnon");
  if (has_ended_ || !own) return;
  private_bytes_ = static_cast<double>(*own * kKibi);
  memory_.note(at, private_bytes_);
}

void ProcessSamples::look_at_files() {
  std::error_code refused;
  const std::filesystem::directory_iterator first(folder_ + "/fd", refused), end;
  if (refused) return;
  open_files_ = std::distance(first, end);
  if (most_files_ == 0) most_files_ = read_value(folder_ + "/limits", "Max open files").value_or(0);
}

void ProcessSamples::restart() {
  first_ = before_ = latest_;
  looks_ = {};
  unknown_looks_ = waits_ = 0;
  places_.clear();
  memory_.restart();
}

double ProcessSamples::cpu_s() const { return latest_.cpu_s() - first_.cpu_s(); }

Totals ProcessSamples::totals() const {
  Totals totals;
  totals.looks = std::accumulate(looks_.begin(), looks_.end(), std::int64_t{0});
  totals.watched_s = seconds(latest_.at - first_.at);
  totals.user_s = latest_.user_s - first_.user_s;
  totals.system_s = latest_.system_s - first_.system_s;
  totals.no_core_s = std::min(seconds(latest_.no_core - first_.no_core), totals.watched_s);
  totals.major_faults = latest_.major_faults - first_.major_faults;
  totals.read = latest_.read - first_.read;
  totals.storage = latest_.storage - first_.storage;
  if (totals.looks == 0 || totals.watched_s <= 0) return totals;
  const auto waiting = static_cast<double>(totals.looks - looks_[kRuns]);
  const auto all = static_cast<double>(totals.looks);
  if (latest_.turns == 0) {  // a kernel without schedstat: use only the samples
    for (std::size_t i = 0; i < kDoings; ++i)
      totals.waits_s[i] = totals.watched_s * static_cast<double>(looks_[i]) / all;
    return totals;
  }
  const double left = totals.watched_s - totals.no_core_s;
  totals.waits_s[kRuns] = std::min(seconds(latest_.main_cpu - first_.main_cpu), left);
  for (std::size_t i = 0; i < kDoings && waiting > 0; ++i) {
    if (i != kRuns)
      totals.waits_s[i] = (left - totals.waits_s[kRuns]) * static_cast<double>(looks_[i]) / waiting;
  }
  return totals;
}

std::string ProcessSamples::where() const {
  const auto most = std::max_element(
      places_.begin(), places_.end(),
      [](const auto& a, const auto& b) { return a.second.looks < b.second.looks; });
  return most == places_.end() ? "" : call_place(most->first, most->second.object);
}

WatchedProcess ProcessSamples::report() const {
  const Totals totals = this->totals();
  WatchedProcess result;
  result.pid = process_.pid;
  result.role = process_.role;
  result.rank = process_.rank;
  result.number = process_.number;
  result.name = process_.name;
  result.has_ended = has_ended_;
  result.watched_s = totals.watched_s;
  result.looks = totals.looks;
  result.shares = totals.shares();
  result.where = where();
  if (totals.watched_s > 0) {
    result.read_per_s = totals.read / totals.watched_s;
    result.storage_per_s = totals.storage / totals.watched_s;
    result.major_faults_per_s = static_cast<double>(totals.major_faults) / totals.watched_s;
  }
  result.private_bytes = private_bytes_;
  result.growth_per_s = memory_.bytes_per_second();
  result.open_files = open_files_;
  result.most_files = most_files_;
  return result;
}

void add_counters(const ProcessSamples& process, std::map<std::int64_t, RankCounters>& counters) {
  const Role role = process.process().role;
  if (role == Role::other) return;
  RankCounters& rank = counters[process.process().rank];
  if (role == Role::trainer) {
    rank.trainer_cpu_s += process.cpu_s();
    return;
  }
  rank.worker_cpu_s += process.cpu_s();
  if (!process.is_io_known()) return;
  const Totals totals = process.totals();
  rank.worker_read = rank.worker_read.value_or(0) + totals.read;
  rank.worker_storage = rank.worker_storage.value_or(0) + totals.storage;
}

}  // namespace loaderscope::watch
