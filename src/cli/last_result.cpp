#include "cli/last_result.h"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "cli/output.h"
#include "loaderscope/errors.h"
#include "report/schemas.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

constexpr const char* kLast = "last";
constexpr std::int64_t kMaxSteps = 1'000'000;

std::int64_t steps_of(const RunRecord& record) {
  std::int64_t steps = 0;
  for (const RankRecord& rank : record.ranks) steps += rank.rows.size();
  return steps;
}

std::string kept_at() {
  const std::string folder = source::user_cache_folder();
  return folder.empty() ? "" : folder + "/last.json";
}

}  // namespace

bool keep_last_result(const RunRecord& record, const AnyResult& result) {
  const std::string place = kept_at();
  if (place.empty()) return false;
  std::error_code error;
  if (steps_of(record) > kMaxSteps) {
    std::filesystem::remove(place, error);  // the file holds another run
    if (record.config.answer.json.value.empty())
      std::fputs(
          "loaderscope: the result is too large to be kept as 'last'; --json FILE saves it\n",
          stderr);
    return false;
  }
  try {
    write_private(place, [&](std::ostream& out) { write_json(out, result); });
  } catch (const RunError&) {
    return false;  // no room, or not allowed to
  }
  return true;
}

bool is_own_last_result(const std::string& given) {
  std::error_code error;
  return given == kLast && !std::filesystem::exists(given, error);
}

std::string place_of_result(const std::string& given) {
  std::error_code error;
  if (!is_own_last_result(given)) return given;
  const std::string place = kept_at();
  if (place.empty() || !std::filesystem::exists(place, error)) {
    throw RunError("last: no run's result is kept in the cache folder yet",
                   "make a run, or give the file of run --json FILE");
  }
  return place;
}

}  // namespace loaderscope
