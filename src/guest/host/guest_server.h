// Server to which the processes of a measured job connect. Accepts them and passes on their
// messages.
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
  // Accepts new connections and passes on messages. The first message of a member sets its fields.
  void look(const OnMessage& on_message);
  // Stops accepting connections and reading messages. The programs keep running unmeasured.
  void close();
  // Processes that were rejected, at most 1024: this process may not open more files, or they are
  // not members.
  const std::vector<UnmeasuredProcess>& turned_away() const { return turned_away_; }
  const std::vector<std::unique_ptr<GuestProcess>>& members() const { return members_; }
  // Forgets ended members for which `is_done_with` returns true.
  void release(const std::function<bool(const GuestProcess&)>& is_done_with);
  void ask_to_stop();
  void time_stages(bool on);
  std::int64_t lost() const;

 private:
  void accept();
  bool reject();
  void note_turned_away(const Hello& who);
  void receive_report(GuestProcess& member, const OnMessage& on_message);

  int socket_;
  int spare_;  // a descriptor for accepting a connection only to reject it
  std::vector<UnmeasuredProcess> turned_away_;
  std::int64_t lost_before_ = 0;  // events that forgotten members lost
  bool stopping_ = false, timing_ = true;
  std::vector<std::unique_ptr<GuestProcess>> members_;
};

}  // namespace loaderscope::guest
