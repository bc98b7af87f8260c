// Families: every place where the product can grow is a table of rows.
//
// A row holds what `loaderscope list`, --help, validation, spelling hints and the contract tests
// know about a member of a family. A new member needs one .cpp file and one row in the table of the
// family. A member that cannot be used here still has a row, with the reason.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loaderscope/errors.h"

namespace loaderscope {

struct Row {
  std::string_view name;
  std::string_view help;  // one sentence
  // Returns the reason why this member cannot be used here, and what to do. Nothing if it can.
  std::optional<std::string> (*unavailable)() = nullptr;

  std::optional<std::string> reason_not_available() const {
    return unavailable ? unavailable() : std::nullopt;
  }
};

// One family and its rows, for `loaderscope list`.
struct FamilyListing {
  std::string_view family;  // "engine", "device", ...
  std::string_view flag;    // the flag whose values these are, "" when none
  std::vector<Row> rows;
  // Returns a warning about an unexpected fault of this machine. Each call checks again.
  std::optional<std::string> (*alarm)() = nullptr;
};

// All families, in the order of the pipeline (src/cli/families.cpp).
const std::vector<FamilyListing>& families();

// The entry named `name` of a family's table (entries have a member `row`). Throws ValueError: an
// unknown name with the known ones and the nearest, or the reason why the row is not available
// here.
template <class Entry>
const Entry& find_row(std::string_view name, std::span<const Entry> table) {
  std::vector<std::string_view> names;
  for (const Entry& entry : table) {
    if (entry.row.name != name) {
      names.push_back(entry.row.name);
      continue;
    }
    if (auto reason = entry.row.reason_not_available()) throw ValueError(*reason);
    return entry;
  }
  std::string expected = "expected one of";
  for (std::string_view known : names) expected += " " + std::string(known);
  throw ValueError(expected + suggestion(name, names));
}

}  // namespace loaderscope
