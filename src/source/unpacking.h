// The sub-stage in which a reader unpacks what is stored.
#pragma once

#include "loaderscope/source.h"

namespace loaderscope::source {

// While it lives, the reader unpacks.
class Unpacking {
 public:
  explicit Unpacking(SubstageListener& stages) : stages_(stages) {
    stages_.enter(Stage::read_decompress);
  }
  ~Unpacking() { stages_.leave(); }
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;

 private:
  SubstageListener& stages_;
};

}  // namespace loaderscope::source
