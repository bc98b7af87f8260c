#include "guest/host/copied_parts.h"

#include <algorithm>

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMostWorkersTold =
    4096;  // processes: of a job of hours the first tell enough
constexpr std::size_t kMostPartsSaid = 3;
constexpr const char* kCopiedBytes = "memory.copied_bytes";

}  // namespace

void CopiedParts::hear(const ProcessId& worker, const std::vector<CopiedPart>& told) {
  if (told_.size() < kMostWorkersTold || told_.contains(worker)) told_[worker] = told;
}

std::map<std::string, double> CopiedParts::copied() const {
  std::map<std::string, double> bytes;
  for (const auto& [worker, parts] : told_)
    for (const CopiedPart& part : parts)
      bytes[part.name] += part.bytes * part.share / static_cast<double>(told_.size());
  return bytes;
}

std::vector<Metric> CopiedParts::metrics() const {
  double all = 0;
  for (const auto& [name, bytes] : copied()) all += bytes;
  if (all <= 0) return {};
  return {{kCopiedBytes, "bytes", "of the data set, that a worker has copied since it was forked",
           all}};
}

std::vector<Detail> CopiedParts::details() const {
  double all = 0;
  std::vector<Detail> details;
  for (const auto& [name, bytes] : copied()) {
    if (bytes > 0) details.push_back({kCopiedBytes, name, bytes});
    all += bytes;
  }
  std::stable_sort(details.begin(), details.end(),
                   [](const Detail& a, const Detail& b) { return a.share > b.share; });
  details.resize(std::min(details.size(), kMostPartsSaid));
  for (Detail& detail : details) detail.share /= all;
  return details;
}

}  // namespace loaderscope::guest
