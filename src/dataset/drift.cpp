#include "dataset/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loaderscope/units.h"

namespace loaderscope::dataset {
namespace {

using Counts = std::map<std::string, std::int64_t, std::less<>>;

double inverse_sum(double a, double b) { return 1 / a + 1 / b; }

// Kolmogorov's and Smirnov's distance: the largest one between the shares below a value.
Difference compare_distributions(std::string what, const Measure& a, const Measure& b) {
  const auto buckets_a = a.histogram.buckets(), buckets_b = b.histogram.buckets();
  const auto all_a = static_cast<double>(a.histogram.count());
  const auto all_b = static_cast<double>(b.histogram.count());
  Difference difference{std::move(what), "", "", 0, 1.95 * std::sqrt(inverse_sum(all_a, all_b))};
  double below_a = 0, below_b = 0;
  auto at_a = buckets_a.begin(), at_b = buckets_b.begin();
  while (at_a != buckets_a.end() || at_b != buckets_b.end()) {
    const bool takes_a =
        at_b == buckets_b.end() || (at_a != buckets_a.end() && at_a->index <= at_b->index);
    const bool takes_b =
        at_a == buckets_a.end() || (at_b != buckets_b.end() && at_b->index <= at_a->index);
    if (takes_a) below_a += static_cast<double>((at_a++)->count);
    if (takes_b) below_b += static_cast<double>((at_b++)->count);
    difference.share = std::max(difference.share, std::abs(below_a / all_a - below_b / all_b));
  }
  return difference;
}

// Returns the chance limit of a share: `part_a` of `all_a`, and `part_b` of `all_b`.
double chance_difference(double part_a, double all_a, double part_b, double all_b) {
  const double share = (part_a + part_b) / (all_a + all_b);
  return 3.29 * std::sqrt(share * (1 - share) * inverse_sum(all_a, all_b));
}

std::int64_t get_count(const Counts& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

std::int64_t total_count(const Counts& counts) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

std::string percent_text(std::int64_t part, std::int64_t whole) {
  return fmt::format("{:.1f} %",
                     whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole));
}

Difference compare_shares(std::string what, std::int64_t part_a, std::int64_t all_a,
                          std::int64_t part_b, std::int64_t all_b) {
  const auto a = static_cast<double>(part_a), size_a = static_cast<double>(all_a);
  const auto b = static_cast<double>(part_b), size_b = static_cast<double>(all_b);
  return {std::move(what), percent_text(part_a, all_a), percent_text(part_b, all_b),
          std::abs(a / size_a - b / size_b), chance_difference(a, size_a, b, size_b)};
}

// Adds the most common value of `a`, and the value that differs most.
void add_shares(std::vector<Difference>& to, const std::string& kind, const Counts& a,
                const Counts& b) {
  const std::int64_t all_a = total_count(a), all_b = total_count(b);
  if (all_a == 0 || all_b == 0) return;
  Counts names = a;
  names.insert(b.begin(), b.end());
  Difference largest;
  for (const auto& [name, unused] : names) {
    Difference one =
        compare_shares(kind + " " + name, get_count(a, name), all_a, get_count(b, name), all_b);
    if (largest.what.empty() || one.share > largest.share) largest = std::move(one);
  }
  to.push_back(std::move(largest));
}

bool are_numbers(const Counts& names) {
  return std::all_of(names.begin(), names.end(), [](const auto& entry) {
    return entry.first.find_first_not_of("0123456789") == std::string::npos;
  });
}

// Numbers the names by their rank, as packing does, if the other side's names are numbers.
Counts called_as(const Counts& other, const Counts& own) {
  if (!are_numbers(other) || are_numbers(own)) return own;
  Counts numbered;
  std::int64_t place = 0;
  for (const auto& [name, count] : own) numbered[std::to_string(place++)] = count;
  return numbered;
}

void add_distribution(std::vector<Difference>& to, const char* what, const Measure& a,
                      const Measure& b, std::string (*show)(std::int64_t)) {
  if (a.histogram.count() == 0 || b.histogram.count() == 0) return;
  Difference difference = compare_distributions(what, a, b);
  difference.a = "median " + show(a.histogram.quantile(0.5));
  difference.b = "median " + show(b.histogram.quantile(0.5));
  to.push_back(std::move(difference));
}

std::string format_number(std::int64_t value) { return std::to_string(value); }
std::string format_bytes(std::int64_t value) { return format_size(static_cast<double>(value)); }
std::string format_aspect(std::int64_t value) {
  return fmt::format("{:.2f}", static_cast<double>(value) / 1000);
}

void add_images(std::vector<Difference>& to, const DatasetInfo& a, const DatasetInfo& b) {
  add_distribution(to, "stored size", a.stored_bytes, b.stored_bytes, format_bytes);
  add_distribution(to, "width", a.widths, b.widths, format_number);
  add_distribution(to, "height", a.heights, b.heights, format_number);
  add_distribution(to, "aspect", a.aspects, b.aspects, format_aspect);
  add_distribution(to, "quality", a.qualities, b.qualities, format_number);
  add_shares(to, "format", a.formats, b.formats);
  add_shares(to, "subsampling", a.subsamplings, b.subsamplings);
  const std::int64_t jpegs_a = get_count(a.formats, "jpeg"), jpegs_b = get_count(b.formats, "jpeg");
  if (jpegs_a > 0 && jpegs_b > 0)
    to.push_back(compare_shares("progressive", a.progressive, jpegs_a, b.progressive, jpegs_b));
  add_shares(to, "class", called_as(b.classes, a.classes), called_as(a.classes, b.classes));
}

}  // namespace

Drift drift_between(DatasetInfo a, DatasetInfo b) {
  Drift drift;
  std::vector<Difference>& differences = drift.differences;
  if (a.images > 0 && b.images > 0) add_images(differences, a, b);
  const std::int64_t all_a = a.images + a.samples + a.damaged;
  const std::int64_t all_b = b.images + b.samples + b.damaged;
  if (all_a > 0 && all_b > 0)
    differences.push_back(compare_shares("damaged", a.damaged, all_a, b.damaged, all_b));
  if (!a.layout.empty() && !b.layout.empty())
    differences.push_back({"layout", a.layout, b.layout, a.layout == b.layout ? 0.0 : 1.0, 0});
  std::stable_sort(differences.begin(), differences.end(),
                   [](const Difference& x, const Difference& y) {
                     return std::pair(x.is_real(), x.share) > std::pair(y.is_real(), y.share);
                   });
  drift.a = std::move(a);
  drift.b = std::move(b);
  return drift;
}

}  // namespace loaderscope::dataset
