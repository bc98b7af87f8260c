#include "dataset/info.h"

#include <algorithm>

namespace loaderscope::dataset {
namespace {

using Counts = std::map<std::string, std::int64_t, std::less<>>;

void add(Counts& to, const Counts& from) {
  for (const auto& [name, count] : from) to[name] += count;
}

}  // namespace

void Measure::add(std::int64_t value) {
  least = histogram.count() == 0 ? value : std::min(least, value);
  most = std::max(most, value);
  histogram.add(value);
}

void Measure::merge(const Measure& other) {
  if (other.histogram.count() == 0) return;
  least = histogram.count() == 0 ? other.least : std::min(least, other.least);
  most = std::max(most, other.most);
  histogram.merge(other.histogram);
}

void DatasetInfo::name_damaged(DamagedFile file) {
  const auto by_path = [](const DamagedFile& a, const DamagedFile& b) { return a.path < b.path; };
  first_damaged.insert(std::upper_bound(first_damaged.begin(), first_damaged.end(), file, by_path),
                       std::move(file));
  if (first_damaged.size() > kNamed) first_damaged.pop_back();
}

void DatasetInfo::merge(const DatasetInfo& other) {
  samples += other.samples;
  images += other.images;
  damaged += other.damaged;
  other_files += other.other_files;
  unreadable_folders += other.unreadable_folders;
  bytes += other.bytes;
  pixels += other.pixels;
  progressive += other.progressive;
  stored_bytes.merge(other.stored_bytes);
  widths.merge(other.widths);
  heights.merge(other.heights);
  aspects.merge(other.aspects);
  qualities.merge(other.qualities);
  add(formats, other.formats);
  add(subsamplings, other.subsamplings);
  add(classes, other.classes);
  for (const DamagedFile& file : other.first_damaged) name_damaged(file);
}

}  // namespace loaderscope::dataset
