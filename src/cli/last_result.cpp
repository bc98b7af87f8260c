#include "cli/last_result.h"

#include <filesystem>
#include <system_error>

#include "cli/output.h"
#include "loaderscope/errors.h"
#include "report/schemas.h"
#include "source/cache_folder.h"

namespace loaderscope {
namespace {

constexpr const char* kLast = "last";

std::string kept_at() {
  const std::string folder = source::user_cache_folder();
  return folder.empty() ? "" : folder + "/last.json";
}

}  // namespace

void keep_last_result(const AnyResult& result) {
  const std::string place = kept_at();
  if (place.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(source::user_cache_folder(), error);
  if (error) return;
  try {
    write_output(place, [&](std::ostream& out) { write_json(out, result); });
  } catch (const RunError&) {
    return;  // no room, or not allowed to
  }
}

std::string place_of_result(const std::string& given) {
  std::error_code error;
  if (given != kLast || std::filesystem::exists(given, error)) return given;
  const std::string place = kept_at();
  if (place.empty() || !std::filesystem::exists(place, error)) {
    throw RunError(
        "last: no run's result is kept in the cache folder yet; make a run, or give the file of "
        "run --json FILE");
  }
  return place;
}

}  // namespace loaderscope
