// Writes rows of pixels as the sample: normalised, in the layout and the type asked for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "augment/kernels.h"
#include "augment/operation.h"
#include "loaderscope/augment.h"

namespace loaderscope::augment {

std::size_t element_bytes(Transfer transfer);

class Emitter {
 public:
  // `normalise` is not used for u8, whose values stay 0..255.
  Emitter(const AugmentOptions& options, const Normalise& normalise);

  // Row y of the sample that begins at `place`.
  void write_row(const std::uint32_t* pixels, int y, std::byte* place) const;

 private:
  void write_by_table(const std::uint32_t* pixels, int y, std::byte* place) const;
  void write_by_kernel(const std::uint32_t* pixels, int y, std::byte* place) const;

  Transfer transfer_;
  Layout layout_;
  std::size_t size_, bytes_;
  Scaling scaling_;
  // Results of the kernels, for short rows and for instruction sets without f16.
  std::array<std::array<float, 256>, 3> floats_{};
  std::array<std::array<std::uint16_t, 256>, 3> halves_{};
};

// Values of the operation `normalise` in a list, for code that normalises in place of the
// augmentation on the host.

// Returns nothing if the list has none. Throws ValueError for unsupported parameters.
std::optional<Normalise> find_normalise(const std::vector<std::string>& operations);

// Returns the scaling of bytes: output = (value - subtract) x multiply.
Scaling make_scaling(const Normalise& normalise);

}  // namespace loaderscope::augment
