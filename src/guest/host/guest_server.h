// Where the processes of a measured job report to: takes them in as they come, and hands on what
// they say and write.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "guest/host/guest_process.h"
#include "guest/host/job_process.h"

namespace loaderscope::guest {

class GuestServer {
 public:
  // Throws RunError when it cannot listen there.
  explicit GuestServer(const std::string& socket_path);
  ~GuestServer();
  GuestServer(const GuestServer&) = delete;
  GuestServer& operator=(const GuestServer&) = delete;

  using OnMessage = std::function<void(GuestProcess&, const std::string&)>;
  // Takes in who knocks and hands on what they said. The first message of a member says who it is;
  // its fields are set then.
  void look(const OnMessage& on_message);
  // Takes in and hears nobody any more: their programs go on without us.
  void close();
  // Processes that it could not take in, at most 1024: this one may not open more files, or they
  // are no members.
  const std::vector<UnmeasuredProcess>& turned_away() const { return turned_away_; }
  const std::vector<std::unique_ptr<GuestProcess>>& members() const { return members_; }
  // Forgets members that have ended, where `is_done_with` says so.
  void let_go(const std::function<bool(const GuestProcess&)>& is_done_with);
  void ask_to_stop();
  void time_stages(bool on);
  std::int64_t lost() const;

 private:
  void accept();
  bool reject();
  void note_turned_away(const Hello& who);
  void hear(GuestProcess& member, const OnMessage& on_message);

  int socket_;
  int spare_;  // a descriptor to take in with whoever is turned away
  std::vector<UnmeasuredProcess> turned_away_;
  std::int64_t lost_before_ = 0;  // of those forgotten
  bool stopping_ = false, timing_ = true;
  std::vector<std::unique_ptr<GuestProcess>> members_;
};

}  // namespace loaderscope::guest
