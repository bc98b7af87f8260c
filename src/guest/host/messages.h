// What the processes of a job say in messages, kept by what it is about.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "guest/host/data_identity.h"
#include "guest/host/injected.h"
#include "guest/host/process_watch.h"
#include "guest/host/trainers.h"
#include "guest/host/user_code.h"

namespace loaderscope::guest {

class Messages {
 public:
  // What is about the batches of a loader goes to `trainers`, what is about threads to `watch`.
  // All outlive this.
  Messages(const RunConfig& config, Trainers& trainers, ProcessWatch& watch);

  void hear(const Member& member, const std::string& text);
  void note(const std::string& whole);  // cut where it is long

  const std::string& failure() const { return failure_; }  // what the loader threw; "": nothing
  const std::string& refusal() const { return refusal_; }  // why our side of it did not begin
  const Injected& injected() const { return injected_; }
  const std::vector<std::string>& notes() const { return notes_; }
  // The first loader that could not be described, and why; "": none.
  const std::string& not_looked_into() const { return not_looked_into_; }
  // The data of `measured`, which may be null.
  DataIdentity::Faults faults(const Training* measured) const;
  std::vector<Detail> user_code() const { return user_code_.details(); }
  std::vector<Metric> padding() const;

 private:
  void understand(const Member& member, const std::string& text);
  void meet_loader(const Member& member, std::int32_t iterator, const LoaderFacts& loader);
  void fail(const nlohmann::json& message);
  DataIdentity& identity_of(const Member& member, std::int32_t iterator);

  Trainers& trainers_;
  ProcessWatch& watch_;
  std::string failure_, refusal_;
  std::vector<std::string> notes_;
  std::string not_looked_into_;
  std::map<std::int32_t, DataIdentity> identities_;  // by the number of the loader
  UserCode user_code_;
  std::map<pid_t, std::pair<std::int64_t, std::int64_t>> padding_;  // real and padded elements
  Injected injected_;
};

}  // namespace loaderscope::guest
