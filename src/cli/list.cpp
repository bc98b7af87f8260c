// loaderscope list
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/output.h"
#include "loaderscope/rows.h"

namespace loaderscope {
namespace {

struct ListFlags {
  std::string family;
  bool json = false;
};

std::vector<FamilyListing> chosen(const std::string& name) {
  if (name.empty()) return families();
  std::vector<std::string_view> names;
  for (const FamilyListing& listing : families()) {
    if (listing.family == name) return {listing};
    names.push_back(listing.family);
  }
  std::string expected = "expected one of";
  for (std::string_view known : names) expected += " " + std::string(known);
  throw UsageError("list " + shown_text(name) + ": " + expected, did_you_mean(name, names));
}

std::optional<std::string> current_alarm(const FamilyListing& listing) {
  return listing.alarm != nullptr ? listing.alarm() : std::nullopt;
}

void write_text(std::ostream& out, const FamilyListing& listing) {
  std::size_t width = 0;
  for (const Row& row : listing.rows) width = std::max(width, row.name.size());
  out << listing.family;
  if (!listing.flag.empty()) out << " (" << listing.flag << ")";
  if (const auto alarm = current_alarm(listing)) out << ": " << *alarm;
  out << "\n";
  for (const Row& row : listing.rows) {
    out << "  " << row.name << std::string(width + 2 - row.name.size(), ' ') << row.help << "\n";
    if (const auto reason = row.reason_not_available()) {
      out << std::string(width + 4, ' ') << "not available here: " << *reason << "\n";
    }
  }
}

nlohmann::ordered_json as_json(const FamilyListing& listing) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : listing.rows) {
    nlohmann::ordered_json object = {{"name", row.name}, {"help", row.help}};
    const auto reason = row.reason_not_available();
    object["available"] = !reason;
    if (reason) object["reason"] = *reason;
    rows.push_back(std::move(object));
  }
  nlohmann::ordered_json all = {{"family", listing.family}, {"flag", listing.flag}};
  if (const auto alarm = current_alarm(listing)) all["alarm"] = *alarm;
  all["rows"] = std::move(rows);
  return all;
}

ExitCode list(const ListFlags& flags) {
  const std::vector<FamilyListing> listings = chosen(flags.family);
  StandardOutput out;
  if (flags.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const FamilyListing& listing : listings) all.push_back(as_json(listing));
    out.stream() << all.dump(2) << "\n";
    return out.finish();
  }
  for (std::size_t i = 0; i < listings.size(); ++i) {
    if (i > 0) out.stream() << "\n";
    write_text(out.stream(), listings[i]);
  }
  return out.finish();
}

}  // namespace

Action declare_list(CLI::App& app) {
  const auto flags = std::make_shared<ListFlags>();
  app.add_option("FAMILY", flags->family, "List only this family, such as engine or device.");
  app.add_flag("--json", flags->json, "Print JSON.");
  return [flags] { return list(*flags); };
}

}  // namespace loaderscope
