#include "guest/host/messages.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

#include "guest/protocol/bounded.h"
#include "loaderscope/device.h"
#include "loaderscope/errors.h"
#include "machine/proc_file.h"

namespace loaderscope::guest {
namespace {

constexpr std::size_t kMaxNotes = 64;     // different notes
constexpr std::size_t kMaxOffers = 1024;  // offers of processes, most of which have ended

}  // namespace

Messages::Messages(const RunConfig& config, TrainingProcesses& training, ProcessWatch& watch)
    : training_(training), watch_(watch), injected_(config) {}

template <auto parse, auto act>
constexpr Messages::Handler Messages::handler(MessageKind kind) {
  return {kind, [](Messages& messages, const GuestProcess& member, const nlohmann::json& message) {
            (messages.*act)(member, parse(message));
          }};
}

const Messages::Handler* Messages::find_handler(std::string_view what) {
  static constexpr std::array kHandlers = {
      handler<parse_loader, &Messages::meet_loader>(MessageKind::loader),
      handler<parse_degradation, &Messages::degrade>(MessageKind::degraded),
      handler<parse_refusal, &Messages::refuse>(MessageKind::refused),
      handler<parse_failure, &Messages::fail>(MessageKind::failed),
      handler<parse_injected, &Messages::inject>(MessageKind::injected),
      handler<parse_nothing, &Messages::use_gpu>(MessageKind::uses_gpu),
      handler<parse_nothing, &Messages::watch_gpu>(MessageKind::gpu),
      handler<parse_nothing, &Messages::watch_no_gpu>(MessageKind::gpu_over),
      handler<parse_threads, &Messages::watch_threads>(MessageKind::threads),
      handler<parse_stacks, &Messages::offer_stacks>(MessageKind::stacks),
      handler<parse_order, &Messages::check_data<OrderMessage>>(MessageKind::order),
      handler<parse_stream, &Messages::check_data<StreamMessage>>(MessageKind::stream),
      handler<parse_stream_end, &Messages::check_data<StreamEndMessage>>(MessageKind::stream_end),
      handler<parse_draws, &Messages::check_data<DrawsMessage>>(MessageKind::draws),
      handler<parse_settings, &Messages::check_data<SettingsMessage>>(MessageKind::settings),
      handler<parse_unnamed, &Messages::check_data<UnnamedMessage>>(MessageKind::unnamed),
      handler<parse_counters, &Messages::count>(MessageKind::counters),
      handler<parse_maker, &Messages::find_maker>(MessageKind::maker),
  };
  static_assert(kHandlers.size() == kMessageNames.size());
  const auto found = std::find_if(kHandlers.begin(), kHandlers.end(), [&](const Handler& one) {
    return kMessageNames[static_cast<std::size_t>(one.kind)] == what;
  });
  return found == kHandlers.end() ? nullptr : &*found;
}

void Messages::receive_report(const GuestProcess& member, const std::string& text) {
  try {
    const nlohmann::json message = parse_message(text);
    const Handler* handler = find_handler(message.value("what", ""));
    if (handler != nullptr) handler->handle(*this, member, message);
  } catch (const nlohmann::json::exception& error) {
    note(std::string("a message was not understood: ") + error.what());
  } catch (const ValueError& error) {
    note(std::string("a message was not understood: ") + error.what());
  }
}

void Messages::meet_loader(const GuestProcess& member, const LoaderMessage& content) {
  training_.get_process(member).add_iterator(content.iterator, content.loader);
  const bool every_epoch_differs = content.loader.shuffle || content.loader.iterable;
  loader_checks(member, content.iterator).know({member.pid, member.rank, every_epoch_differs});
  counters_.name_code(content.code);
}

void Messages::degrade(const GuestProcess&, const Degradation& content) {
  note(content.text);
  if (content.loses_loader && not_looked_into_.empty()) not_looked_into_ = content.text;
}

// The first one counts.
void Messages::fail(const GuestProcess&, const std::string& sentence) {
  if (failure_.empty()) failure_ = sentence;
}

void Messages::watch_threads(const GuestProcess& member, const ThreadsMessage& content) {
  watch_.receive_report({member.pid, member.is_worker}, content);
}

void Messages::offer_stacks(const GuestProcess& member, const StacksMessage& how) {
  if (stacks_.size() >= kMaxOffers) {
    std::erase_if(stacks_, [](const auto& one) { return !is_running(one.second.who.id()); });
  }
  if (stacks_.size() < kMaxOffers) stacks_[member.pid] = {member, how};
}

void Messages::find_maker(const GuestProcess&, const MakerMessage& content) {
  if (!maker_) maker_ = content;
}

template <class Content>
void Messages::check_data(const GuestProcess& member, const Content& content) {
  loader_checks(member, content.epoch.iterator).receive_report(member.training_process(), content);
}

void Messages::note(const std::string& whole) {
  const std::string text = bounded_text(whole, kMaxSentence);
  if (notes_.size() < kMaxNotes && std::find(notes_.begin(), notes_.end(), text) == notes_.end())
    notes_.push_back(text);
}

DataChecks& Messages::loader_checks(const GuestProcess& member, std::int32_t iterator) {
  return checks_[training_.get_process(member).loader_number(iterator)];
}

DataFaults Messages::faults(const LoaderHistory* measured) const {
  if (measured == nullptr) return {};
  const auto checks = checks_.find(measured->loader().number);
  return checks == checks_.end() ? DataFaults{} : checks->second.faults();
}

namespace {

// Delays in the compute of a simulated device need no hook.
bool needs_no_hook(const Injection& injection, const RunConfig& config) {
  return injection.extra == 0 ||
         (injection.stage == Stage::compute &&
          device_kind(config.trainer.device.value) == DeviceKind::simulated);
}

std::string whose(const Injection& injection) {
  std::string words;
  if (injection.worker) words += " in worker " + std::to_string(*injection.worker);
  if (injection.rank) words += " of rank " + std::to_string(*injection.rank);
  return words;
}

}  // namespace

Injected::Injected(const RunConfig& config) : config_(config) {
  const auto& injections = config.declared.inject.value;
  for (std::size_t i = 0; i < injections.size(); ++i) {
    if (needs_no_hook(injections[i], config)) executed(i);
  }
}

std::string Injected::missing(bool skips_single_rank) const {
  const auto& injections = config_.declared.inject.value;
  for (std::size_t i = 0; i < injections.size(); ++i) {
    if (executed_.count(i) > 0 || (skips_single_rank && injections[i].rank)) continue;
    return "inject = " + shown_text(injections[i].text) + ": stage " +
           std::string(name_of(injections[i].stage)) + " had no hook in this run" +
           whose(injections[i]) +
           ", so nothing was delayed; choose one of the stages that a run without --inject shows";
  }
  return "";
}

}  // namespace loaderscope::guest
