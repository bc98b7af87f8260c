// Families: every place where the product can grow is a table of rows.
//
// A row is what `loaderscope list`, --help, validation, spelling hints and the contract tests know
// of a member of a family. Adding a member = one .cpp file + one row in the family's table. What is
// not possible here is still a row, with the reason.
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
  // Why this member cannot be used here and what to do about it; nothing when it can.
  std::optional<std::string> (*unavailable)() = nullptr;

  std::optional<std::string> reason_not_available() const {
    return unavailable ? unavailable() : std::nullopt;
  }
};

// What `loaderscope list` prints: one family and its rows.
struct FamilyListing {
  std::string_view family;  // "engine", "device", ...
  std::string_view flag;    // the flag whose values these are, "" when none
  std::vector<Row> rows;
  // What is wrong here with what nobody expects to be wrong; it looks when it is called.
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
