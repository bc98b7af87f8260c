#include "cli/output.h"

#include <algorithm>
#include <exception>
#include <filesystem>

namespace loaderscope {

namespace fs = std::filesystem;

Places places_of(const RunConfig& config) {
  Places places;
  for (const Field& field : fields()) {
    if (field.is_about(about::kSaved) && field.given(config))
      places.push_back({std::string(field.name), field.text(config)});
  }
  return places;
}

void check_places(const Places& places, std::string_view kind, const OutputRules& rules) {
  for (const Place& place : places) {
    if (!find_row(place.form, report_table()).writes(kind))
      throw UsageError(
          "--" + place.form + ": there is no such form of a result of " + std::string(kind),
          "leave it out");
    if (place.path == "-" && place.form != "json")
      throw UsageError("--" + place.form + " -: expected a file",
                       "'loaderscope report RESULT --format " + place.form + "' prints it");
    check_output(place.path, rules);
    for (const Place& other : places) {
      if (&other != &place && fs::weakly_canonical(other.path) == fs::weakly_canonical(place.path))
        throw UsageError("--" + place.form + " " + shown_text(place.path) + ": is the file of --" +
                             other.form + " too",
                         "give each its own");
    }
  }
}

namespace {

// Writes all forms, then throws the error of the first one that could not be written.
void write_forms(const Places& places, const AnyResult& result, const ReportStyle& style) {
  std::exception_ptr failure;
  const auto write = [&](std::string_view form, const std::string& path) {
    try {
      write_output(path, [&](std::ostream& out) {
        find_row(form, report_table()).write(out, result, style);
      });
    } catch (const RunError&) {
      if (!failure) failure = std::current_exception();
    }
  };
  for (const Place& place : places) write(place.form, place.path);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void write_answer(const Places& places, const AnyResult& result, const ReportStyle& style) {
  const bool only_json = std::any_of(places.begin(), places.end(),
                                     [](const Place& place) { return place.path == "-"; });
  Places all = only_json ? Places{} : Places{{"table", "-"}};
  all.insert(all.end(), places.begin(), places.end());
  write_forms(all, result, style);
}

void write_files(const Places& places, const AnyResult& result, const ReportStyle& style) {
  write_forms(places, result, style);
}

}  // namespace loaderscope
