// Findings about reads.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/findings/finding_input.h"
#include "analysis/machine_ceilings.h"
#include "analysis/request_times.h"
#include "analysis/wording.h"
#include "record/environment_changes.h"
#include "record/family_traits.h"

namespace loaderscope {
namespace {

constexpr double kMostly = 0.5;
constexpr double kNoticeableUnpacking = 0.2;   // share of reading
constexpr double kNoticeableQueue = 0.05;      // share of the time to a first byte
constexpr double kNearCeiling = 0.8;           // share of the bandwidth of the storage
constexpr double kSmallFile = 1 << 20;         // bytes
constexpr std::int64_t kMaxQueueDepth = 1024;  // upper limit of --queue-depth
constexpr std::int64_t kSamplesOfShard = 64;   // samples per read of a shard

Nanos mean_wall(const StageStats& stats) { return stats.count > 0 ? stats.wall / stats.count : 0; }

// Returns true if reads wait for the storage, and not for a core or for decompression.
bool reads_wait(const FindingInput& facts) {
  const StageStats& read = facts.stages[Stage::read];
  const Nanos reading = read.wall + facts.stages[Stage::read_decompress].wall;
  return facts.share(Cause::read) >= kMinReportedShare && reading > 0 &&
         static_cast<double>(read.blocked()) >= kMostly * static_cast<double>(reading);
}

// Returns true if no other part of making a batch is waited for longer.
bool reads_lead(const FindingInput& facts) {
  const auto causes = Words<Cause>::table();
  return std::none_of(causes.begin(), causes.end(), [&](const auto& word) {
    return makes_batches(word.value) && facts.share(word.value) > facts.share(Cause::read);
  });
}

// Reads of a declared storage, that are made ahead.
bool has_declared_depth(const FindingInput& facts) {
  return !facts.config.has_data() && facts.config.data.queue_depth.given;
}

// Returns the rate of requests while any are in flight: the rate of the link.
double read_rate(const FindingInput& facts) {
  if (const auto requests = request_times(facts.record)) return requests->rate();
  const double window = seconds(facts.analysis.account.window);
  return window > 0 ? static_cast<double>(facts.stages[Stage::read].bytes) / window : 0;
}

std::string duration_words(double seconds) {
  return format_duration(static_cast<Nanos>(seconds * 1e9));
}

// Returns the facts that separate latency and bandwidth: a request on its own, and concurrent
// requests.
std::string requests_words(const FindingInput& facts) {
  const auto requests = request_times(facts.record);
  if (!requests) return "";
  std::string text = fmt::format(
      "; {:.1f} requests of a reader run at once, {} to the first byte of each and "
      "{} to the last",
      requests->at_once, duration_words(requests->first_byte), duration_words(requests->all));
  if (requests->alone && requests->queueing() > kNoticeableQueue * requests->first_byte)
    text += fmt::format(", {} to the first if no other runs at the same time",
                        duration_words(*requests->alone));
  if (requests->is_limited_each())
    text += fmt::format("; each gets {} by itself, as fast with many others as with few",
                        format_byte_rate(requests->rate_of_each()));
  if (requests->is_full() && requests->may_be_limited_each())
    text += "; nearly as many ran at once all the time, so a limit of each would look the same";
  return text;
}

// Returns the rate of local storage from its saved profile.
std::string probed_storage_words(const FindingInput& facts) {
  const double probed = probed_rates(facts.record).storage_bytes_per_s;
  const bool is_local = !request_times(facts.record);
  return probed > 0 && is_local ? "; probe measured " + format_byte_rate(probed) + " here" : "";
}

std::string reads_at_once(const FindingInput& facts) {
  const std::int64_t ahead = has_declared_depth(facts) ? facts.config.data.queue_depth.value : 1;
  const std::int64_t reads = std::max<std::int64_t>(1, facts.threads()) * ahead;
  return (reads > 1 ? plural(reads, "read") + " run" : "1 read runs") + " at once";
}

// Returns advice to read with less CPU time, by the present way of reading.
std::string less_reading_words(const FindingInput& facts) {
  if (!facts.config.has_data()) {
    return "store samples as they are used (raw arrays, numpy.memmap) in place of pickle, JSON or "
           "text, and open a file once per worker, not once per sample";
  }
  if (!facts.is_packed())
    return "pack the samples into shards, which are opened once per worker, or store fewer bytes";
  const std::string fewer =
      facts.has_arrays() ? "store fewer bytes per sample (float16, uint8)" : "store smaller images";
  const bool is_streamed = facts.metric(metric::data_shards) > 0;
  if (is_streamed || facts.config.data.access == FileAccess::mmap) return fewer;
  return fewer + ", or try --access mmap, which asks the kernel for nothing";
}

SettingRange deeper(const FindingInput& facts) {
  return {std::string(has_declared_depth(facts) ? "queue-depth" : kStorageInFlight),
          facts.config.data.queue_depth, kMaxQueueDepth};
}

// Adds more requests of each worker. They are tried after more workers, which a PyTorch program can
// have without other code.
void hide_latency_of_requests(const FindingInput& facts, Candidate& candidate) {
  const SettingRange requests = deeper(facts);
  candidate.ranges.push_back(requests);
  candidate.direction = {number("queue-depth", std::min(4 * requests.present, kMaxQueueDepth))};
  std::string words = "{} requests of a worker at once, by a pool of threads in __getitems__; ";
  if (!facts.is_packed()) words += "pack samples into shards, of which one request brings many; ";
  words += "keep what is read again on a local disk (--cache-dir)";
  candidate.advice = {{"queue-depth", std::move(words), true}};
}

// More requests do not make it wider.
std::string fewer_bytes_words(const FindingInput& facts) {
  const bool is_kept = facts.metric(metric::range_cache_size) > 0;
  const bool may_keep = access_traits(facts.config.data.access).is_remote && !is_kept;
  return fmt::format("store fewer bytes per sample ({}), {}or copy the data to a local disk first",
                     facts.has_arrays() ? "float16 or uint8" : "smaller images, quality 85",
                     may_keep ? "keep what is read again with --cache-dir, " : "");
}

}  // namespace

bool bandwidth_is_full(const FindingInput& facts) {
  const double ceiling = facts.config.declared.storage_bandwidth;
  if (ceiling > 0) return read_rate(facts) >= kNearCeiling * ceiling;
  // Servers have measured times of requests alone and of concurrent requests.
  if (const auto requests = request_times(facts.record)) return requests->is_full();
  return facts.reads.separable && facts.reads.latency_share() < kMostly;
}

std::optional<Candidate> storage_latency(const FindingInput& facts) {
  if (!reads_wait(facts) || !reads_lead(facts) || bandwidth_is_full(facts)) return std::nullopt;
  const std::int64_t places = facts.config.declared.storage_concurrency;
  if (places > 0 && facts.threads() >= places) return std::nullopt;
  Candidate candidate;
  const std::string requests = requests_words(facts);
  candidate.evidence =
      fmt::format("reads wait {} each{}: {} of the time{}",
                  format_duration(mean_wall(facts.stages[Stage::read])),
                  requests.empty() ? " for their first byte, and only " + reads_at_once(facts) : "",
                  format_percent(facts.share(Cause::read)), requests);
  candidate.evidence += probed_storage_words(facts);
  candidate.ranges = {more_workers(facts)};
  candidate.pytorch =
      loader_words(facts.record, {"num_workers={}"}) + "  # they wait, they need no core each";
  if (access_traits(facts.config.data.access).is_remote || has_declared_depth(facts))
    hide_latency_of_requests(facts, candidate);
  const DataLibraryRow* library = find_data_library(facts.record);
  if (library != nullptr && !library->reads_ahead.empty())
    candidate.pytorch += "; or " + std::string(library->reads_ahead);
  return candidate;
}

std::optional<Candidate> storage_bandwidth(const FindingInput& facts) {
  if (!reads_wait(facts) || !bandwidth_is_full(facts) || shared_storage(facts)) return std::nullopt;
  const double ceiling = facts.config.declared.storage_bandwidth;
  Candidate candidate{
      fmt::format("the storage gives {}{}: reads wait {} of the time{}",
                  format_byte_rate(read_rate(facts)),
                  ceiling > 0 ? " of its " + format_byte_rate(ceiling) : " and no more",
                  format_percent(facts.share(Cause::read)), requests_words(facts)) +
          probed_storage_words(facts),
      {{{"read.speed", "2"}}},
      fewer_bytes_words(facts)};
  // Without a declared bandwidth, the storage is full if more readers get no more bytes.
  if (ceiling <= 0) {
    candidate.limits = {
        number("num-workers", std::max<std::int64_t>(2, 2 * facts.config.loader.num_workers))};
  }
  return candidate;
}

std::optional<Candidate> storage_concurrency(const FindingInput& facts) {
  const std::int64_t places = facts.config.declared.storage_concurrency;
  if (places <= 0 || facts.threads() < places || !reads_wait(facts) || bandwidth_is_full(facts))
    return std::nullopt;
  return Candidate{fmt::format("the storage answers {} at once, which {} keep waiting: {} of the "
                               "time",
                               plural(places, "read"), plural(facts.threads(), "worker"),
                               format_percent(facts.share(Cause::read))),
                   {{number("storage-concurrency", 2 * places)}},
                   "fewer and larger reads (shards), or data on storage that answers more of them "
                   "at once"};
}

// Parsing and copying in the reader, which no faster storage helps.
std::optional<Candidate> cpu_bound_reads(const FindingInput& facts) {
  if (facts.share(Cause::read) < kMinReportedShare || reads_wait(facts)) return std::nullopt;
  const StageStats& read = facts.stages[Stage::read];
  if (read.wall <= 0 || read.cpu < read.blocked()) return std::nullopt;
  const double on_cpu = static_cast<double>(read.cpu) / static_cast<double>(read.wall);
  return Candidate{fmt::format("reads take {} each, {} of it on a CPU and not waiting for the "
                               "storage: {} of the time",
                               format_duration(mean_wall(read)), format_percent(on_cpu),
                               format_percent(facts.share(Cause::read))),
                   {{{"read.speed", "2"}}},
                   less_reading_words(facts)};
}

std::optional<Candidate> small_files(const FindingInput& facts) {
  const bool is_known = facts.reads.separable || facts.config.declared.storage_latency > 0;
  if (!is_known || !reads_wait(facts) || facts.reads.latency_share() < kNearCeiling ||
      facts.is_packed())
    return std::nullopt;
  const StageStats& read = facts.stages[Stage::read];
  const double bytes =
      read.count > 0 ? static_cast<double>(read.bytes) / static_cast<double>(read.count) : 0;
  if (bytes <= 0 || bytes > kSmallFile || bandwidth_is_full(facts)) return std::nullopt;
  const Nanos latency = facts.config.declared.storage_latency;
  Changes packed = {{"read.speed", std::to_string(kSamplesOfShard)}};
  if (latency > 0) packed = {{"storage-latency", roughly_to_text(latency / kSamplesOfShard)}};
  return Candidate{fmt::format("{} wait {} each: the first byte of a small file costs more than "
                               "its bytes",
                               "reads of " + format_size(bytes), format_duration(mean_wall(read))),
                   {packed},
                   "pack the samples into shards that are read in one go: webdataset.WebDataset("
                   "\"train-{000..127}.tar\")"};
}

std::optional<Candidate> decompression(const FindingInput& facts) {
  const StageStats& unpack = facts.stages[Stage::read_decompress];
  const Nanos reading = facts.stages[Stage::read].wall + unpack.wall;
  if (unpack.count == 0 || facts.share(Cause::read) < kMinReportedShare) return std::nullopt;
  const double part = static_cast<double>(unpack.wall) / static_cast<double>(reading);
  if (part < kNoticeableUnpacking) return std::nullopt;
  const std::string how = facts.named(name_of(Stage::read_decompress));
  return Candidate{
      fmt::format("decompression{} takes {} a sample, {} of reading: {} of the time",
                  how.empty() ? "" : " (" + how + ")", format_duration(mean_wall(unpack)),
                  format_percent(part), format_percent(facts.share(Cause::read))),
      {{{"read.decompress.speed", "4"}}},
      facts.config.has_data() && facts.is_packed()
          ? "store the shards as they are (JPEG and PNG are compressed already), or with zstd or "
            "lz4, which are unpacked several times faster than gzip"
          : "store with zstd or lz4 in place of gzip; do not compress JPEGs again"};
}

std::optional<Candidate> cold_cache(const FindingInput& facts) {
  const double checked = facts.metric(metric::cache_checked_bytes);
  const double resident = facts.metric(metric::cache_resident_bytes);
  if (checked <= 0 || resident >= kMostly * checked || !reads_wait(facts)) return std::nullopt;
  if (access_traits(facts.record.config.data.access).is_direct)
    return std::nullopt;  // past the page cache
  return Candidate{
      fmt::format("{} of the data was in the page cache when the run began, and reads "
                  "wait {} of the time",
                  format_percent(resident / checked), format_percent(facts.share(Cause::read))),
      {{{"read.speed", "100"}}},
      "read the data once before the training where it fits into memory",
      {{"cache", "warm"}}};
}

}  // namespace loaderscope
