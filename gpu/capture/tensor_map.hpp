// The driver's encoding of a tensor map, for the layout captures.
#pragma once

#include <string>

#include "emulator/layout/tensor_map.hpp"

namespace fp8twin::capture {

/// False, with the reason, where the driver refuses the description.
bool encode_tensor_map(const TensorMapDescription& description, TensorMap& map, std::string& refusal);

}  // namespace fp8twin::capture
