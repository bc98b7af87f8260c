// Reason why a host of a job is slower than the others.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "analysis/host_rates.h"
#include "analysis/wording.h"

namespace loaderscope {
namespace {

constexpr double kUnlikeOthers = 1.25;  // times what the others take or have
constexpr double kWorthACause = 0.05;   // share of the window
constexpr double kFarLessRate = 0.5;    // share of the rate of the others' requests

// Returns the median over the measured hosts except one.
double others_median(const std::vector<HostRate>& hosts, std::size_t but,
                     const std::function<double(const HostRate&)>& value) {
  std::vector<double> values;
  for (std::size_t i = 0; i < hosts.size(); ++i)
    if (i != but && hosts[i].is_measured()) values.push_back(value(hosts[i]));
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double stall_share(const HostRate& host, Cause cause) {
  return window_share(host.account.stall[cause], host.account);
}

// Waits of the others for this host are booked to the same causes, so its own waits name its cause.
Cause own_cause(const HostRate& host) {
  const auto& stall = host.account.stall;
  return static_cast<Cause>(std::max_element(stall.begin(), stall.end()) - stall.begin());
}

bool is_work_of_cores(Cause cause) {
  return cause == Cause::transport || (makes_batches(cause) && cause != Cause::read);
}

std::string took_words(std::string_view what, double own, double others) {
  return fmt::format("{} takes {} a sample, on the others {}", what,
                     format_duration(static_cast<Nanos>(own)),
                     format_duration(static_cast<Nanos>(others)));
}

struct HostContrast {
  const HostRate& host;
  double queued, queued_there;  // shares of the window
  double cores_there, read_there, decode_there, requests_there;
  Cause cause;

  bool waits_for_a_core() const { return queued >= kWorthACause || cause == Cause::contention; }
  bool waits_longer_for_a_core() const { return queued >= queued_there + kWorthACause; }
  bool has_fewer_cores() const {
    return host.cores > 0 && kUnlikeOthers * host.cores <= cores_there;
  }
  // Returns true if more cores would shorten its waits.
  bool needs_cores() const {
    return waits_for_a_core() || host.throttled >= kWorthACause || is_work_of_cores(cause);
  }
  bool lacks_cores() const {
    return waits_longer_for_a_core() || cause == Cause::contention ||
           (has_fewer_cores() && needs_cores());
  }
  // Returns true if it waits for notifications from other hosts, after its reads.
  bool waits_for_notifications() const {
    return cause == Cause::launch && host.waits_for_notifications;
  }
  bool reads_slowly() const {
    return (cause == Cause::read || waits_for_notifications()) &&
           host.read_of_sample > kUnlikeOthers * read_there;
  }
  bool decodes_slowly() const { return host.decode_of_sample > kUnlikeOthers * decode_there; }
};

HostContrast contrast_with_others(const std::vector<HostRate>& hosts, std::size_t number) {
  const auto others = [&](double HostRate::*member) {
    return others_median(hosts, number, [member](const HostRate& other) { return other.*member; });
  };
  const auto queued = [](const HostRate& h) { return stall_share(h, Cause::contention); };
  return {hosts[number],
          queued(hosts[number]),
          others_median(hosts, number, queued),
          others(&HostRate::cores),
          others(&HostRate::read_of_sample),
          others(&HostRate::decode_of_sample),
          others(&HostRate::request_rate),
          own_cause(hosts[number])};
}

// The rate of requests while any are in flight shows the path to the server.
std::string requests_words(const HostContrast& contrast) {
  const HostRate& host = contrast.host;
  if (host.request_rate <= 0 || host.request_rate > kFarLessRate * contrast.requests_there)
    return "";
  return fmt::format("; while any are under way its requests bring {}{}, those of the others {}",
                     format_byte_rate(host.request_rate),
                     host.link_is_full ? ", all that its way to the storage has" : "",
                     format_byte_rate(contrast.requests_there));
}

std::string own_wait_words(const HostContrast& contrast) {
  return fmt::format("it waits mostly for {} ({})",
                     contrast.waits_for_notifications() ? "notifications from the others"
                                                        : name_of(contrast.cause),
                     format_percent(stall_share(contrast.host, contrast.cause)));
}

std::string slow_words(const HostContrast& contrast) {
  if (contrast.reads_slowly())
    return "; " + took_words("reading", contrast.host.read_of_sample, contrast.read_there) +
           requests_words(contrast);
  if (contrast.decodes_slowly())
    return "; " + took_words("decoding", contrast.host.decode_of_sample, contrast.decode_there);
  return "";
}

// A host whose threads hardly wait for a core may still have fewer cores than its work needs.
std::string cores_words(const HostContrast& contrast) {
  const HostRate& host = contrast.host;
  const bool is_queue = contrast.waits_for_a_core();
  std::string text = is_queue ? fmt::format("its threads wait for a core {} of the time",
                                            format_percent(contrast.queued))
                              : own_wait_words(contrast) + ", with fewer cores";
  // Hosts that wait for this one inherit its waits.
  if (contrast.waits_longer_for_a_core())
    text += ", those of the others " + format_percent(contrast.queued_there);
  if (host.cores > 0)
    text += fmt::format(" ({}, the others {})", format_cores(host.cores),
                        format_cores(contrast.cores_there));
  if (host.throttled > 0)
    text += fmt::format(", and its CPU quota stopped it {}", format_percent(host.throttled));
  return is_queue ? text : text + slow_words(contrast);
}

}  // namespace

std::string host_slowness(const std::vector<HostRate>& hosts, std::size_t number) {
  const HostContrast contrast = contrast_with_others(hosts, number);
  return contrast.lacks_cores() ? cores_words(contrast)
                                : own_wait_words(contrast) + slow_words(contrast);
}

std::string where_to_look(const std::vector<HostRate>& hosts, std::size_t number) {
  const HostContrast contrast = contrast_with_others(hosts, number);
  const std::string& name = contrast.host.name;
  if (contrast.lacks_cores())
    return fmt::format("what takes the cores of {}: its CPU quota, other programs", name);
  if (contrast.reads_slowly())
    return fmt::format("the way from {} to its storage: {}", name,
                       contrast.host.request_rate > 0 ? "its network link, what else uses it"
                                                      : "its disk, its network link");
  if (contrast.waits_for_notifications())
    return fmt::format("the network link of {}, what else uses it", name);
  return fmt::format("what {} has to itself: its cores, its disk, its network", name);
}

}  // namespace loaderscope
