// One line per step, warm-up included. Times are seconds since the first ask of the rank.
#include "report/json_stream.h"
#include "report/keys.h"
#include "report/writers.h"

namespace loaderscope {
namespace {

class CsvLine {
 public:
  void text(std::string_view cell) { append(cell); }
  void number(std::int64_t value) { append(fmt::format("{}", value)); }
  void seconds(Nanos ns) { append(seconds_text(ns)); }
  void end(std::ostream& out) {
    line_.push_back('\n');
    out.write(line_.data(), static_cast<std::streamsize>(line_.size()));
    line_.clear();
  }

 private:
  void append(std::string_view cell) {
    if (line_.size() > 0) line_.push_back(',');
    line_.append(cell);
  }
  fmt::memory_buffer line_;
};

void write_header(std::ostream& out) {
  CsvLine line;
  line.text("rank");
  line.text("step");
  for (const auto& key : keys::kStepCounts) line.text(key.name);
  for (const auto& key : keys::kStepFlags) line.text(key.name);
  for (const auto& key : keys::kStepTimes) line.text(key.name);
  line.text("idle_s");
  line.text("compute_s");
  for (const auto& word : Words<Cause>::table()) line.text(fmt::format("stall_{}_s", word.name));
  for (const auto& word : Words<Why>::table()) line.text(fmt::format("why_{}_s", word.name));
  for (const auto& key : keys::kStepDurations) line.text(key.name);
  line.end(out);
}

void write_row(std::ostream& out, CsvLine& line, std::int64_t rank, Nanos first_ask,
               const StepRow& row) {
  line.number(rank);
  line.number(row.step);
  for (const auto& key : keys::kStepCounts) line.number(row.*key.member);
  for (const auto& key : keys::kStepFlags) line.number(row.*key.member ? 1 : 0);
  for (const auto& key : keys::kStepTimes) line.seconds(row.*key.member - first_ask);
  line.seconds(row.idle());
  line.seconds(row.compute());
  for (const auto& word : Words<Cause>::table()) line.seconds(row.stall[word.value]);
  for (const auto& word : Words<Why>::table()) line.seconds(row.why[word.value]);
  for (const auto& key : keys::kStepDurations) line.seconds(row.*key.member);
  line.end(out);
}

}  // namespace

void write_csv_report(std::ostream& out, const RunRecord& record, const Analysis&,
                      const ReportStyle&) {
  write_header(out);
  CsvLine line;
  for (std::size_t r = 0; r < record.ranks.size(); ++r) {
    const RankRecord& rank = record.ranks[r];
    rank.rows.for_each([&](const StepRow& row) {
      write_row(out, line, static_cast<std::int64_t>(r), rank.first_ask, row);
    });
  }
}

}  // namespace loaderscope
