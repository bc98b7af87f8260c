// Reads a saved result back into the record that it was written from, refusing what contradicts
// itself.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/arithmetic.h"
#include "base/fd.h"
#include "loaderscope/errors.h"
#include "loaderscope/report.h"
#include "report/check_step.h"
#include "report/describe.h"
#include "report/json_reader.h"
#include "report/schemas.h"

namespace loaderscope {
namespace {

constexpr std::size_t kMaxRanks = 1 << 16;
constexpr std::int64_t kMaxPathParts = 32;  // limit for a critical path
constexpr const char* kGiveResult = "give a result that 'loaderscope run --json' saved";

class ResultReader {
 public:
  explicit ResultReader(const std::string& place) : place_(place) {}

  SavedRun read(std::istream& input) {
    const JsonNode root = read_members(input);
    const JsonCursor document(root, place_);
    if (!schema_seen_) fail_without_schema();
    if (!in_order_) read_again(input, document);
    read_facts(document);
    finish_ranks();
    check_account(document);
    return {std::move(record_), std::move(proof_), std::move(against_)};
  }

 private:
  struct RankState {
    std::int64_t steps = 0;  // number of steps in the rank's own members
    Nanos last_end = 0;      // end of the previous compute
    Nanos clamped = 0;       // sum so far
  };

  JsonNode read_members(std::istream& input) {
    JsonReading reading;
    reading.streamed = {kSteps, kReservoir, kExemplars};
    reading.take_element = [this](std::string_view key, const JsonNode& node) { take(key, node); };
    reading.see_member = [this](std::string_view key, const JsonNode& node) { see(key, node); };
    return read_json(input, place_, reading);
  }

  // Another program may have written the members in another order: what is streamed is then read
  // once more, when the ranks are known that it belongs to.
  void read_again(std::istream& input, const JsonCursor& document) {
    record_.ranks.clear();
    states_.clear();
    read_ranks(document.at("ranks"));
    in_order_ = true;
    input.clear();
    input.seekg(0);
    read_members(input);
  }

  void see(std::string_view key, const JsonNode& node) {
    if (key == "schema") {
      check_schema_name(JsonCursor(node, place_, "schema").text());
      schema_seen_ = true;
    } else if (key == "ranks" && !ranks_read_) {
      if (!schema_seen_) in_order_ = false;
      if (in_order_) read_ranks(JsonCursor(node, place_, "ranks"));
    }
  }

  [[noreturn]] void fail_without_schema() const {
    throw RunError(fmt::format("{}: not a result of loaderscope (it has no 'schema')", place_),
                   kGiveResult);
  }

  void check_schema_name(const std::string& schema) const {
    const std::string ours = schema_name("run");
    if (schema == ours) return;
    if (schema.starts_with(ours.substr(0, ours.rfind('/') + 1))) {
      throw RunError(fmt::format("{}: written in {}, of which this loaderscope reads only {}",
                                 place_, schema.substr(0, 40), ours),
                     "use the loaderscope that wrote it, or measure again");
    }
    throw RunError(
        fmt::format("{}: its schema is '{}' and not {}", place_, schema.substr(0, 40), ours),
        kGiveResult);
  }

  void read_ranks(const JsonCursor& json) {
    json.expect_array();
    ranks_read_ = true;
    if (json.size() > kMaxRanks)
      json.fail(fmt::format("are {}, more than {}", json.size(), kMaxRanks));
    // No sum over the ranks of values up to this overflows.
    most_ =
        JsonCursor::kMaxCount / static_cast<std::int64_t>(std::max<std::size_t>(1, json.size()));
    for (std::size_t i = 0; i < json.size(); ++i) {
      const JsonCursor one = json.item(i);
      RankRecord& rank = record_.ranks.emplace_back();
      std::int64_t steps = 0;
      JsonReader form(one, most_, JsonReader::Root::value);
      describe_rank(form, rank, steps, {}, {});
      if (rank.critical_path) check_path(one, *rank.critical_path);
      states_.push_back({steps, rank.first_ask, 0});
    }
  }

  // Takes one element of a streamed array. The writer puts these arrays after the ranks.
  void take(std::string_view key, const JsonNode& node) {
    if (!ranks_read_) in_order_ = false;
    if (!in_order_) return;
    if (key != array_) {
      array_ = key;
      taken_ = 0;
    }
    const std::string label = fmt::format("{}[{}]", key, taken_++);
    const JsonCursor json(node, place_, label);
    if (key == kReservoir) json.expect_array(1);
    const JsonCursor rank_cursor = key == kReservoir ? json.item(0) : json.at("rank");
    const std::size_t r = read_rank(rank_cursor);
    RankRecord& rank = record_.ranks[r];
    JsonReader form(json, most_, JsonReader::Root::value);
    form.origin = rank.first_ask;
    const auto number = static_cast<std::int64_t>(r);
    if (key == kSteps) {
      StepRow row;
      describe_step(form, number, row);
      take_step(json, r, row);
    } else if (key == kReservoir) {
      describe_sample(form, number, rank.reservoir.emplace_back());
    } else {
      describe_exemplar(form, number, rank.exemplars.emplace_back());
    }
  }

  std::size_t read_rank(const JsonCursor& json) const {
    const std::int64_t rank = json.count();
    if (rank >= std::ssize(record_.ranks)) {
      json.fail(fmt::format("is {}, and there are {} ranks before it", rank, record_.ranks.size()));
    }
    return static_cast<std::size_t>(rank);
  }

  void take_step(const JsonCursor& json, std::size_t r, const StepRow& row) {
    RankRecord& rank = record_.ranks[r];
    RankState& state = states_[r];
    check_step(json, row, rank.rows.size(), state.last_end);
    state.last_end = row.compute_end;
    state.clamped += row.clamped;
    if (state.clamped > most_) json.fail("brings the sum of clamped_s out of range");
    if (row.step == rank.warmup_steps && row.idle_begin != rank.window_begin) {
      json.fail("is the first measured one and does not begin with the window");
    }
    rank.rows.push_back(row);
  }

  // Their sum, over all ranks, must not overflow.
  void check_path(const JsonCursor& json, const CriticalPath& path) const {
    const Nanos most = most_ / kMaxPathParts;
    const bool ok = path.compute <= most && std::all_of(path.stall.begin(), path.stall.end(),
                                                        [&](Nanos ns) { return ns <= most; });
    if (!ok) json.fail("has a critical_path that is out of range");
  }

  void read_facts(const JsonCursor& document) {
    JsonReader form(document);
    describe_tool(form, record_.tool_version);
    Analysis asked;  // unused except for the facts that the caller gave
    describe_run(form, record_, asked, JsonScope::full);
    proof_ = std::move(asked.proof);
    against_ = std::move(asked.against);
    for (std::string_view array : {kSteps, kReservoir, kExemplars}) {
      document.at(array).expect_array();
    }
    document.at("ranks").expect_array();
  }

  void finish_ranks() {
    for (std::size_t r = 0; r < record_.ranks.size(); ++r) {
      const RankRecord& rank = record_.ranks[r];
      if (rank.steps() != states_[r].steps || rank.steps() < 0) {
        throw RunError(
            fmt::format("{}: ranks[{}] says that it measured {} steps after {} of warm-up and "
                        "'steps' holds {}",
                        place_, r, states_[r].steps, rank.warmup_steps, rank.rows.size()),
            "save the result again with --json");
      }
      if (rank.steps() > 0 && rank.window_end != states_[r].last_end) {
        throw RunError(
            fmt::format("{}: the window of ranks[{}] does not end with its last step", place_, r),
            "save the result again with --json");
      }
    }
    check_hosts();
    place_exemplars();
  }

  void check_hosts() const {
    if (record_.hosts.empty()) return;
    std::int64_t ranks = 0;
    for (const HostRecord& host : record_.hosts) ranks = saturated_sum(ranks, host.ranks);
    if (ranks == std::ssize(record_.ranks)) return;
    throw RunError(fmt::format("{}: its hosts have {} ranks together and 'ranks' holds {}", place_,
                               ranks, record_.ranks.size()),
                   "merge the records of its hosts again");
  }

  void place_exemplars() {
    for (RankRecord& rank : record_.ranks) {
      std::vector<Exemplar*> waiting;
      for (Exemplar& exemplar : rank.exemplars) {
        if (exemplar.row.step >= rank.rows.size()) fail_exemplar(exemplar);
        waiting.push_back(&exemplar);
      }
      // One walk over the rows: the last one waiting has the smallest step.
      std::stable_sort(waiting.begin(), waiting.end(), [](const Exemplar* a, const Exemplar* b) {
        return a->row.step > b->row.step;
      });
      rank.rows.for_each([&](const StepRow& row) {
        while (!waiting.empty() && waiting.back()->row.step == row.step) {
          place_exemplar(*waiting.back(), row);
          waiting.pop_back();
        }
      });
    }
  }

  [[noreturn]] void fail_exemplar(const Exemplar& exemplar) const {
    throw RunError(fmt::format("{}: an exemplar shows step {}, which is not among the steps",
                               place_, exemplar.row.step),
                   "save the result again with --json");
  }

  // Compares the totals of the file with the sums of its rows.
  void check_account(const JsonCursor& document) const {
    std::vector<Account> ranks;
    for (const RankRecord& rank : record_.ranks) ranks.push_back(rank_account(rank));
    const Account mean = mean_account(ranks);
    const JsonCursor account = document.at("account");
    expect_equal(account.at("compute_s"), mean.compute);
    const JsonCursor stall = account.at("stall_s");
    for (const auto& word : Words<Cause>::table()) {
      expect_equal(stall.at(word.name), mean.stall[word.value]);
    }
    const JsonCursor window = document.at("window");
    expect_equal(window.at("wall_s"), mean.window);
  }

  static void expect_equal(const JsonCursor& json, Nanos computed) {
    if (json.seconds() == computed) return;
    json.fail(fmt::format("is not the {:.9f} s that the steps add up to", seconds(computed)));
  }

  const std::string& place_;
  RunRecord record_;
  std::optional<Proof> proof_;
  std::optional<AgainstRun> against_;
  std::vector<RankState> states_;
  std::int64_t most_ = JsonCursor::kMaxCount;
  std::string array_;       // name of the streamed array
  std::int64_t taken_ = 0;  // number of its elements so far
  bool schema_seen_ = false, ranks_read_ = false;
  bool in_order_ = true;  // so far: the schema, the ranks, and then what is streamed
};

}  // namespace

SavedRun parse_result(std::string_view text, const std::string& place) {
  if (text.empty()) throw RunError(fmt::format("{}: the file is empty", place), kGiveResult);
  std::istringstream input{std::string(text)};
  return ResultReader(place).read(input);
}

SavedRun read_result(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    throw RunError(fmt::format("{}: there is no such file", path), kGiveResult);
  }
  if (const std::string_view other = non_file_kind(path); !other.empty())
    throw RunError(fmt::format("{}: {}, not a file", path, other), kGiveResult);
  std::ifstream input(path, std::ios::binary);
  if (!input) throw RunError(fmt::format("{}: cannot be opened", path), "look at its permissions");
  if (input.peek() == std::ifstream::traits_type::eof()) {
    throw RunError(fmt::format("{}: the file is empty", path), kGiveResult);
  }
  return ResultReader(path).read(input);
}

}  // namespace loaderscope
