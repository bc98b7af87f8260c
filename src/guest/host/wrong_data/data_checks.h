// Checks for wrong data, with the reports of a job's processes about their data.
#pragma once

#include "guest/host/wrong_data/given_data.h"

namespace loaderscope::guest {

class DataChecks {
 public:
  void know(const DataReader& reader);
  // `process`: the training process of the message.
  void hear(std::int64_t process, const OrderMessage& told);
  void hear(std::int64_t process, const StreamMessage& told);
  void hear(std::int64_t process, const StreamEndMessage& told);
  void hear(std::int64_t process, const DrawsMessage& told);
  void hear(std::int64_t process, const SettingsMessage& told);
  void hear(std::int64_t process, const UnnamedMessage& told);

  DataFaults faults() const;

 private:
  // Returns null if no more data is kept for the process.
  GivenData* kept(std::int64_t process, const DataEpoch& epoch);

  GivenByProcess given_;
  bool unnamed_ = false;
};

}  // namespace loaderscope::guest
