// Whether the processes of a job were given wrong data: keeps what they report of it.
#pragma once

#include "guest/host/wrong_data/given_data.h"

namespace loaderscope::guest {

class DataChecks {
 public:
  void know(const DataReader& reader);
  // `process`: that trains, which the message is about.
  void hear(std::int64_t process, const OrderMessage& told);
  void hear(std::int64_t process, const StreamMessage& told);
  void hear(std::int64_t process, const StreamEndMessage& told);
  void hear(std::int64_t process, const DrawsMessage& told);
  void hear(std::int64_t process, const SettingsMessage& told);
  void hear(std::int64_t process, const UnnamedMessage& told);

  DataFaults faults() const;

 private:
  // Null: more is not kept of the process.
  GivenData* kept(std::int64_t process, const DataEpoch& epoch);

  GivenByProcess given_;
  bool unnamed_ = false;
};

}  // namespace loaderscope::guest
