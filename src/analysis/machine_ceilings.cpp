#include "analysis/machine_ceilings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "analysis/totals.h"
#include "analysis/wording.h"
#include "loaderscope/units.h"

namespace loaderscope {
namespace {

constexpr double kAlikeSizes = 1.25;  // sizes of images that differ by less decode alike
constexpr double kNoTrace = 1e-4;     // share of the bytes that a warm page cache reads

constexpr double kMaxShown = 1e15;  // per second: more is no measurement

struct RateRow {
  const char *name, *help;
  double ProbedRates::*member;
};
constexpr std::array kRates = {
    RateRow{metric::probed_decodes_per_core_s,
            "whole images that a core decodes with all at work, as probe measured on this machine",
            &ProbedRates::decodes_per_core_s},
    RateRow{metric::probed_decoded_bytes, "stored size of those images",
            &ProbedRates::decoded_bytes},
    RateRow{metric::probed_storage_bytes_per_s,
            "the most that storage gave probe, by random reads of samples",
            &ProbedRates::storage_bytes_per_s},
    RateRow{metric::probed_copied_bytes_per_s,
            "that all cores copied within memory when probe measured",
            &ProbedRates::copied_bytes_per_s},
    RateRow{metric::probed_link_bytes_per_s,
            "that the link of the slowest GPU gave probe, from page-locked memory",
            &ProbedRates::link_bytes_per_s},
    RateRow{metric::probed_gpu_decode_image_s,
            "time of each image that the GPU decodes, as probe measured",
            &ProbedRates::gpu_decode_image_s},
    RateRow{metric::probed_gpu_decode_pixels_per_s,
            "pixels that the GPU decodes, as probe measured",
            &ProbedRates::gpu_decode_pixels_per_s},
    RateRow{metric::probed_gpu_decode_cpu_s,
            "CPU time of the host for an image that the GPU decodes",
            &ProbedRates::gpu_decode_cpu_s},
    RateRow{metric::probed_gpu_augment_sample_s,
            "time of the GPU to crop, resize and normalise one sample",
            &ProbedRates::gpu_augment_sample_s},
    RateRow{metric::probed_gpu_decode_taken,
            "share of its speed that a matrix product loses while the GPU decodes",
            &ProbedRates::gpu_decode_taken},
    RateRow{metric::probed_gpu_decode_taken_of_copies,
            "share of its speed that a copy within GPU memory loses while the GPU decodes",
            &ProbedRates::gpu_decode_taken_of_copies},
    RateRow{metric::probed_gpu_augment_taken,
            "share of its speed that a matrix product loses while the GPU augments",
            &ProbedRates::gpu_augment_taken},
    RateRow{metric::probed_gpu_augment_taken_of_copies,
            "share of its speed that a copy within GPU memory loses while the GPU augments",
            &ProbedRates::gpu_augment_taken_of_copies},
};

// Amounts that the run used of each part of the machine, per sample.
struct Taken {
  const RunRecord& record;
  ProbedRates probed;
  double samples_per_s, samples;
  double hosts;  // each with what probe measured on the first

  explicit Taken(const RunRecord& run)
      : record(run),
        probed(probed_rates(run)),
        samples_per_s(per_second(run, &RankRecord::samples).value_or(0)) {
    samples = static_cast<double>(sum(&RankRecord::samples));
    hosts = static_cast<double>(std::max<std::size_t>(run.hosts.size(), 1));
  }

  std::int64_t sum(std::int64_t RankRecord::*count) const {
    std::int64_t all = 0;
    for (const RankRecord& rank : record.ranks) all += rank.*count;
    return all;
  }
  double each(std::int64_t RankRecord::*count) const {
    return static_cast<double>(sum(count)) / samples;
  }
};

// Returns the text for each host: "4 x 1.00 GB/s".
std::string times_hosts(const Taken& taken, const std::string& what) {
  return taken.hosts > 1 ? fmt::format("{:.0f} x {}", taken.hosts, what) : what;
}

using Found = std::optional<MachineCeiling>;

Found ceiling_at(const Taken& taken, std::string_view name, std::string what, double most) {
  if (!(most > 0) || most > kMaxShown) return std::nullopt;
  return MachineCeiling{name, what + ", as probe measured", most, taken.samples_per_s / most};
}

Found decoding_ceiling(const Taken& taken) {
  const double per_core = taken.probed.decodes_per_core_s, cores = cores_of_job(taken.record);
  const bool is_seen = job_stages(taken.record)[Stage::decode].count > 0;
  const double stored = taken.each(&RankRecord::read_bytes), probed = taken.probed.decoded_bytes;
  if (per_core <= 0 || cores <= 0 || !is_seen || stored <= 0 || probed <= 0) return std::nullopt;
  if (std::max(stored, probed) > kAlikeSizes * std::min(stored, probed)) return std::nullopt;
  return ceiling_at(
      taken, "decoding",
      fmt::format("{} decoding {} whole images/s each", format_cores(cores), format_rate(per_core)),
      cores * per_core);
}

// Uses the bytes read from storage, without those from the page cache.
Found storage_ceiling(const Taken& taken) {
  const double read =
      value_of(taken.record.metrics, metric::process_storage_read_bytes).value_or(0);
  const double rate = taken.probed.storage_bytes_per_s;
  const auto asked = static_cast<double>(taken.sum(&RankRecord::read_bytes));
  if (rate <= 0 || read <= 0 || asked <= 0 || read < kNoTrace * asked) return std::nullopt;
  return ceiling_at(taken, "storage", "storage at " + times_hosts(taken, format_byte_rate(rate)),
                    taken.hosts * rate / (read / taken.samples));
}

Found copying_ceiling(const Taken& taken) {
  const double rate = taken.probed.copied_bytes_per_s;
  const double delivered = taken.each(&RankRecord::delivered_bytes);
  if (rate <= 0 || delivered <= 0) return std::nullopt;
  return ceiling_at(
      taken, "copying",
      fmt::format("one copy of each batch at {}", times_hosts(taken, format_byte_rate(rate))),
      taken.hosts * rate / delivered);
}

Found link_ceiling(const Taken& taken) {
  const double rate = taken.probed.link_bytes_per_s;
  const double delivered = taken.each(&RankRecord::delivered_bytes);
  const bool copies = job_stages(taken.record)[Stage::h2d].bytes > 0;
  if (taken.record.simulated || rate <= 0 || delivered <= 0 || !copies) return std::nullopt;
  const auto links = std::ssize(taken.record.ranks);
  return ceiling_at(
      taken, "link",
      fmt::format("the {} at {}", links == 1 ? "link" : "links", format_byte_rate(rate)),
      rate * static_cast<double>(links) / delivered);
}

}  // namespace

void add_probed_rates(const ProbedRates& rates, RunRecord& record) {
  for (const RateRow& row : kRates) {
    if (rates.*row.member > 0)
      record.metrics.push_back(make_metric(row.name, row.help, rates.*row.member));
  }
}

ProbedRates probed_rates(const RunRecord& record) {
  ProbedRates rates;
  for (const RateRow& row : kRates)
    rates.*row.member = std::clamp(value_of(record.metrics, row.name).value_or(0), 0.0, kMaxShown);
  return rates;
}

std::vector<MachineCeiling> machine_ceilings(const RunRecord& record) {
  const Taken taken(record);
  std::vector<MachineCeiling> ceilings;
  if (taken.samples_per_s <= 0 || taken.samples <= 0) return ceilings;
  for (const auto& look : {decoding_ceiling, storage_ceiling, copying_ceiling, link_ceiling}) {
    if (Found found = look(taken)) ceilings.push_back(std::move(*found));
  }
  return ceilings;
}

std::string probed_words(const std::vector<MachineCeiling>& ceilings) {
  std::vector<MachineCeiling> sorted = ceilings;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.reached > b.reached; });
  std::string text;
  for (const MachineCeiling& each : sorted) {
    if (each.reached < kMinReportedShare) break;
    text +=
        fmt::format("{}{} at {}{}", text.empty() ? "" : ", ", each.name,
                    format_percent(each.reached), text.empty() ? " of what probe measured" : "");
  }
  return text;
}

std::string beyond_probed(const std::vector<MachineCeiling>& ceilings, double samples_per_s) {
  const MachineCeiling* least = nullptr;
  for (const MachineCeiling& each : ceilings) {
    if (least == nullptr || each.samples_per_s < least->samples_per_s) least = &each;
  }
  if (least == nullptr || samples_per_s <= least->samples_per_s) return "";
  return fmt::format("{} samples/s at most by {}: fewer than the {} that are predicted",
                     format_rate(least->samples_per_s), least->what, format_rate(samples_per_s));
}

}  // namespace loaderscope
