#include "guest/host/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "guest/protocol/bounded.h"
#include "guest/protocol/page.h"
#include "loaderscope/errors.h"

namespace loaderscope::guest {
namespace {

// The last line of an exception's text, which is its own sentence.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const auto begin = text.rfind('\n');
  return begin == text.npos ? text : text.substr(begin + 1);
}

constexpr std::size_t kMostNotes = 64;  // of different ones

std::int32_t iterator_in(const nlohmann::json& message, std::int32_t otherwise) {
  const std::int64_t number = message.value("iterator", std::int64_t{otherwise});
  if (number < -1 || number >= kMostIterators) throw ValueError("no iterator has that number");
  return static_cast<std::int32_t>(number);
}

pid_t trainer_of(const Member& member) { return member.is_worker ? member.trainer : member.pid; }

}  // namespace

Messages::Messages(const RunConfig& config, Trainers& trainers, ProcessWatch& watch)
    : trainers_(trainers), watch_(watch), injected_(config) {}

void Messages::hear(const Member& member, const std::string& text) {
  try {
    understand(member, text);
  } catch (const nlohmann::json::exception& error) {
    note(std::string("a message was not understood: ") + error.what());
  } catch (const ValueError& error) {
    note(std::string("a message was not understood: ") + error.what());
  }
}

void Messages::understand(const Member& member, const std::string& text) {
  const nlohmann::json message = parse_message(text);
  const std::string what = message.value("what", "");
  if (what == "loader") {
    meet_loader(member, iterator_in(message, 0), parse_loader_facts(text));
    user_code_.hear_loader(message);
  } else if (what == "degraded") {
    note(message.value("text", ""));
    if (message.value("loader", false) && not_looked_into_.empty())
      not_looked_into_ = bounded_text(message.value("text", ""), kLongestSentence);
  } else if (what == "gpu") {
    trainers_.of(member).watch_gpu();
  } else if (DataIdentity::understands(what)) {
    identity_of(member, iterator_in(message, -1)).hear(trainer_of(member), message);
  } else if (what == "spent") {
    user_code_.hear_spent(member.pid, message);
  } else if (what == "threads") {
    watch_.hear({member.pid, member.is_worker}, message);
  } else if (what == "padding") {
    padding_[member.pid] = {message.at("real"), message.at("padded")};
  } else if (what == "injected") {
    injected_.executed(static_cast<std::size_t>(message.value("number", std::int64_t{0})));
  } else if (what == "refused") {
    refusal_ = bounded_text(message.value("text", ""), kLongestSentence);
  } else if (what == "failed") {
    fail(message);
  }
}

void Messages::meet_loader(const Member& member, std::int32_t iterator, const LoaderFacts& loader) {
  trainers_.of(member).add_iterator(iterator, loader);
  identity_of(member, iterator).know({member.pid, member.rank, loader.shuffle || loader.iterable});
}

void Messages::note(const std::string& whole) {
  const std::string text = bounded_text(whole, kLongestSentence);
  if (notes_.size() < kMostNotes && std::find(notes_.begin(), notes_.end(), text) == notes_.end())
    notes_.push_back(text);
}

// The first one counts.
void Messages::fail(const nlohmann::json& message) {
  if (!failure_.empty()) return;
  failure_ = bounded_text(last_line(message.value("text", "")), kLongestSentence);
  if (message.contains("worker") && message["worker"].is_number_integer())
    failure_ = fmt::format("worker {}: {}", message["worker"].get<std::int64_t>(), failure_);
}

DataIdentity& Messages::identity_of(const Member& member, std::int32_t iterator) {
  return identities_[trainers_.of(member).loader_of(iterator)];
}

DataIdentity::Faults Messages::faults(const Training* measured) const {
  if (measured == nullptr) return {};
  const auto identity = identities_.find(measured->loader().number);
  return identity == identities_.end() ? DataIdentity::Faults{} : identity->second.faults();
}

std::vector<Metric> Messages::padding() const {
  double real = 0, padded = 0;
  for (const auto& [process, elements] : padding_) {
    real += static_cast<double>(elements.first);
    padded += static_cast<double>(elements.second);
  }
  if (padded <= 0) return {};
  return {{"collate.padding_share", "1",
           "of the elements of batches whose samples differ in length", 1 - real / padded}};
}

}  // namespace loaderscope::guest
