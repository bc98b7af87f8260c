#include <algorithm>
#include <array>

#include "built_with.h"
#include "loaderscope/errors.h"
#include "report/schemas.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

// Writes a form that all kinds of results have.
template <OwnWriters::Write write>
void write_form(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  write(out, result);
}

// Writes with the kind's own writer, or with `common`.
template <OwnWriters::Write OwnWriters::*own, OwnWriters::Write common = nullptr>
void write_own(std::ostream& out, const AnyResult& result, const ReportStyle&) {
  const OwnWriters::Write write = find_row(result.kind, result_kinds()).own.*own;
  (write != nullptr ? write : common)(out, result);
}

template <OwnWriters::Write OwnWriters::*own>
bool has_own(const ResultKind& kind) {
  return kind.own.*own != nullptr;
}

bool has_rows(const ResultKind& kind) { return !kind.rows.empty(); }

bool has_tests(const ResultKind& kind) {
  return !kind.tests.list.empty() || kind.own.tests != nullptr;
}

std::vector<std::string_view> kinds_that(bool (*has)(const ResultKind& kind)) {
  std::vector<std::string_view> kinds;
  for (const ResultKind& kind : result_kinds()) {
    if (has(kind)) kinds.push_back(kind.row.name);
  }
  return kinds;
}

}  // namespace

bool ReportRow::writes(std::string_view kind) const {
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::span<const ReportRow> report_table() {
  static const std::array<ReportRow, 10> rows = {{
      {{"table", "The answer and its evidence for people, in plain text."}, write_table},
      {{"brief", "One line per fact, PATH=VALUE, for logs and assistants; nothing where it is 0."},
       write_form<write_brief>},
      {{"json", "All facts and numbers; what other commands read (see 'loaderscope list result')."},
       write_form<write_json>},
      {{"html",
        "One page with the answer, its pictures and the result inside; it needs no network."},
       write_form<write_page>},
      {{"perfetto",
        "A run as a trace for ui.perfetto.dev: its steps, and threads where all is kept."},
       write_own<&OwnWriters::perfetto>,
       kinds_that(has_own<&OwnWriters::perfetto>),
       false},
      {{"chrome", "A run as JSON for chrome://tracing and speedscope, packed by gzip.",
        reason_missing<built_with::kZlib>},
       write_own<&OwnWriters::chrome>,
       kinds_that(has_own<&OwnWriters::chrome>),
       false},
      {{"csv", "One line per step of a run, per case of a sweep or a tune, per thing of others."},
       write_own<&OwnWriters::csv, write_rows_csv>,
       kinds_that(has_rows)},
      {{"markdown", "A summary for a comment on a pull request."}, write_form<write_markdown>},
      {{"junit", "The XML of tests: one for each requirement, quantity, delay or threshold."},
       write_form<write_junit>,
       kinds_that(has_tests)},
      {{"annotations", "Write a comparison's findings as commands to GitHub, at most ten."},
       write_own<&OwnWriters::annotations>,
       kinds_that(has_own<&OwnWriters::annotations>)},
  }};
  return rows;
}

}  // namespace loaderscope
